// Stored code that a real driver will not load: dispatch compiles again instead of failing.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "attune/runtime.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tuner/compile/cubin_cache.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/code_store.hpp"

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kCount = 1000;

/// A database with a result for the sum of 1000 floats, whose stored cubin is `cubin`; the digest of the row is right.
struct StoredCode {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};
  Variable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  gpu::Context context{0};
  spec::DeviceInfo device = gpu::read_device(0);
  spec::KernelTemplate kernel = spec::TemplateLibrary().find("reduce");
  spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", kCount}}};

  [[nodiscard]] runtime::CodeRequest request(const spec::DeviceInfo& target) const {
    return runtime::make_code_request(kernel, problem, spec::default_configuration(kernel), target);
  }
  void store(const std::string& cubin) const {
    auto database = db::Database::open(folder / "user.db", db::OpenMode::ReadWrite);
    db::BestRow row;
    row.template_hash = kernel.content_hash;
    row.template_name = kernel.name;
    row.family = spec::family_text(problem);
    row.problem = spec::to_text(problem);
    row.sizes_json = nlohmann::json(problem.sizes).dump();
    row.device_key = device.hard_key();
    row.policy = "cold/graph";
    row.configuration = spec::to_text(kernel, spec::default_configuration(kernel));
    row.cubin_key = "0123456789abcdef0123456789abcdef";
    row.detail_json = nlohmann::json{{"source_key", request(device).source_key}}.dump();
    database.put(db::DeviceRow{device.hard_key(), device.hard_json(), device.to_json().dump()});
    database.put(row);
    database.put_cubin(row.cubin_key, cubin, row.detail_json);
  }
  /// Sums a thousand ones in a Runtime of its own. Returns the runs of NVRTC that it took.
  [[nodiscard]] std::uint64_t compiles_of_a_right_sum(const std::string& source) const {
    const auto& driver = gpu::Driver::get();
    const std::vector<float> ones(kCount, 1.0f);
    const gpu::Buffer in(kCount * sizeof(float)), out(sizeof(float));
    float result = 0;
    Runtime runtime;
    const auto sum = runtime.reduce<float>(Op::Sum);
    gpu::check(driver.cuMemcpyHtoDAsync(in.address(), ones.data(), in.bytes(), nullptr), "cuMemcpyHtoDAsync",
               "writing");
    sum(reinterpret_cast<const float*>(in.address()), kCount, reinterpret_cast<float*>(out.address()), nullptr);
    gpu::check(driver.cuMemcpyDtoHAsync(&result, out.address(), sizeof result, nullptr), "cuMemcpyDtoHAsync",
               "reading");
    gpu::check(driver.cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
    CHECK(result == static_cast<float>(kCount));
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
