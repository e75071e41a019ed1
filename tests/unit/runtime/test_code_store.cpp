#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/code_store.hpp"

namespace test_code_store {

using namespace attune;
using namespace attune::test;

namespace {

struct Fixture {
  TempFolder folder;
  spec::KernelTemplate kernel = twice_template();
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  spec::Problem problem = twice_problem(1000);
  std::filesystem::path cache = folder / "cubins";

  runtime::CodeRequest request(const std::string& chosen = configuration(64)) const {
    return runtime::make_code_request(kernel, problem, spec::configuration_from_text(kernel, chosen), here);
  }
  /// The layer of one best row whose cubin is stored under "cafe" with that source key.
  std::vector<runtime::Layer> layer_with_cubin(const std::string& source_key) const {
    LayerFile file(folder / "user.db");
    auto row = best_row(kernel, problem, here, configuration(64));
    row.cubin_key = "cafe";
    row.detail_json = base::dump_json(nlohmann::json{{"source_key", source_key}});
    file.add(row, here);
    file.database().put_cubin("cafe", "machine code", row.detail_json);
    return runtime::open_layers({file.path()}).layers;
  }
  runtime::Choice choose(const std::vector<runtime::Layer>& layers) const {
    return runtime::choose(kernel, problem, here, layers, {"cold/graph"});
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "what never enters the source does not change the keys, what does changes both") {
  const auto base = request();
  CHECK(request(configuration(64, "plain", 1)).cache_key == base.cache_key);  // bound at launch
  problem = twice_problem(77);
  CHECK(request().cache_key == base.cache_key);
  CHECK(request().source_key == base.source_key);
  CHECK(request(configuration(256)).cache_key != base.cache_key);
  CHECK(request(configuration(256)).source_key != base.source_key);
  here = device("sm_80", "Here", 132);
  CHECK(request().cache_key != base.cache_key);
  CHECK(request().source_key != base.source_key);
}

TEST_CASE_FIXTURE(Fixture, "other compiler options are other code in the cache") {
  const auto base = request();
  kernel.options = {{"--use_fast_math"}};
  CHECK(request().cache_key != base.cache_key);
}

TEST_CASE_FIXTURE(Fixture, "a stored cubin of the same source is used without compiling") {
  const auto layers = layer_with_cubin(request().source_key);
  const auto code = runtime::CodeStore(cache).find(request(), choose(layers), layers);
  REQUIRE(code.has_value());
  CHECK(code->cubin == "machine code");
  CHECK(std::string(code->origin) == "database");
}

TEST_CASE_FIXTURE(Fixture, "a stored cubin of another source never loads") {
  const auto layers = layer_with_cubin("stale");
  CHECK_FALSE(runtime::CodeStore(cache).find(request(), choose(layers), layers).has_value());
}

TEST_CASE_FIXTURE(Fixture, "a stored cubin of a layer that is not trusted never loads") {
  auto layers = layer_with_cubin(request().source_key);
  layers[0].trusted = false;
  CHECK_FALSE(runtime::CodeStore(cache).find(request(), choose(layers), layers).has_value());
}

TEST_CASE_FIXTURE(Fixture, "code compiled once is found by the next store without NVRTC") {
  const std::vector<runtime::Layer> none;
  runtime::CodeStore first(cache);
  CHECK_FALSE(first.find(request(), choose(none), none).has_value());
  const auto compiled = first.compile(request());
  CHECK(std::string(compiled.origin) == "compiled");
  CHECK(compiled.cubin.substr(1, 3) == "ELF");
  const auto found = runtime::CodeStore(cache).find(request(), choose(none), none);
  REQUIRE(found.has_value());
  CHECK(found->cubin == compiled.cubin);
  CHECK(std::string(found->origin) == "cache");
}

TEST_CASE_FIXTURE(Fixture, "a source that NVRTC rejects is an error with its log, and is not kept") {
  kernel.files["twice.cu"] = "extern \"C\" __global__ void twice() { nonsense; }";
  runtime::CodeStore store(cache);
  try {
    static_cast<void>(store.compile(request()));
    FAIL("no error");
  } catch (const CompileError& error) {
    CHECK(error.log().find("nonsense") != std::string::npos);
    CHECK(std::string(error.what()).find("twice.cu for sm_90") != std::string::npos);
  }
  CHECK_FALSE(runtime::CodeStore(cache).find(request(), choose({}), {}).has_value());
}

TEST_CASE_FIXTURE(Fixture, "without a cache folder code is compiled, not kept, and the store says so") {
  runtime::CodeStore store{std::filesystem::path()};
  CHECK(store.warning().find("not kept") != std::string::npos);
  CHECK_FALSE(store.compile(request()).cubin.empty());
  CHECK_FALSE(store.find(request(), choose({}), {}).has_value());
}

}  // namespace test_code_store
