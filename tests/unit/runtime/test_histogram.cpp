// What the typed front ends of histograms ask the dispatcher for. Nothing here needs a GPU.
#include "attune/histogram.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "attune/runtime.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/files.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_histogram {

using namespace attune;
using namespace attune::test;

namespace {

using Choices = std::map<std::string, std::string>;
constexpr std::int64_t kCount = 1000;

struct Fixture {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};
  Variable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  spec::KernelTemplate kernel = spec::TemplateLibrary().find("histogram");
  spec::DeviceInfo gpu = device("sm_90", "NVIDIA H200", 132);

  /// A result for exactly this problem: its default configuration.
  void tuned(const Choices& choices, std::int64_t bins) const {
    const spec::Problem problem{choices, {{"n", kCount}, {"bins", bins}}};
    spec::validate(kernel, problem);
    LayerFile(folder / "user.db").add(best_row(kernel, problem, gpu, spec::to_text(kernel, spec::default_configuration(kernel))), gpu);
  }
  template <class FrontEnd, class Level>
  [[nodiscard]] Tier even(const FrontEnd& front_end, Level lower, Level upper) const {
    return front_end.explain_on(gpu.name, kCount, lower, upper).tier;
  }
};

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class T>
T scalar_of(const Argument& argument) {
  T value;
  std::memcpy(&value, &argument.bits, sizeof value);
  return argument.size_bytes == sizeof value ? value : T(-12345);
}

template <class Sample>
detail::Mapping mapping_of(std::int64_t lower, std::int64_t upper, std::int64_t bins) {
  return detail::even_mapping(detail::HistogramSample<Sample>::kRange, lower, upper, bins);
}

template <class T>
concept HasHistogram = requires(Runtime& runtime) {
  runtime.histogram<T>(1);
};
template <class T>
concept Counts = requires(Runtime& runtime) {
  runtime.histogram<int, T>(1);
};

/// docs/histogram.md's example; it is compiled, not run.
[[maybe_unused]] void example(const unsigned char* pixels, const float* values, const int* numbers, const int* edges, const float* weights,
                              std::int64_t n, unsigned* counts, std::uint64_t* wide_counts, float* sums, void* workspace, Stream stream) {
#include "tests/unit/runtime/histogram_example.inc"
}

}  // namespace

TEST_CASE("the example of docs/histogram.md is the one that is compiled here") {
  const std::string manual = base::read_file(ATTUNE_SOURCE_DIR "/docs/histogram.md");
  const std::string code = base::read_file(ATTUNE_SOURCE_DIR "/tests/unit/runtime/histogram_example.inc");
  CHECK(contains(manual, "```cpp\n" + code + "```\n"));
}

TEST_CASE_FIXTURE(Fixture, "every front end asks for the problem that was tuned under its own choices") {
  tuned({{"T", "u8"}, {"mapping", "unit"}}, 256);
  tuned({{"T", "u16"}, {"mapping", "shift"}, {"Counter", "u64"}}, 256);
  tuned({{"T", "i32"}, {"mapping", "scaled"}, {"skew", "zipf"}}, 1000);
  tuned({{"T", "u32"}, {"mapping", "edges"}, {"skew", "sorted"}}, 7);
  tuned({{"T", "f32"}, {"mapping", "scaled"}, {"Counter", "f32"}}, 7);
  tuned({{"T", "u8"}, {"mapping", "unit"}, {"channels", "4"}, {"active", "3"}}, 256);
  tuned({{"T", "u8"}, {"mapping", "unit"}, {"channels", "3"}}, 256);
  Runtime runtime;
  CHECK(even(runtime.histogram<unsigned char>(256), 0, 256) == Tier::ExactSize);
  CHECK(even(runtime.histogram<unsigned short, std::uint64_t>(256), 0, 65536) == Tier::ExactSize);
  CHECK(even(runtime.histogram<unsigned short, unsigned long long>(256), 0, 65536) == Tier::ExactSize);
  CHECK(even(runtime.histogram<int>(1000, Skew::Zipf), std::int64_t{-5}, std::int64_t{2995}) == Tier::ExactSize);
  CHECK(runtime.histogram<unsigned>(7, Skew::Sorted).explain_edges_on(gpu.name, kCount).tier == Tier::ExactSize);
  CHECK(even(runtime.weighted_histogram<float>(7), -1.0f, 1.0f) == Tier::ExactSize);
  CHECK(even(runtime.multi_histogram<std::uint8_t>(256, 4, 3), 0, 256) == Tier::ExactSize);
  CHECK(even(runtime.multi_histogram<std::uint8_t>(256, 3, 3), 0, 256) == Tier::ExactSize);
  CHECK(even(runtime.multi_histogram<std::uint8_t>(256, 1, 1), 0, 256) == Tier::ExactSize);
  // What is not among them is another problem.
  CHECK(even(runtime.histogram<unsigned char>(256), 0, 512) != Tier::ExactSize);
  CHECK(even(runtime.multi_histogram<std::uint8_t>(256, 4, 4), 0, 256) != Tier::ExactSize);
  CHECK(runtime.histogram<unsigned char>(256).explain_edges_on(gpu.name, kCount).tier != Tier::ExactSize);
  CHECK(even(runtime.weighted_histogram<int>(7), std::int64_t{0}, std::int64_t{10}) != Tier::ExactSize);
}

