#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/compile/compiler.hpp"

namespace test_compiler {

using namespace attune::compile;
using nlohmann::json;

namespace {

const CompileRequest kRequest{"source", "some.cu", "sm_90", {"-DA=1", "-DB=2"}};

CompileResult some_result() {
  CompileResult result;
  result.status = CompileStatus::Ok;
  result.key = "0123";
  result.cubin = std::string(
      "\x7f"
      "ELF\0\xff",
      6);
  result.kernels = {{"f", 32, 1200, 16, 8, 4}, {"g", 255, 0, 0, 0, 0}};
  result.log = "a warning\n";
  result.compile_ms = 12.5;
  result.from_cache = true;
  result.headers = HeaderUse::Used;
  result.headers_refusal = "a folder that others may write";
  return result;
}

}  // namespace

TEST_CASE("a request comes back from JSON and CBOR as it was") {
  const CompileRequest back = request_from_json(json::from_cbor(json::to_cbor(to_json(kRequest))));
  CHECK(back.source == kRequest.source);
  CHECK(back.name == kRequest.name);
  CHECK(back.architecture == kRequest.architecture);
  CHECK(back.options == kRequest.options);
}

TEST_CASE("a result comes back from JSON and CBOR as it was, whatever its status") {
  for (const auto status : {CompileStatus::Ok, CompileStatus::Failed, CompileStatus::TimedOut, CompileStatus::Crashed}) {
    CompileResult result = some_result();
    result.status = status;
    const CompileResult back = result_from_json(json::from_cbor(json::to_cbor(to_json(result))));
    CHECK(back.status == status);
    CHECK(back.key == result.key);
    CHECK(back.cubin == result.cubin);
    CHECK(back.log == result.log);
    CHECK(back.compile_ms == result.compile_ms);
    CHECK(back.from_cache);
    CHECK(back.headers == HeaderUse::Used);
    CHECK(back.headers_refusal == "a folder that others may write");
    REQUIRE(back.kernels.size() == 2);
    CHECK(back.kernels[0].kernel == "f");
    CHECK(back.kernels[0].registers == 32);
    CHECK(back.kernels[0].static_shared_bytes == 1200);
    CHECK(back.kernels[0].stack_bytes == 16);
    CHECK(back.kernels[0].spill_store_bytes == 8);
    CHECK(back.kernels[0].spill_load_bytes == 4);
    CHECK(back.kernels[1].registers == 255);
  }
}

TEST_CASE("a result that was stored before there were precompiled headers is read") {
  json old = to_json(some_result());
  old.erase("headers");
  CHECK(result_from_json(old).headers == HeaderUse::None);
}

TEST_CASE("values that are no request or result are errors") {
  CHECK_THROWS_WITH_AS((void)request_from_json(json::object()), doctest::Contains("compile request"), attune::Error);
  CHECK_THROWS_WITH_AS((void)result_from_json(json(3)), doctest::Contains("compile result"), attune::Error);
  json wrong = to_json(some_result());
  wrong["status"] = "splendid";
  CHECK_THROWS_WITH_AS((void)result_from_json(wrong), doctest::Contains("unknown status 'splendid'"), attune::Error);
  wrong = to_json(some_result());
  wrong["cubin"] = "text";
  CHECK_THROWS_WITH_AS((void)result_from_json(wrong), doctest::Contains("compile result"), attune::Error);
}

TEST_CASE("our options stand before the request's own") {
  const auto options = full_options(kRequest);
  CHECK(options.front() == "-arch=sm_90");
  CHECK(std::count(options.begin(), options.end(), "--no-cache") == 1);
  CHECK(std::count(options.begin(), options.end(), "--modify-stack-limit=false") == 1);
  REQUIRE(options.size() > 2);
  CHECK(options[options.size() - 2] == "-DA=1");
  CHECK(options.back() == "-DB=2");
}

TEST_CASE("the key of a cubin depends on everything that decides its bytes and on nothing else") {
  const std::string key = cubin_key(kRequest, "13.0.88 CL-1");
  std::set<std::string> keys{key};
  CompileRequest other = kRequest;
  other.source += " ";
  keys.insert(cubin_key(other, "13.0.88 CL-1"));
  other = kRequest;
  other.architecture = "sm_80";
  keys.insert(cubin_key(other, "13.0.88 CL-1"));
  other = kRequest;
  other.options = {"-DB=2", "-DA=1"};
  keys.insert(cubin_key(other, "13.0.88 CL-1"));
  other.options = {"-DA=1 -DB=2"};
  keys.insert(cubin_key(other, "13.0.88 CL-1"));
  keys.insert(cubin_key(kRequest, "13.0.88 CL-2"));
  CHECK(keys.size() == 6);
  other = kRequest;
  other.name = "elsewhere/some.cu";
  CHECK(cubin_key(other, "13.0.88 CL-1") == key);
}

TEST_CASE("the key of a source counts its options, which decide its code as well; without any it is that of source and architecture") {
  CompileRequest request{"source", "a.cu", "sm_90", {}};
  const std::string plain = source_key(request);
  CHECK(plain == attune::base::content_key("source\nsm_90"));
  request.name = "b.cu";
  CHECK(source_key(request) == plain);
  request.options = {"-DTILE=64"};
  const std::string of_64 = source_key(request);
  request.options = {"-DTILE=32"};
  CHECK(of_64 != plain);
  CHECK(source_key(request) != of_64);
}

}  // namespace test_compiler
