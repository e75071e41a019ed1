#include <doctest/doctest.h>

#include <vector>

#include "attune/error.hpp"
#include "bench/support/in_processes.hpp"

namespace test_in_processes {

using namespace attune;
using bench::Json;

namespace {

Json file_of(double added_ns, double within_low, double within_high) {
  return {{"date", "2026-01-01"},
          {"timer_ns", 10 + added_ns},
          {"rows", {{{"threads", 8}, {"added_ns", added_ns}, {"added_ns_interval", {within_low, within_high}}, {"samples", 100}}}}};
}

}  // namespace

TEST_CASE(
    "of several processes each figure is the median, and its interval that of the median over them, whatever each saw within itself") {
  std::vector<Json> files;
  for (const double added : {90., -20., 10., 50., 20., 40., 30., 70., 400.}) files.push_back(file_of(added, added - 1, added + 1));
  const Json merged = bench::medians_of(files);
  CHECK(merged.at("timer_ns") == 50.0);
  const Json& row = merged.at("rows").at(0);
  CHECK(row.at("added_ns") == 40.0);
  CHECK(row.at("added_ns_interval") == Json{10.0, 90.0});  // the second and the eighth of nine: 1 - 2 * (1 + 9) / 512 = 96 %
  CHECK(row.at("samples") == 100);
  CHECK(merged.at("date") == "2026-01-01");
}

TEST_CASE("results of unlike cases are not merged, nor such without a number") {
  std::vector<Json> files{file_of(1, 0, 0), file_of(2, 0, 0)};
  files[1]["rows"][0]["threads"] = 1;
  CHECK_THROWS_WITH_AS(static_cast<void>(bench::medians_of(files)), "failed merging results: \"threads\" is not the same in all of them",
                       Error);
  files[1] = file_of(2, 0, 0);
  files[1]["timer_ns"] = nullptr;
  CHECK_THROWS_WITH_AS(static_cast<void>(bench::medians_of(files)), "failed merging results: \"timer_ns\" is no number in one of them",
                       Error);
}

TEST_CASE("too few processes for an interval of 95 % show the least and the most") {
  std::vector<Json> files;
  for (const double added : {3., 1., 2., 5., 4.}) files.push_back(file_of(added, 0, 0));
  CHECK(bench::medians_of(files).at("rows").at(0).at("added_ns_interval") == Json{1.0, 5.0});
  files.push_back(file_of(6, 0, 0));  // 1 - 2 / 64 = 97 %
  CHECK(bench::medians_of(files).at("rows").at(0).at("added_ns_interval") == Json{1.0, 6.0});
}

}  // namespace test_in_processes