TEST_CASE_FIXTURE(Fixture, "a skew without results of its own is dispatched with those of the unknown one") {
  tuned({{"T", "u8"}, {"mapping", "unit"}}, 256);
  Runtime runtime;
  for (const Skew skew : {Skew::Uniform, Skew::Zipf, Skew::Hot, Skew::Constant, Skew::Sorted}) {
    const auto decision = runtime.histogram<unsigned char>(256, skew).explain_on(gpu.name, kCount, 0, 256);
    CHECK(decision.tier == Tier::RelatedProblem);
    CHECK(decision.donor_problem == R"({"T":"u8","bins":256,"mapping":"unit","n":1000})");
  }
}

TEST_CASE("the mapping follows from the bounds: one integer a bin, a power of two of them, any other width") {
  using detail::Mapping;
  CHECK(mapping_of<unsigned char>(0, 256, 256) == Mapping::Unit);
  CHECK(mapping_of<unsigned char>(-7, 249, 256) == Mapping::Unit);
  CHECK(mapping_of<unsigned char>(0, 1, 1) == Mapping::Unit);
  CHECK(mapping_of<unsigned char>(0, 256, 1) == Mapping::Shift);
  CHECK(mapping_of<unsigned short>(0, 65536, 256) == Mapping::Shift);
  CHECK(mapping_of<int>(-3, 3, 3) == Mapping::Shift);
  CHECK(mapping_of<int>(0, 9, 3) == Mapping::Scaled);
  CHECK(mapping_of<int>(0, 256, 257) == Mapping::Scaled);  // more bins than integers
  CHECK(mapping_of<int>(0, 1000003, 2048) == Mapping::Scaled);
  CHECK(mapping_of<int>(std::numeric_limits<int>::min(), std::int64_t{1} << 31, 1 << 24) == Mapping::Shift);
  CHECK(mapping_of<unsigned>(0, std::int64_t{1} << 32, 3) == Mapping::Scaled);
  CHECK(mapping_of<unsigned short>(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 5) == Mapping::Scaled);
  CHECK(detail::even_mapping(0.0f, 256.0f, 256) == Mapping::Scaled);
}

