#include "tuner/compile/nvrtc_library.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include <cstdlib>
#include <optional>

#include "attune/error.hpp"

namespace attune::compile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr const char* kRemedy = "install the CUDA toolkit (or its NVRTC package), or name the library file in ATTUNE_NVRTC";

/// Local, so that symbols of an NVRTC that the host program links are left alone.
void* open_library(const std::string& file) { return ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

/// Folders of toolkits in the order of the search; CUDA 13 has lib and lib64, pip packages only lib.
std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> folders;
  if (const char* const home = std::getenv("CUDA_HOME"); home != nullptr && home[0] != '\0') folders.emplace_back(home);
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

std::vector<std::string> candidates() {
  std::vector<std::string> files(std::begin(kFileNames), std::end(kFileNames));  // the loader's own path
  const auto add = [&files](const fs::path& folder) {
    for (const char* const name : kFileNames) files.push_back((folder / name).string());
  };
  add(ATTUNE_CUDA_LIBRARY_FOLDER);
  for (const fs::path& toolkit : toolkit_folders()) {
    add(toolkit / "lib64");
    add(toolkit / "lib");
  }
  return files;
}

void* open_first(std::string& tried) {
  for (const std::string& file : candidates()) {
    if (void* const handle = open_library(file)) return handle;
    tried += (tried.empty() ? "" : ", ") + file;
  }
  throw EnvironmentError(fmt::format("failed loading NVRTC: dlopen found none of {}; {}", tried, kRemedy));
}

void* open_named(const char* file) {
  void* const handle = open_library(file);
  if (handle != nullptr) return handle;
  throw EnvironmentError(
      fmt::format("failed loading NVRTC: dlopen of {} (ATTUNE_NVRTC) returned NULL ({}); correct or unset "
                  "ATTUNE_NVRTC",
                  file, ::dlerror()));
}

fs::path path_of(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return {};
  std::error_code error;
  const fs::path path = fs::canonical(map->l_name, error);
  return error ? fs::path(map->l_name) : path;
}

/// NVRTC loads its builtins by their name alone, which the loader looks for in the folders that it was told of, and NVRTC's own folder need
/// be none of them. A library that is loaded already is taken by its name whatever folder it is from. Where it is not beside NVRTC, that
/// looks itself, as ever.
void load_builtins(const NvrtcLibrary& library) {
  using Version = int (*)(int*, int*);
  const auto version = reinterpret_cast<Version>(::dlsym(library.handle, "nvrtcVersion"));
  int major = 0, minor = 0;
  if (version == nullptr || version(&major, &minor) != 0) return;
  const fs::path file = library.path.parent_path() / fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  std::error_code ignored;
  if (fs::exists(file, ignored)) static_cast<void>(open_library(file.string()));
}

/// CUDA's headers that belong to the library: beside its folder, else where the build saw them, else the usual places.
std::vector<fs::path> find_include_folders(const fs::path& library) {
  std::vector<fs::path> places{library.parent_path().parent_path() / "include", ATTUNE_CUDA_INCLUDE_FOLDER};
  for (const fs::path& toolkit : toolkit_folders()) places.push_back(toolkit / "include");
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (!fs::exists(place / "cuda_runtime.h", ignored)) continue;
    std::vector<fs::path> folders{place};
    if (fs::is_directory(place / "cccl", ignored)) folders.push_back(place / "cccl");  // CUDA 13: CUB, Thrust, libcu++
    return folders;
  }
  return {};
}

}  // namespace

NvrtcLibrary load_nvrtc() {
  NvrtcLibrary library;
  const char* const named = std::getenv("ATTUNE_NVRTC");
  std::string tried;
  library.handle = named != nullptr && named[0] != '\0' ? open_named(named) : open_first(tried);
  library.path = path_of(library.handle);
  load_builtins(library);
  library.include_folders = find_include_folders(library.path);
  return library;
}

void* nvrtc_symbol(const NvrtcLibrary& library, const char* name) {
  void* const symbol = ::dlsym(library.handle, name);
  if (symbol == nullptr) {
    throw EnvironmentError(fmt::format("failed loading NVRTC: {} has no {}; {}", library.path.string(), name, kRemedy));
  }
  return symbol;
}

}  // namespace attune::compile
