// Planted defects of histograms.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/gpu/lab.hpp"
#include "tests/support/histogram_template.hpp"

namespace test_verification_histogram {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kVariants = R"(["correct", "one_too_many", "one_before", "skips_last", "skips_middle", "counts_below", "counts_above",
  "includes_upper", "nan_in_first", "saturates_at_16_bits", "wraps_at_16_bits", "spills_at_16_bits", "merges_neighbours", "adds_to_before",
  "first_of_equal_edges", "next_bin", "ignores_channels", "counts_all_channels", "skips_a_weight", "powers_of_two_only", "writes_samples"])";

/// One block, with counters in global memory, so that every defect is a line.
constexpr const char* kSource = R"text(
typedef attune_T T;
typedef attune_Counter Counter;
typedef attune_L L;
__device__ long long bin_of(T x, const T* edges, L lower, L upper, long long bins) {
#if ATTUNE_MAPPING_EDGES
  long long low = 0, high = bins + 1;
  while (low < high) {
    const long long middle = (low + high) / 2;
    const bool before = ATTUNE_VARIANT_FIRST_OF_EQUAL_EDGES ? edges[middle] < x : edges[middle] <= x;
    if (before) low = middle + 1; else high = middle;
  }
  if (ATTUNE_VARIANT_FIRST_OF_EQUAL_EDGES && low <= bins && edges[low] == x && low == 0) low = 1;
  return low == 0 || low == bins + 1 ? -1 : low - 1;
#else
  const bool inside = (x >= (L)lower && x < (L)upper) || (ATTUNE_VARIANT_INCLUDES_UPPER && x == (L)upper);
  if (!inside) {
    if (ATTUNE_VARIANT_COUNTS_BELOW && x < (L)lower) return 0;
    if (ATTUNE_VARIANT_COUNTS_ABOVE && x >= (L)upper) return bins - 1;
    if (ATTUNE_VARIANT_NAN_IN_FIRST && x != x) return 0;
    return -1;
  }
#if ATTUNE_T_F32
  const long long bin = (long long)__fmul_rn(__fsub_rn(x, lower), __fdiv_rn((float)bins, __fsub_rn(upper, lower)));
#else
  unsigned long long distance = (unsigned long long)((long long)x - (long long)lower);
  unsigned long long range = (unsigned long long)((long long)upper - (long long)lower);
  if (ATTUNE_VARIANT_POWERS_OF_TWO_ONLY) while (range & (range - 1)) range &= range - 1;
  const long long bin = (long long)(distance * (unsigned long long)bins / range);
#endif
  return bin < bins ? bin : bins - 1;
#endif
}
#if ATTUNE_COUNTER_U64
__device__ void add(Counter* to, Counter x) { atomicAdd((unsigned long long*)to, (unsigned long long)x); }
#else
__device__ void add(Counter* to, Counter x) { atomicAdd(to, x); }
#endif
extern "C" __global__ void count(T* samples, const T* edges, const float* weights, Counter* counts, L lower, L upper, long long n,
                                 long long bins, long long channels, long long active) {
  if (!ATTUNE_VARIANT_ADDS_TO_BEFORE)
    for (long long i = threadIdx.x; i < bins * active; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const long long total = n * channels;
  const long long first = ATTUNE_VARIANT_ONE_BEFORE ? -1 : 0;
  const long long last = total + (ATTUNE_VARIANT_ONE_TOO_MANY ? 1 : 0) - (ATTUNE_VARIANT_SKIPS_LAST ? 1 : 0);
  for (long long i = first + threadIdx.x; i < last; i += blockDim.x) {
    if (ATTUNE_VARIANT_SKIPS_MIDDLE && i == total / 2) continue;
    long long channel = ATTUNE_VARIANT_IGNORES_CHANNELS ? 0 : (i < 0 ? 0 : i % channels);
    if (ATTUNE_VARIANT_COUNTS_ALL_CHANNELS && channel >= active) channel = 0;
    if (channel >= active) continue;
    long long bin = bin_of(samples[i], edges, lower, upper, bins);
    if (bin < 0) continue;
    if (ATTUNE_VARIANT_NEXT_BIN && i == total / 3) bin = (bin + 1) % bins;
    // Two samples of one bin behind each other count once.
    if (ATTUNE_VARIANT_MERGES_NEIGHBOURS && i % 4 == 1 && bin == bin_of(samples[i - 1], edges, lower, upper, bins)) continue;
#if ATTUNE_COUNTER_F32
    const Counter amount = ATTUNE_VARIANT_SKIPS_A_WEIGHT && i == total / 2 ? 0.0f : weights[i];
#else
    const Counter amount = 1;
#endif
    add(counts + channel * bins + bin, amount);
  }
  __syncthreads();
#if !ATTUNE_COUNTER_F32
  for (long long i = threadIdx.x; i < bins * active; i += blockDim.x) {
    if (ATTUNE_VARIANT_SATURATES_AT_16_BITS && counts[i] > 65535) counts[i] = 65535;
    if (ATTUNE_VARIANT_WRAPS_AT_16_BITS) counts[i] &= 65535;
    if (ATTUNE_VARIANT_SPILLS_AT_16_BITS && i % 2 == 0 && i + 1 < bins) {  // two counters in a word
      counts[i + 1] += counts[i] >> 16;
      counts[i] &= 65535;
    }
  }
#endif
  if (ATTUNE_VARIANT_WRITES_SAMPLES && threadIdx.x == 0 && total > 0) samples[total - 1] = (T)(samples[total - 1] + 1);
}
)text";

