#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attune::fake_cuda {

struct CubinParameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct CubinKernel {
  std::string name;
  std::vector<CubinParameter> parameters;  ///< in order
  int registers = 0;
  int static_shared_bytes = 0;
  int most_threads = 1024;  ///< of a block: __launch_bounds__
};

struct CubinVariable {
  std::string name;
  std::vector<std::byte> initial;  ///< its size is the variable's
};

/// What a loader must know of a cubin (an ELF file; the attributes of .nv.info.* as ptxas of CUDA 12 and 13 writes them).
struct Cubin {
  int compute_capability = 0;
  std::vector<CubinKernel> kernels;
  std::vector<CubinVariable> variables;  ///< __constant__ and __device__

  /// The driver learns an image's size from the image itself, and so does this.
  /// Throws: std::runtime_error when it is no cubin.
  [[nodiscard]] static Cubin read(const void* image);
};

}  // namespace attune::fake_cuda
