// A program that dispatches: one launch, then what it cost as JSON on standard output. Exit code 1: the result is
// wrong. usage: dispatch_once <templates> copy|sum <n> [launches]; the driver is whatever libcuda.so.1 the loader
// finds.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/base/json.hpp"
#include "tuner/gpu/handles.hpp"

using namespace attune;

namespace {

/// Device memory is host memory here (docs/testing.md).
std::int32_t* values(const gpu::Buffer& buffer) { return reinterpret_cast<std::int32_t*>(buffer.address()); }

bool is_right(bool sums, const gpu::Buffer& in, const gpu::Buffer& out, std::int64_t n) {
  if (!sums) return std::memcmp(values(in), values(out), static_cast<std::size_t>(n) * 4) == 0;
  std::int64_t sum = 0;
  std::memcpy(&sum, values(out), sizeof sum);
  return sum == std::accumulate(values(in), values(in) + n, std::int64_t{0});
}

int run(const char* templates, bool sums, std::int64_t n, long launches) {
  const gpu::Context context(0);
  const gpu::Buffer in(static_cast<std::size_t>(n) * 4), out(static_cast<std::size_t>(n) * 4 + 8);
  for (std::int64_t i = 0; i < n; ++i) values(in)[i] = static_cast<std::int32_t>(i % 7 + 1);
  std::memset(values(out), 0, out.bytes());
  Options options;
  options.templates = {templates};
  Runtime runtime(options);
  const auto kernel = sums ? runtime.kernel("tickets", {}) : runtime.kernel("synthetic", {{"T", "i32"}, {"faults", "none"}});
  for (long i = 0; i < launches; ++i) {
    kernel.launch({n}, {Argument::pointer(values(in)), Argument::pointer(values(out))}, nullptr);
  }
  const bool right = is_right(sums, in, out, n);
  const auto decision = kernel.explain({n});
  const auto counters = runtime.counters();
  const nlohmann::json told{{"right", right},
                            {"tier", name(decision.tier)},
                            {"code", decision.cubin_source},
                            {"configuration", decision.configuration},
                            {"launches", counters.launches},
                            {"plans_built", counters.plans_built},
                            {"compiles", counters.compiles},
                            {"database_reads", counters.database_reads},
                            {"notices", runtime.notices()}};
  std::printf("%s\n", base::dump_json(told).c_str());
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    return run(argv[1], std::strcmp(argv[2], "sum") == 0, std::atoll(argv[3]), argc > 4 ? std::atol(argv[4]) : 1);
  } catch (const Error& error) {
    std::fprintf(stderr, "dispatch_once: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
