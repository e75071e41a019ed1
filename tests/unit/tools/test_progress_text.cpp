// The line of progress: what is done, how fast, and how much of a budget of time is gone.
#include <doctest/doctest.h>

#include "tools/progress_line.hpp"

namespace test_progress_text {

using attune::session::RunProgress;
using attune::tools::progress_text;

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("under a budget of time the share of it that is gone is told, and slow rates are not rounded away") {
  RunProgress progress(1, 1, 15.0);
  const attune::spec::Problem problem{{}, {{"n", 1024}}};
  attune::session::Progress now;
  now.problem = &problem;
  now.done = 3;
  now.total = 10312;
  progress.progress(0, now, 6.0);
  const std::string text = progress_text(progress.view(6.0));
  CAPTURE(text);
  CHECK(has(text, "3/10312 configurations"));
  CHECK(has(text, "  0.5/s"));
  CHECK(has(text, "  40 % of 15 s"));
}

TEST_CASE("a budget of time that is over is not over 100 %, and without one no share is told") {
  CHECK(has(progress_text(RunProgress(1, 1, 15.0).view(16.0)), "  100 % of 15 s"));
  CHECK_FALSE(has(progress_text(RunProgress(1, 1, std::nullopt).view(16.0)), "%"));
}

TEST_CASE("what a problem waits for is named in the place of its configurations, for as long as it waits") {
  RunProgress progress(1, 1, 3.0);
  const attune::spec::Problem problem{{}, {{"n", 1024}}};
  attune::session::Progress now;
  now.problem = &problem;
  now.waits_for = "compiling the reference of template \"sum\"";
  progress.progress(0, now, 1.0);
  const std::string text = progress_text(progress.view(1.0));
  CAPTURE(text);
  CHECK(has(text, "  compiling the reference of template \"sum\"  33 % of 3 s"));
  CHECK_FALSE(has(text, "configurations"));
  now.waits_for = "";
  progress.progress(0, now, 2.0);
  CHECK(has(progress_text(progress.view(2.0)), "0/0 configurations"));
}

}  // namespace test_progress_text
