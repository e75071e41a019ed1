#include "tests/integration/dispatch/dispatching.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace attune::test {
namespace {

constexpr const char* kTwoDevices = R"({"devices": [{"name": "Fake GPU", "memory_bytes": 268435456},
                                                     {"name": "Fake GPU", "memory_bytes": 268435456, "sm_count": 78}]})";

/// Loads the driver by its path before the product asks for libcuda.so.1: the loader then answers with this one.
struct Environment {
  Environment(const std::string& settings, const TempFolder& folder) {
    static const TempFolder cache;
    ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    ::setenv("ATTUNE_DB", (folder / "no.db").c_str(), 1);
    ::setenv("ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").c_str(), 1);
    ::setenv("ATTUNE_FAKE_CUDA", settings.empty() ? kTwoDevices : settings.c_str(), 1);
    if (::dlopen(ATTUNE_FAKE_CUDA_LIBRARY, RTLD_NOW) == nullptr) throw std::runtime_error(::dlerror());
  }
};

TempFolder& prepared(TempFolder& folder, const std::string& settings) {
  static_cast<void>(Environment(settings, folder));
  return folder;
}

std::size_t bytes_of(std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(std::int32_t); }

}  // namespace

Dispatching::Dispatching(const std::string& settings) : context((prepared(folder, settings), 0)) {
  options.templates = {ATTUNE_SOURCE_DIR "/tests/support/fake_templates"};
}

Elements::Elements(std::int64_t n, std::int32_t first) : n_(n), in_(bytes_of(n)), out_(bytes_of(n + 2)) {
  for (std::int64_t i = 0; i < n; ++i) in()[i] = first + static_cast<std::int32_t>(i % 11);
  poison();
}

void Elements::poison() const { std::memset(out(), 0x5a, out_.bytes()); }

bool Elements::summed() const {
  std::int64_t sum = 0;
  std::memcpy(&sum, out(), sizeof sum);
  return sum == std::accumulate(in(), in() + n_, std::int64_t{0});
}

bool Elements::copied() const { return std::memcmp(in(), out(), bytes_of(n_)) == 0; }

Kernel copy_kernel(Runtime& runtime) { return runtime.kernel("synthetic", {{"T", "i32"}, {"faults", "none"}}); }

Kernel sum_kernel(Runtime& runtime) { return runtime.kernel("tickets", {}); }

void launch(const Kernel& kernel, const Elements& elements, Stream stream) {
  kernel.launch({elements.n()}, {Argument::pointer(elements.in()), Argument::pointer(elements.out())}, stream);
}

void launch(const Plan& plan, const Elements& elements, void* workspace, Stream stream) {
  plan.launch({Argument::pointer(elements.in()), Argument::pointer(elements.out())}, workspace, stream);
}

gpu::Buffer workspace_of(const Plan& plan) {
  gpu::Buffer workspace(plan.workspace_bytes());
  if (workspace.bytes() > 0) std::memset(address(workspace), 0, workspace.bytes());
  return workspace;
}

}  // namespace attune::test
