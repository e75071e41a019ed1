#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::test {

/// A program that dispatches, on two fake GPUs: 132 SMs and 78. No databases; the compile cache is shared by all of one
/// test program: what compiles is not the question here.
struct Dispatching {
  /// `settings`: of the fake driver (docs/testing.md); read once a process. Empty: the two devices above.
  explicit Dispatching(const std::string& settings = "");

  TempFolder folder;
  Options options;  ///< no databases, the fake templates
  gpu::Context context{0};
};

/// Device memory of a launch. On the fake driver device memory is host memory, so that it can be read and written here.
class Elements {
 public:
  /// in[i] = first + i % 11.
  explicit Elements(std::int64_t n, std::int32_t first = 1);
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] std::int32_t* in() const { return reinterpret_cast<std::int32_t*>(in_.address()); }
  [[nodiscard]] void* out() const { return reinterpret_cast<void*>(out_.address()); }
  /// Overwrites what was put out.
  void poison() const;
  /// Whether `out` holds the sum of `in`: what the template `tickets` computes.
  [[nodiscard]] bool summed() const;
  /// Whether `out` holds `in`: what the template `synthetic` computes.
  [[nodiscard]] bool copied() const;

 private:
  std::int64_t n_;
  gpu::Buffer in_;
  gpu::Buffer out_;
};

/// The template that needs no scratch: a copy.
[[nodiscard]] Kernel copy_kernel(Runtime& runtime);
/// The template that needs scratch, and notices when it is shared or dirty: a sum.
[[nodiscard]] Kernel sum_kernel(Runtime& runtime);

void launch(const Kernel& kernel, const Elements& elements, Stream stream);
void launch(const Plan& plan, const Elements& elements, void* workspace, Stream stream);

/// Zeroed device memory for a plan.
[[nodiscard]] gpu::Buffer workspace_of(const Plan& plan);
[[nodiscard]] inline void* address(const gpu::Buffer& buffer) { return reinterpret_cast<void*>(buffer.address()); }

}  // namespace attune::test