TEST_CASE("bounds that are none are misuse that names them") {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kGreatest = std::numeric_limits<std::int64_t>::max();
  CHECK(contains(message_of([] { static_cast<void>(mapping_of<int>(5, 5, 10)); }), "lower bound 5 is not below its upper one, 5"));
  CHECK(contains(message_of([] { static_cast<void>(mapping_of<int>(6, 5, 10)); }), "is not below"));
  CHECK(contains(message_of([] { static_cast<void>(mapping_of<unsigned>(-1, 5, 10)); }), "u32 samples are 0 to 4294967295"));
  CHECK(contains(message_of([] { static_cast<void>(mapping_of<unsigned>(0, (std::int64_t{1} << 32) + 1, 10)); }), "at most one above"));
  CHECK(contains(message_of([] { static_cast<void>(mapping_of<int>(0, (std::int64_t{1} << 31) + 1, 10)); }),
                 "i32 samples are -2147483648 to 2147483647"));
  CHECK(contains(message_of([] { static_cast<void>(mapping_of<int>(kLeast, kGreatest, 10)); }), "give bounds among them"));
  const float nan = std::nanf(""), infinity = HUGE_VALF, greatest = std::numeric_limits<float>::max();
  const auto refusal = [](float lower, float upper) {
    return message_of([&] { static_cast<void>(detail::even_mapping(lower, upper, 10)); });
  };
  for (const float other : {0.0f, 1.0f, nan}) {
    CHECK(contains(refusal(nan, other), "is not below"));
    CHECK(contains(refusal(other, nan), "is not below"));
  }
  CHECK(contains(refusal(1, 1), "is not below"));
  CHECK(contains(refusal(0, infinity), "infinite"));
  CHECK(contains(refusal(-infinity, 0), "infinite"));
  CHECK(contains(refusal(-greatest, greatest), "too far apart"));
  CHECK(contains(refusal(0, 1e-44f), "too near"));
  CHECK(refusal(-1, 1).empty());
}

TEST_CASE_FIXTURE(Fixture, "a launch, a plan and an explanation refuse such bounds before any device is asked") {
  Runtime runtime;
  const auto bytes = runtime.histogram<unsigned char>(256);
  CHECK(contains(message_of([&] { bytes.even(nullptr, 1, 3, 3, nullptr, nullptr); }), "is not below"));
  CHECK(contains(message_of([&] { static_cast<void>(bytes.plan_even(1, 3, 3)); }), "is not below"));
  CHECK(contains(message_of([&] { static_cast<void>(bytes.explain_on("sm_90", 1, 3, 3)); }), "is not below"));
  CHECK(contains(message_of([&] { static_cast<void>(bytes.explain_on("sm_90", -1, 0, 3)); }), "the size 'n'"));
}

TEST_CASE_FIXTURE(Fixture, "numbers of bins and channels that are not counted are misuse when the front end is made") {
  Runtime runtime;
  for (const std::int64_t bins : {std::int64_t{0}, std::int64_t{-1}, (std::int64_t{1} << 24) + 1}) {
    CHECK(contains(message_of([&] { static_cast<void>(runtime.histogram<int>(bins)); }), "give 1 to 16777216 (2^24)"));
    CHECK(contains(message_of([&] { static_cast<void>(runtime.weighted_histogram<int>(bins)); }), "give 1 to 16777216 (2^24)"));
  }
  CHECK(contains(message_of([&] { static_cast<void>(runtime.multi_histogram<int>(1, 5, 1)); }), "5 channels; give 1 to 4"));
  CHECK(contains(message_of([&] { static_cast<void>(runtime.multi_histogram<int>(1, 0, 0)); }), "0 channels"));
  CHECK(contains(message_of([&] { static_cast<void>(runtime.multi_histogram<int>(1, 3, 4)); }),
                 "4 of 3 channels are to be counted; give 1 to 3"));
  CHECK(contains(message_of([&] { static_cast<void>(runtime.multi_histogram<int>(1, 3, 0)); }), "0 of 3"));
  CHECK(runtime.histogram<int>(std::int64_t{1} << 24).bins() == 1 << 24);
}

