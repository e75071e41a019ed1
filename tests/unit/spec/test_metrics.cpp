// Metrics and objectives: what is computed of what was measured.
#include <doctest/doctest.h>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/metrics.hpp"

namespace test_metrics {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

/// Members of the template, on line 2.
KernelTemplate with(const std::string& members) {
  std::string text = sample_template();
  const std::string before = "\"attune\": 1,";
  text.replace(text.find(before), before.size(), before + " " + members + ",");
  return KernelTemplate::parse(text, {{"sample.cu", ""}}, "t.json");
}

std::string parse_error(const std::string& members) {
  return error_of([&] { (void)with(members); });
}

const Problem kProblem{{{"T", "f32"}, {"op", "sum"}}, {{"n", 1000}}};

std::map<std::string, double> values(const KernelTemplate& kernel, const Measured& measured) {
  const DeviceInfo device;
  const auto configuration = default_configuration(kernel);
  return metrics_of(kernel, make_scope(kernel, kProblem, configuration, device), measured);
}

double cost(const std::string& objective, const Measured& measured) {
  const auto kernel = with(R"("metrics": {"edp": "energy_mj * time_us"}, "objective": )" + objective);
  const DeviceInfo device;
  const auto configuration = default_configuration(kernel);
  return cost_of(kernel, make_scope(kernel, kProblem, configuration, device), measured);
}

std::string cost_error(const std::string& objective, const Measured& measured) {
  return error_of([&] { (void)cost(objective, measured); });
}

}  // namespace

TEST_CASE("metrics are computed of time, power, energy, the problem, the configuration and earlier metrics") {
  const auto kernel = with(
      R"("metrics": {"gflops": "n / time_us / 1000", "mj": "energy_mj", "per_watt": "gflops / power_w", "threads": "block_size * 1.0"})");
  const auto found = values(kernel, {4, 250});
  CHECK(found.at("gflops") == 0.25);
  CHECK(found.at("mj") == 1);  // 250 W for 4 us
  CHECK(found.at("per_watt") == 0.001);
  CHECK(found.at("threads") == 128);
}

TEST_CASE("a metric that has no finite number is left out, and so is one of a power that was not measured") {
  const auto kernel = with(
      R"s("metrics": {"time": "time_us", "broken": "1 / (n - 1000)", "of_broken": "broken + 1", "word": "T", "mj": "energy_mj", "twice": "2 * mj"})s");
  CHECK(values(kernel, {4, 0}) == std::map<std::string, double>{{"time", 4}});
  CHECK(values(kernel, {4, 500}) == std::map<std::string, double>{{"time", 4}, {"mj", 2}, {"twice", 4}});
}

TEST_CASE("what a search makes small is the time, what is minimised, or the inverse of what is maximised") {
  CHECK(cost_of(with(R"("summary": "no objective")"), scope_of({}), {7, 0}) == 7);
  CHECK(cost(R"({"minimise": "energy_mj"})", {4, 250}) == 1);
  CHECK(cost(R"({"minimise": "edp"})", {4, 250}) == 4);
  CHECK(cost(R"({"maximise": "n / time_us"})", {4, 0}) == doctest::Approx(1.0 / 250));
  const auto kernel = with(R"("objective": {"maximise": "n / time_us"})");
  CHECK(objective_value(kernel, 1.0 / 250) == doctest::Approx(250));
}

TEST_CASE("an objective without a value above 0 is an error at its place") {
  CHECK(contains(cost_error(R"({"minimise": "time_us - 4"})", {4, 0}), "t.json:2:"));
  CHECK(contains(cost_error(R"({"minimise": "time_us - 4"})", {4, 0}), "the objective \"time_us - 4\" is 0"));
  CHECK(contains(cost_error(R"({"minimise": "edp"})", {4, 0}), "needs the device's power, which was not measured"));
  CHECK(contains(cost_error(R"s({"minimise": "time_us / (n - 1000)"})s", {4, 0}), "by zero"));
}

TEST_CASE("which templates need the power is known from their text, through metrics too") {
  CHECK(!uses_power(with(R"("metrics": {"a": "time_us"})")));
  CHECK(uses_power(with(R"("metrics": {"a": "energy_mj"})")));
  CHECK(!objective_uses_power(with(R"("metrics": {"a": "energy_mj"}, "objective": {"minimise": "time_us * block_size"})")));
  CHECK(objective_uses_power(with(R"("metrics": {"a": "power_w", "b": "a * a"}, "objective": {"minimise": "b"})")));
}

TEST_CASE("wrong metrics and objectives name file, line, column and remedy") {
  const auto error = [](const std::string& members, const std::string& part) {
    const std::string said = parse_error(members);
    CAPTURE(said);
    CHECK(said.starts_with("t.json:2:"));
    CHECK(contains(said, part));
  };
  error(R"("metrics": {})", "\"metrics\" is empty");
  error(R"("metrics": {"a": "b", "b": "time_us"})", "unknown variable 'b'");  // later ones are not known yet
  error(R"("metrics": {"a": "tim_us"})", "'time_us'");
  error(R"("metrics": {"n": "time_us"})", "the name 'n' is taken by the size of the problem");
  error(R"("metrics": {"a": "in"})", "in");
  error(R"("objective": {})", R"(either {"minimise": ...} or {"maximise": ...})");
  error(R"("objective": {"minimise": "time_us", "maximise": "time_us"})", R"(either {"minimise": ...} or {"maximise": ...})");
  error(R"("objective": {"minimize": "time_us"})", "minimise");
  error(R"("objective": {"minimise": "n"})", "names nothing that is measured; use time_us, power_w, energy_mj or a metric of these");
}

TEST_CASE("what is measured has no name in a template without metrics, nor in any other expression") {
  CHECK(contains(error_of([] {
                   std::string text = sample_template();
                   text.replace(text.find("block_size * 4"), 14, "time_us * 4   ");
                   (void)KernelTemplate::parse(text, {{"sample.cu", ""}}, "t.json");
                 }),
                 "unknown variable 'time_us'"));
}

}  // namespace test_metrics
