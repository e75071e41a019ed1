// Sums arrays of several sizes with whatever was tuned for this GPU, and says where each choice came from.
// Usage: dispatch_reduce [size...]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "examples/device.hpp"

namespace {

std::vector<std::int64_t> sizes_from(int argc, char** argv) {
  std::vector<std::int64_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (!sizes.empty()) return sizes;
  return {0, 1, 1000, 1 << 14, 1 << 20, 1000003, 1 << 24, 1 << 26};
}

/// Reproducible values in [-1, 1).
std::vector<float> values_of(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (auto& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return values;
}

/// Sums one size on the device; true when the result is within rounding of the host's.
bool sum_one(const attune::Reduce<float>& sum, std::int64_t n) {
  const auto values = values_of(n);
  double reference = 0, magnitude = 0;
  for (const float value : values) {
    reference += value;
    magnitude += std::abs(value);
  }
  const example::DeviceArray<float> in(values);
  const example::DeviceArray<float> out(1);
  sum(in.get(), n, out.get(), nullptr);
  example::check(cudaDeviceSynchronize(), "running the reduction");
  const double result = out.read(1)[0];
  const bool right = std::abs(result - reference) <= 1e-6 * magnitude;
  const attune::Decision why = sum.explain(n);
  std::printf("n = %-10lld %14.6f  host %14.6f  %-5s  %-14s %-9s %s\n", static_cast<long long>(n), result, reference,
              right ? "right" : "WRONG", attune::name(why.tier), why.cubin_source.c_str(), why.configuration.c_str());
  return right;
}

int run(int argc, char** argv) {
  example::require_device();
  attune::Runtime runtime;
  for (const auto& notice : runtime.notices()) std::printf("notice: %s\n", notice.c_str());
  const auto sum = runtime.reduce<float>(attune::Op::Sum);
  bool right = true;
  for (const std::int64_t n : sizes_from(argc, argv)) right = sum_one(sum, n) && right;
  const auto counters = runtime.counters();
  std::printf("launches: %llu, plans built: %llu\nNVRTC compiles in this process: %llu\n",
              static_cast<unsigned long long>(counters.launches), static_cast<unsigned long long>(counters.plans_built),
              static_cast<unsigned long long>(counters.compiles));
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const attune::Error& error) {
    std::fprintf(stderr, "dispatch_reduce: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dispatch_reduce: %s\n", error.what());
    return 1;
  }
}
