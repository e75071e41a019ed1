#include <doctest/doctest.h>

#include <string>

#include "tuner/compile/recent_results.hpp"

namespace test_recent_results {

using namespace attune::compile;

namespace {

CompileResult result_of(std::size_t bytes, CompileStatus status = CompileStatus::Ok) {
  CompileResult result;
  result.status = status;
  result.cubin = std::string(bytes, 'c');
  result.log = "warned\n";
  result.compile_ms = 33;
  result.headers = HeaderUse::Created;
  result.headers_refusal = "of its worker";
  return result;
}

}  // namespace

TEST_CASE("a remembered result is the same but for what belonged to its compilation") {
  RecentResults results(1 << 20);
  results.store("a", result_of(100));
  const auto found = results.find("a");
  REQUIRE(found);
  CHECK(found->cubin == std::string(100, 'c'));
  CHECK(found->log == "warned\n");
  CHECK(found->key == "a");
  CHECK(found->from_cache);
  CHECK(found->compile_ms == 0);
  CHECK(found->headers == HeaderUse::None);
  CHECK(found->headers_refusal.empty());
  CHECK_FALSE(results.find("b"));
}

TEST_CASE("failures are remembered, deadlines and breakdowns are not") {
  RecentResults results(1 << 20);
  results.store("failed", result_of(1, CompileStatus::Failed));
  results.store("late", result_of(1, CompileStatus::TimedOut));
  results.store("crashed", result_of(1, CompileStatus::Crashed));
  CHECK(results.find("failed"));
  CHECK_FALSE(results.find("late"));
  CHECK_FALSE(results.find("crashed"));
}

TEST_CASE("the least recently used results go first, and the limit holds") {
  RecentResults results(30'000);
  for (const char* key : {"a", "b", "c"}) results.store(key, result_of(9'000));
  CHECK(results.find("a"));
  results.store("d", result_of(9'000));
  CHECK(results.bytes() <= 30'000);
  CHECK(results.find("a"));
  CHECK_FALSE(results.find("b"));
  CHECK(results.find("c"));
  CHECK(results.find("d"));
  results.store("huge", result_of(40'000));
  CHECK_FALSE(results.find("huge"));
  CHECK(results.find("d"));
}

TEST_CASE("storing a key again changes nothing") {
  RecentResults results(1 << 20);
  results.store("a", result_of(100));
  const std::size_t bytes = results.bytes();
  results.store("a", result_of(200));
  CHECK(results.bytes() == bytes);
  CHECK(results.find("a")->cubin.size() == 100);
}

}  // namespace test_recent_results
