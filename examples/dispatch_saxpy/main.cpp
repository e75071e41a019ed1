// Dispatches a template of the user's own: no C++ of attune's knows 'saxpy', only the folder examples/templates/saxpy.
// Usage: dispatch_saxpy [folder of templates]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "attune/runtime.hpp"
#include "examples/device.hpp"

namespace {

/// y = a * x + y for one size; small integers, so that every step is exact.
bool run_one(const attune::Kernel& saxpy, std::int64_t n) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = static_cast<float>(i % 7);
  }
  const float a = 3.0f;
  const example::DeviceArray<float> device_x(x);
  const example::DeviceArray<float> device_y(y);
  // Buffers in the template's order, then its scalars.
  saxpy.launch({n}, {attune::Argument::pointer(device_x.get()), attune::Argument::pointer(device_y.get()), attune::Argument::scalar(a)},
               nullptr);
  example::check(cudaDeviceSynchronize(), "running saxpy");
  const auto result = device_y.read(count);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += result[i] != a * x[i] + y[i] ? 1 : 0;
  const attune::Decision why = saxpy.explain({n});
  std::printf("n = %-10lld %zu wrong of %zu; %s, code from %s, %s\n", static_cast<long long>(n), wrong, count, attune::name(why.tier),
              why.cubin_source.c_str(), why.configuration.c_str());
  return wrong == 0;
}

int run(const char* templates) {
  example::require_device();
  attune::Options options;
  options.templates = {templates};
  attune::Runtime runtime(options);
  for (const auto& notice : runtime.notices()) std::printf("notice: %s\n", notice.c_str());
  const attune::Kernel saxpy = runtime.kernel("saxpy", {{"T", "f32"}});
  bool right = true;
  for (const std::int64_t n : {1, 1000, 1 << 20, 1000003, 1 << 24}) right = run_one(saxpy, n) && right;
  std::printf("NVRTC compiles in this process: %llu\n", static_cast<unsigned long long>(runtime.counters().compiles));
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : SAXPY_TEMPLATES);
  } catch (const attune::Error& error) {
    std::fprintf(stderr, "dispatch_saxpy: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dispatch_saxpy: %s\n", error.what());
    return 1;
  }
}
