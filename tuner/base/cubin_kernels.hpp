#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune::base {

/// What a cubin tells of a kernel without a driver.
struct CubinKernel {
  std::vector<int> parameter_bytes;  ///< in order
  int most_threads = 0;              ///< of a block: __launch_bounds__; 0: it does not say
};

/// Kernels by name, out of the `.nv.info.<kernel>` sections of an ELF file as ptxas of CUDA 12 and 13 writes them. Nothing where the bytes
/// are none: what they tell is then not known. Reads no byte outside of `cubin`.
[[nodiscard]] std::optional<std::map<std::string, CubinKernel>> read_cubin_kernels(std::string_view cubin);

}  // namespace attune::base
