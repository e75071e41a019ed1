#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attune::compile {

/// The NVRTC library as found on this machine, loaded into this process and never unloaded.
struct NvrtcLibrary {
  void* handle = nullptr;
  std::filesystem::path path;                          ///< the file that was loaded, links resolved
  std::vector<std::filesystem::path> include_folders;  ///< CUDA's headers, CCCL's last; empty when none were found
};

/// With the builtins that lie beside it, which it needs to compile.
/// Throws: EnvironmentError listing what was tried and the remedy.
[[nodiscard]] NvrtcLibrary load_nvrtc();

/// An entry point of the library. Throws: EnvironmentError naming it and the library.
[[nodiscard]] void* nvrtc_symbol(const NvrtcLibrary& library, const char* name);

}  // namespace attune::compile
