// Stored code that a real driver will not load: dispatch compiles again instead of failing.
#include <doctest/doctest.h>

#include "attune/runtime.hpp"
#include "db/database.hpp"
#include "tests/gpu/runtime_fixture.hpp"
#include "tests/support/best_row.hpp"
#include "tuner/compile/cubin_cache.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/code_store.hpp"

namespace test_stored_code {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kCount = 1000;

/// A database with a result for the sum of 1000 floats, whose stored cubin is `cubin`; the digest of the row is right.
struct StoredCode : RuntimeFixture {
  spec::DeviceInfo device = gpu::read_device(0);
  spec::KernelTemplate kernel = spec::TemplateLibrary().find("reduce");
  spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", kCount}}};

  [[nodiscard]] runtime::CodeRequest request(const spec::DeviceInfo& target) const {
    return runtime::make_code_request(kernel, problem, spec::default_configuration(kernel), target);
  }
  void store(const std::string& cubin) const {
    auto database = db::Database::open(folder / "user.db", db::OpenMode::ReadWrite);
    auto row = best_row(kernel, problem, device, spec::to_text(kernel, spec::default_configuration(kernel)), request(device).source_key);
    row.cubin_key = "0123456789abcdef0123456789abcdef";
    database.put(device_row(device));
    database.put(row);
    database.put_cubin(row.cubin_key, cubin, row.detail_json);
  }
  /// Sums a thousand numbers in a Runtime of its own. Returns the runs of NVRTC that it took.
  [[nodiscard]] std::uint64_t compiles_of_a_right_sum(const std::string& source) const {
    const Input input(kCount);
    Runtime runtime;
    const auto sum = runtime.reduce<float>(Op::Sum);
    sum(input.in(), kCount, input.out(), nullptr);
    CHECK(input.result() == input.expected());
    CHECK(sum.explain(kCount).tier == Tier::ExactSize);
    CHECK(sum.explain(kCount).cubin_source == source);
    for (const auto& notice : runtime.notices()) MESSAGE(notice);
    return runtime.counters().compiles;
  }
};

}  // namespace

TEST_CASE_FIXTURE(StoredCode, "bytes that are no cubin are compiled again, once") {
  store("these bytes have the right digest and are no cubin at all");
  CHECK(compiles_of_a_right_sum("compiled") == 1);
  CHECK(compiles_of_a_right_sum("cache") == 0);
}

TEST_CASE_FIXTURE(StoredCode, "a cubin that was cut off, or is of another architecture, is compiled again") {
  const std::string whole = runtime::CodeStore(folder / "elsewhere").compile(request(device)).cubin;
  store(whole.substr(0, whole.size() / 2));
  CHECK(compiles_of_a_right_sum("compiled") == 1);
  auto other = device;
  other.architecture = device.architecture == "sm_80" ? "sm_90" : "sm_80";
  store(runtime::CodeStore(folder / "elsewhere").compile(request(other)).cubin);
  CHECK(compiles_of_a_right_sum("cache") == 0);  // what the first run compiled
  store(whole);
  CHECK(compiles_of_a_right_sum("database") == 0);
}

TEST_CASE_FIXTURE(StoredCode, "a cached result that the driver refuses is replaced") {
  const auto key = request(device).cache_key;
  store("no cubin");
  CHECK(compiles_of_a_right_sum("compiled") == 1);
  compile::CompileResult refused;
  refused.status = compile::CompileStatus::Ok;
  refused.key = key;
  refused.cubin = "no cubin either, under the right digest";
  compile::CubinCache(folder / "cache/attune/cubins").store(key, refused);
  CHECK(compiles_of_a_right_sum("compiled") == 1);
  CHECK(compiles_of_a_right_sum("cache") == 0);
}

}  // namespace test_stored_code