TEST_CASE_FIXTURE(Fixture, "the template's default serves every type, counter, mapping and number of channels") {
  Runtime runtime;
  const auto serves = [&]<class Sample>(Sample, auto lower, auto upper) {
    CAPTURE(detail::HistogramSample<Sample>::kName);
    using Level = typename Histogram<Sample, std::uint32_t>::Level;
    for (const std::int64_t bins : {1, 2, 256, 65536, 1 << 24}) {
      CAPTURE(bins);
      const auto check = [&](const auto& front_end) {
        const auto tier = [&](auto from, auto to) {
          return front_end.explain_on("sm_90", kCount, static_cast<Level>(from), static_cast<Level>(to)).tier;
        };
        CHECK(tier(lower, upper) == Tier::Default);
        CHECK(tier(0, bins) == Tier::Default);
        CHECK(tier(0, bins * 2) == Tier::Default);
        CHECK(front_end.explain_edges_on("sm_90", kCount).tier == Tier::Default);
      };
      check(runtime.histogram<Sample>(bins));
      check(runtime.histogram<Sample, std::uint64_t>(bins, Skew::Constant));
      check(runtime.weighted_histogram<Sample>(bins));
      check(runtime.multi_histogram<Sample>(bins, 4, 3));
      check(runtime.multi_histogram<Sample>(bins, 2, 2));
    }
  };
  serves(std::uint8_t{}, -3, 250);
  serves(std::uint16_t{}, 0, 65521);
  serves(std::int32_t{}, -1000, 1000003);
  serves(std::uint32_t{}, 0, 1000003);
  serves(float{}, -1, 1);
  static_assert(!HasHistogram<double> && !HasHistogram<std::int64_t> && !HasHistogram<std::int8_t> && !HasHistogram<std::int16_t> &&
                !HasHistogram<bool>);
  static_assert(HasHistogram<float> && Counts<std::uint64_t> && Counts<unsigned long long> && !Counts<int> && !Counts<float> &&
                !Counts<std::uint16_t>);
}

TEST_CASE_FIXTURE(Fixture, "arguments are in the order of the template, bounds in its type") {
  const auto plan =
      spec::resolve(kernel, {{{"T", "u8"}, {"mapping", "unit"}}, {{"n", kCount}, {"bins", 256}}}, spec::default_configuration(kernel), gpu);
  std::vector<std::string> names;
  for (const auto& buffer : plan.buffers)
    if (!buffer.workspace) names.push_back(buffer.name);
  for (const auto& scalar : plan.scalars) names.push_back(scalar.name);
  CHECK(names == std::vector<std::string>{"samples", "edges", "weights", "counts", "lower", "upper"});

  const auto* const bytes = reinterpret_cast<const unsigned char*>(0x1000);
  const auto* const byte_edges = reinterpret_cast<const unsigned char*>(0x2000);
  auto* const counts = reinterpret_cast<std::uint32_t*>(0x3000);
  const auto even_arguments = Histogram<unsigned char, std::uint32_t>::arguments(bytes, -5, 300, counts);
  CHECK(even_arguments[0].bits == 0x1000);
  CHECK(even_arguments[1].bits == 0);
  CHECK(even_arguments[2].bits == 0);
  CHECK(even_arguments[3].bits == 0x3000);
  CHECK(scalar_of<std::int32_t>(even_arguments[4]) == -5);
  CHECK(scalar_of<std::int32_t>(even_arguments[5]) == 300);
  CHECK(Histogram<unsigned char, std::uint32_t>::arguments(bytes, byte_edges, counts)[1].bits == 0x2000);

  const auto* const values = reinterpret_cast<const float*>(0x4000);
  const auto* const weights = reinterpret_cast<const float*>(0x5000);
  auto* const sums = reinterpret_cast<float*>(0x6000);
  const auto weighted = WeightedHistogram<float>::arguments(values, weights, -0.5f, 1.5f, sums);
  CHECK(weighted[2].bits == 0x5000);
  CHECK(weighted[3].bits == 0x6000);
  CHECK(scalar_of<float>(weighted[4]) == -0.5f);
  CHECK(scalar_of<float>(weighted[5]) == 1.5f);
  CHECK(WeightedHistogram<float>::arguments(values, weights, values, sums)[1].bits == 0x4000);
  CHECK(scalar_of<std::int64_t>(Histogram<unsigned, std::uint64_t>::arguments(nullptr, 0, std::int64_t{1} << 32, nullptr)[5]) ==
        std::int64_t{1} << 32);
}

}  // namespace test_histogram
