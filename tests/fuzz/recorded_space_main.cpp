// Recorded spaces of others: caches of Kernel Tuner and T4 results, plain and packed. What is read is searched and scored.
#include <cmath>
#include <stdexcept>

#include "attune/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/simulate/simulation.hpp"

namespace {

using namespace attune;

const std::string kCache = R"({"kernel_name": "k", "tune_params_keys": ["a", "b"], "tune_params": {"a": [1, 2], "b": ["x", true]},
"objective": "time", "cache": {
"1,x": {"a": 1, "b": "x", "time": 2.5, "times": [2.25, 2.75]},
"2,x": {"a": 2, "b": "x", "time": "InvalidConfig"},
"1,True": {"time": 1.5},
"2,True": {"a": 2, "b": true, "time": {"__error__": "RuntimeFailedConfig"}})";  // interrupted

const std::string kResults = R"({"results": [
{"configuration": {"a": 1, "b": 0.5}, "invalidity": "correct", "measurements": [{"name": "time", "value": 2.5, "unit": "ms"}], "objectives": ["time"]},
{"configuration": {"a": 2, "b": 1}, "invalidity": "runtime", "measurements": [{"name": "time", "value": "RuntimeFailedConfig"}]},
{"configuration": {"a": 2, "b": 0.5}, "measurements": [{"name": "time", "value": NaN}]}], "schema_version": "1.0.0"})";

/// An error of reading names the file, and its exit code says that the file is at fault.
std::vector<simulate::RecordedSpace> read(const std::filesystem::path& path) {
  try {
    return simulate::read_recorded_spaces(path);
  } catch (const SpecError& error) {
    if (error.file() != path.string() || error.exit_code() != ExitCode::Spec) throw std::logic_error("a refusal that names no file");
    throw;
  } catch (const Error& error) {
    throw std::logic_error(std::string("a refusal that is no SpecError: ") + error.what());
  }
}

void use(const simulate::RecordedSpace& recorded) {
  const auto size = recorded.space.size();
  if (size == 0 || recorded.costs.size() != size || recorded.failures.size() != size) throw std::logic_error("costs beside configurations");
  for (std::size_t i = 0; i < size; ++i)
    if (recorded.costs[i].has_value() == !recorded.failures[i].empty()) throw std::logic_error("a cost and a failure, or neither");
  const auto proposals = simulate::run_search(recorded, {.kind = search::StrategyKind::Random, .seed = 1}, size + 1);
  if (proposals.size() != size) throw std::logic_error("random search does not reach the whole space");
  (void)recorded.configuration_text(proposals.front());
  const simulate::SearchScore scale(recorded.costs);
  const auto score = scale.score({simulate::trace_of(recorded, proposals)});
  if (score && (!std::isfinite(*score) || *score > 1 + 1e-9)) throw std::logic_error("a score that is none");
}

}  // namespace

int main(int argc, char** argv) {
  const test::TempFolder folder;
  const auto path = folder / "space.json";
  return test::fuzz_main(argc, argv, "recorded_space",
                         {kCache, kCache + "}}", kResults, test::gzip(kCache), test::gzip(kResults) + test::gzip(""),
                          base::compress(kResults), R"({"attune_recording":1})"},
                         {"[",
                          "]",
                          "{\"a\":",
                          "}",
                          "}}",
                          "\n}\n}",
                          ",",
                          "1e400",
                          "1e20",
                          "-1",
                          "null",
                          "true",
                          "NaN",
                          "-Infinity",
                          "\"NaN\"",
                          "\\u0000",
                          "\"cache\":",
                          "\"results\":",
                          "\"__error__\":",
                          "\"objective\":",
                          "\"tune_params_keys\":",
                          "\"configuration\":",
                          "\"1,x\"",
                          "\xFF",
                          "\x1F\x8B",
                          "\x28\xB5\x2F\xFD",
                          std::string(1, '\0')},
                         [&](const std::string& input) {
                           test::write_bytes(path, input);
                           for (const auto& recorded : read(path)) use(recorded);
                         });
}