using Choices = std::map<std::string, std::string>;

measure::VisitReply run(const char* variant, Choices choices, std::int64_t n, std::int64_t bins) {
  auto& lab = test::Lab::get();
  static const auto kernel = test::make_template(test::histogram_template(kVariants), kSource);
  const auto problem = spec::canonical(kernel, {std::move(choices), {{"n", n}, {"bins", bins}}});
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
}

void check_right(const Choices& choices, std::int64_t n, std::int64_t bins) {
  const auto reply = run("correct", choices, n, bins);
  std::string text;
  for (const auto& [axis, value] : choices) text += axis + " " + value + ", ";
  INFO(text, n, " in ", bins, " bins: ", reply.detail);
  CHECK(reply.outcome == Outcome::Ok);
  CHECK(reply.verified);
}

void check_wrong(const char* variant, const Choices& choices, std::int64_t n, std::int64_t bins) {
  const auto reply = run(variant, choices, n, bins);
  INFO(variant, ", ", choices.at("T"), ", ", bins, " bins: ", reply.detail);
  CHECK(reply.outcome == Outcome::WrongResult);
}

constexpr std::int64_t kCount = 100000;  // beyond 16 bits

}  // namespace

TEST_CASE("a correct histogram is verified for every type and mapping, down to no samples and one bin") {
  for (const char* type : {"u8", "i16", "u16", "i32", "u32", "f32"}) {
    for (const char* mapping : {"unit", "shift", "scaled", "edges"}) {
      const std::string how = mapping;
      if (std::string(type) == "f32" && (how == "unit" || how == "shift")) continue;
      for (const std::int64_t bins : {1, 256, 1000})
        for (const std::int64_t n : {0, 1, 5000}) check_right({{"T", type}, {"mapping", mapping}, {"skew", "uniform"}}, n, bins);
    }
  }
}

TEST_CASE("a correct histogram is verified with 64-bit counters, weights, channels and every skew") {
  check_right({{"T", "i32"}, {"mapping", "scaled"}, {"Counter", "u64"}}, kCount, 2048);
  check_right({{"T", "f32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, kCount, 100);
  check_right({{"T", "u8"}, {"mapping", "unit"}, {"Counter", "f32"}}, kCount, 1);
  check_right({{"T", "u8"}, {"mapping", "unit"}, {"channels", "4"}, {"active", "3"}}, kCount, 256);
  check_right({{"T", "f32"}, {"mapping", "edges"}, {"channels", "3"}}, kCount, 77);
  for (const char* skew : {"unknown", "uniform", "zipf", "hot", "constant", "sorted"})
    check_right({{"T", "i32"}, {"mapping", "scaled"}, {"skew", skew}}, kCount, 256);
}

TEST_CASE("samples left out, read twice or too far, and wrong bins are found for every type") {
  for (const char* variant :
       {"one_too_many", "one_before", "skips_last", "skips_middle", "merges_neighbours", "adds_to_before", "next_bin", "writes_samples"}) {
    for (const char* type : {"u16", "i32", "f32"})
      check_wrong(variant, {{"T", type}, {"mapping", "scaled"}, {"skew", "uniform"}}, kCount, 250);
  }
}

TEST_CASE("samples outside that are counted are found, below, above, at the upper bound and NaN") {
  for (const char* variant : {"counts_below", "counts_above", "includes_upper"})
    for (const char* type : {"i32", "f32"}) check_wrong(variant, {{"T", type}, {"mapping", "scaled"}}, kCount, 250);
  check_wrong("nan_in_first", {{"T", "f32"}, {"mapping", "scaled"}}, kCount, 250);
}

TEST_CASE("counters of 16 bits are found where more samples than that are of one bin, whatever the problem's skew") {
  for (const char* variant : {"saturates_at_16_bits", "wraps_at_16_bits", "spills_at_16_bits"})
    check_wrong(variant, {{"T", "u8"}, {"mapping", "unit"}, {"skew", "uniform"}}, kCount, 256);
}

TEST_CASE("equal edges, channels, weights and ranges that are no power of two are found where they are treated wrongly") {
  check_wrong("first_of_equal_edges", {{"T", "i32"}, {"mapping", "edges"}}, kCount, 250);
  check_wrong("ignores_channels", {{"T", "u8"}, {"mapping", "unit"}, {"channels", "3"}}, kCount, 256);
  check_wrong("counts_all_channels", {{"T", "u8"}, {"mapping", "unit"}, {"channels", "4"}, {"active", "3"}}, kCount, 256);
  check_wrong("skips_a_weight", {{"T", "f32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, kCount, 3);
  check_wrong("powers_of_two_only", {{"T", "u32"}, {"mapping", "scaled"}}, kCount, 250);
}

TEST_CASE("an unknown skew is timed by the slowest kind of data, and its samples say so") {
  const auto time = [](const char* skew) {
    const auto reply = run("correct", {{"T", "i32"}, {"mapping", "scaled"}, {"skew", skew}}, kCount, 4096);
    REQUIRE(reply.outcome == Outcome::Ok);
    return test::median(reply.samples_us);
  };
  double slowest_us = 0;
  for (const char* skew : {"uniform", "zipf", "hot", "constant", "sorted"}) slowest_us = std::max(slowest_us, time(skew));
  const double unknown_us = time("unknown");
  CHECK(unknown_us > 0.8 * slowest_us);
  CHECK(unknown_us < 1.25 * slowest_us);
}

}  // namespace test_verification_histogram
