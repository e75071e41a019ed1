#pragma once
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/gpu/handles.hpp"
#include "tuner/measure/buffer_layout.hpp"

namespace attune::measure {

/// One call of a configured problem: its memsets and launches, bound to a module, ready for any set of addresses.
class Call {
 public:
  /// Throws: Error (arguments differ from the compiled kernel), CudaError (an attribute is refused).
  Call(const spec::LaunchPlan& plan, const gpu::Module& module);
  Call(Call&&) = default;  // no copies: argument pointers point into this object's own storage
  Call& operator=(Call&&) = default;

  /// Puts the whole call on the stream, clearing `zero_each` scratch first. Throws: CudaError naming the kernel.
  void enqueue(const Addresses& addresses, CUstream stream);
  /// Copies the data of `__constant__` buffers from their place in `addresses` into the module.
  void load_constants(Support& support, const Addresses& addresses) const;
  /// Nodes of a captured graph.
  [[nodiscard]] std::size_t steps() const noexcept { return steps_.size(); }

 private:
  struct Memset {
    int buffer;
    int byte;
    std::size_t bytes;
  };
  struct Launch {
    gpu::BoundLaunch bound;
    std::vector<std::uint64_t> values;  ///< argument bytes; those of buffers are filled in by `enqueue`
    std::vector<int> buffers;           ///< buffer index of each argument, -1: a value
    std::vector<void*> pointers;
  };
  struct Constant {
    int buffer;
    CUdeviceptr address;
    std::size_t bytes;
  };
  std::vector<std::variant<Memset, Launch>> steps_;
  std::vector<Constant> constants_;
};

}  // namespace attune::measure
