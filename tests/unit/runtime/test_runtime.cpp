#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "attune/runtime.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"

namespace test_runtime {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

/// A template folder with `twice` in it, no default databases and a cache of its own. Nothing here needs a GPU.
struct Fixture {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};
  Variable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  Options options;

  Fixture() { options.templates = {write_twice(folder / "templates")}; }
};

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a runtime starts without any database and says what is missing") {
  const Runtime runtime(options);
  CHECK(runtime.notices().size() == 2);
  const auto counters = runtime.counters();
  CHECK(counters.launches == 0);
  CHECK(counters.plans_built == 0);
  CHECK(counters.compiles == 0);
  CHECK(counters.database_reads == 0);
}

TEST_CASE_FIXTURE(Fixture, "options that name what does not exist are misuse") {
  options.policy = "warm/graph";
  CHECK(message_of([&] { Runtime runtime(options); }).find("'warm/graph'; known: cold/graph, cold/stream") != std::string::npos);
  options.policy = "hot/stream";
  CHECK_NOTHROW(Runtime{options});
  options.databases = {folder / "absent.db"};
  CHECK(message_of([&] { Runtime runtime(options); }).find("absent.db") != std::string::npos);
  options.databases.clear();
  options.templates = {folder / "absent"};
  CHECK(message_of([&] { Runtime runtime(options); }).find("absent, which is no folder") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "unknown templates, axes and values are misuse when the kernel is asked for") {
  Runtime runtime(options);
  CHECK_FALSE(message_of([&] { static_cast<void>(runtime.kernel("thrice", {{"T", "f32"}})); }).empty());
  CHECK_FALSE(message_of([&] { static_cast<void>(runtime.kernel("twice", {{"T", "f16"}})); }).empty());
  CHECK_FALSE(message_of([&] { static_cast<void>(runtime.kernel("twice", {{"T", "f32"}, {"op", "sum"}})); }).empty());
  CHECK_FALSE(message_of([&] { static_cast<void>(runtime.kernel("twice", {})); }).empty());
  CHECK_FALSE(message_of([&] { static_cast<void>(runtime.kernel("twice", {})); }).empty());  // nothing half-made was kept
}

TEST_CASE_FIXTURE(Fixture, "a user's template is explained for an architecture without a GPU") {
  Runtime runtime(options);
  const auto twice = runtime.kernel("twice", {{"T", "f32"}});
  const auto decision = twice.explain_on("sm_80", {1000});
  CHECK(decision.tier == Tier::Default);
  CHECK(decision.cubin_source == "compiled");
  CHECK_FALSE(decision.compiled);
  CHECK(runtime.counters().compiles == 0);
  CHECK(runtime.counters().database_reads == 1);
}

TEST_CASE_FIXTURE(Fixture, "a device out of the database is explained without a GPU") {
  const auto here = device("sm_90", "NVIDIA H200", 132);
  {
    LayerFile file(folder / "user.db");
    file.add(twice_template(), 1000, here, configuration(64));
  }
  Runtime runtime(options);
  const auto twice = runtime.kernel("twice", {{"T", "f32"}});
  CHECK(twice.explain_on("NVIDIA H200", {1000}).tier == Tier::ExactSize);
  CHECK(twice.explain_on("nvidia_h200", {2000}).tier == Tier::NearestSize);
  CHECK(twice.explain_on("sm_80", {1000}).tier == Tier::OtherDevice);
}

TEST_CASE_FIXTURE(Fixture, "the typed front end dispatches the built-in reduce template") {
  Runtime runtime(options);
  const auto sum = runtime.reduce<float>(Op::Sum);
  const auto decision = sum.explain_on("sm_90", 1 << 20);
  CHECK(decision.tier == Tier::Default);
  CHECK(decision.configuration.find("grid_stage") != std::string::npos);
  CHECK_NOTHROW(static_cast<void>(runtime.reduce<double>(Op::Min).explain_on("sm_90", 0)));
  CHECK_NOTHROW(static_cast<void>(runtime.reduce<std::int8_t>(Op::Max).explain_on("sm_90", 1)));
  static_assert(std::is_same_v<Reduce<std::int8_t>::Result, std::int32_t>);
  static_assert(std::is_same_v<Reduce<double>::Result, double>);
}

namespace {

/// What a front end dispatches without a device or database.
template <class T>
std::string arg_reduce_decision(Runtime& runtime, ArgOp op) {
  const auto decision = runtime.arg_reduce<T>(op).explain_on("sm_90", 1000);
  CHECK(decision.tier == Tier::Default);
  return detail::TypeName<T>::value;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the typed front end of argreduce takes all ten types, of which no CUDA header is included") {
  Runtime runtime(options);
  std::vector<std::string> names;
  for (const ArgOp op : {ArgOp::Max, ArgOp::Min}) {
    names = {arg_reduce_decision<std::int8_t>(runtime, op),  arg_reduce_decision<std::uint8_t>(runtime, op),
             arg_reduce_decision<std::int32_t>(runtime, op), arg_reduce_decision<std::uint32_t>(runtime, op),
             arg_reduce_decision<std::int64_t>(runtime, op), arg_reduce_decision<std::uint64_t>(runtime, op),
             arg_reduce_decision<__half>(runtime, op),       arg_reduce_decision<__nv_bfloat16>(runtime, op),
             arg_reduce_decision<float>(runtime, op),        arg_reduce_decision<double>(runtime, op),
             arg_reduce_decision<long long>(runtime, op),    arg_reduce_decision<unsigned long>(runtime, op)};
  }
  CHECK(names == std::vector<std::string>{"i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "i64", "u64"});
}

namespace {

/// What a front end dispatches without a device or database.
template <class T>
Decision segmented_decision(Runtime& runtime, Op op) {
  return runtime.segmented_reduce<T>(op).explain_on("sm_90", 100000, 33);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the typed front end of segmented_reduce takes all ten types and four operations") {
  Runtime runtime(options);
  for (const Op op : {Op::Sum, Op::Min, Op::Max, Op::Product}) {
    for (const Decision& decision : {segmented_decision<std::int8_t>(runtime, op), segmented_decision<std::uint8_t>(runtime, op),
                                     segmented_decision<std::int32_t>(runtime, op), segmented_decision<std::uint32_t>(runtime, op),
                                     segmented_decision<std::int64_t>(runtime, op), segmented_decision<std::uint64_t>(runtime, op),
                                     segmented_decision<__half>(runtime, op), segmented_decision<__nv_bfloat16>(runtime, op),
                                     segmented_decision<float>(runtime, op), segmented_decision<double>(runtime, op)}) {
      CHECK(decision.tier == Tier::Default);
      CHECK(decision.configuration.find("\"row_stage\":\"") != std::string::npos);
    }
  }
  static_assert(std::is_same_v<SegmentedReduce<std::int8_t>::Result, std::int32_t>);
  static_assert(std::is_same_v<SegmentedReduce<std::uint8_t>::Result, std::uint32_t>);
  static_assert(std::is_same_v<SegmentedReduce<__half>::Result, float>);
  static_assert(std::is_same_v<SegmentedReduce<__nv_bfloat16>::Result, float>);
  static_assert(std::is_same_v<SegmentedReduce<std::int64_t>::Result, std::int64_t>);
}

TEST_CASE_FIXTURE(Fixture, "an operation that a template lacks is misuse, and the ones it has are named") {
  Runtime runtime(options);
  const std::string message = message_of([&] { static_cast<void>(runtime.segmented_reduce<int>(Op::Xor)); });
  CHECK(message.find("xor") != std::string::npos);
  CHECK(message.find("sum, product, min, max") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a wrong number of sizes is misuse before any device is asked") {
  Runtime runtime(options);
  const auto twice = runtime.kernel("twice", {{"T", "f32"}});
  const std::string expected = "failed looking up kernel 'twice': it has 1 size(s) (n), 2 were given";
  CHECK(message_of([&] { static_cast<void>(twice.explain_on("sm_90", {1, 2})); }) == expected);
  CHECK(message_of([&] { static_cast<void>(twice.explain({1, 2})); }) == expected);
  CHECK(message_of([&] { static_cast<void>(twice.plan({1, 2})); }) == expected);
  CHECK(message_of([&] { twice.launch({1, 2}, {}, nullptr); }) == expected);
}

TEST_CASE_FIXTURE(Fixture, "launching needs a current context, or says that there is no driver") {
  Runtime runtime(options);
  const auto twice = runtime.kernel("twice", {{"T", "f32"}});
  CHECK_THROWS_AS(twice.launch({1}, {}, nullptr), Error);
  CHECK_THROWS_AS(twice.prepare(), Error);
  CHECK_THROWS_AS(twice.prepare({1}), Error);
  CHECK_THROWS_AS(static_cast<void>(twice.explain({1})), Error);
  CHECK(runtime.counters().launches == 0);
}

TEST_CASE_FIXTURE(Fixture, "without a cache folder the runtime notes that code is not kept") {
  const Variable no_cache("XDG_CACHE_HOME", std::nullopt), no_home("HOME", std::nullopt);
  const Runtime runtime(options);
  CHECK(runtime.notices().back().find("not kept between processes") != std::string::npos);
}

}  // namespace test_runtime
