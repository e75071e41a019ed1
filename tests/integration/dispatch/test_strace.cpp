// The hot path as strace sees it: an independent look at what test_hot_path.cpp counts by itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/skip.hpp"
#include "tuner/base/json.hpp"

namespace test_strace {

using namespace attune;
using namespace attune::test;

namespace {

constexpr const char* kTemplates = ATTUNE_SOURCE_DIR "/tests/support/fake_templates";

struct Traced : FakeGpu {
  [[nodiscard]] CommandResult dispatch(std::vector<std::string> words, const std::string& kernel, long launches) const {
    auto with = environment;
    with["ATTUNE_FAKE_CUDA"] = base::dump_json(settings);
    words.insert(words.end(), {ATTUNE_DISPATCH_ONCE, kTemplates, kernel, "1000", std::to_string(launches)});
    return run(words, with);
  }
  /// Through a shell, which says so by its exit code when there is no strace.
  [[nodiscard]] CommandResult trace(const std::string& kernel, long launches) const {
    return dispatch({"/bin/sh", "-c", "exec \"$@\"", "sh", "strace", "-f", "-o", (folder / "trace").string()}, kernel, launches);
  }
  /// System calls of a whole process with so many launches. The fewest of three: where the loader puts things is
  /// chance.
  [[nodiscard]] long system_calls(const std::string& kernel, long launches) const {
    long fewest = -1;
    for (int i = 0; i < 3; ++i) {
      REQUIRE(trace(kernel, launches).exit_code == 0);
      std::ifstream file(folder / "trace");
      long lines = 0;
      for (std::string line; std::getline(file, line);) lines += line.find('(') != std::string::npos ? 1 : 0;
      fewest = fewest < 0 ? lines : std::min(fewest, lines);
    }
    return fewest;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Traced, "twenty thousand launches more are not one system call more, as strace sees it") {
  for (const char* const kernel : {"copy", "sum"}) {
    CAPTURE(kernel);
    const auto untraced = dispatch({}, kernel, 1);  // compiles the default into the cache
    REQUIRE_MESSAGE(untraced.exit_code == 0, untraced.err);
    if (const auto traced = trace(kernel, 1); traced.exit_code != 0) {
      return skip("strace is not here, or may not trace: " + traced.err);
    }
    const long few = system_calls(kernel, 2), many = system_calls(kernel, 20002);
    CHECK(few > 100);
    CHECK(many == few);
    record_figures(13, std::string("strace_") + kernel, {{"launches", 20000}, {"system_calls", many - few}, {"process", few}});
  }
}

}  // namespace test_strace
