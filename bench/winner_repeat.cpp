// Whether tuning repeats: one tuning run many times, each with an empty database and, unless it is kept, an empty cache, and the
// winners compared. At the end every configuration that any run named is run off against all others in one process.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/device_shares.hpp"
#include "bench/support/json.hpp"
#include "bench/support/paired_run.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/tuned_winner.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {
namespace {

constexpr char kBench[] = "winner_repeat";

struct Settings {
  std::string output;
  std::string template_name = "reduce";
  std::vector<std::string> arguments = {"--T", "f32", "--op", "sum", "--size", "2^22"};
  int runs = 20;
  std::string devices = "0";  ///< that share the runs
  bool keep_cache = false;
  bool more = false;  ///< than the runs of the file that is there
};

struct Decision {
  TunedWinner tuned;
  int device = 0;
};

std::string modal_winner(const std::vector<Decision>& decisions) {
  std::map<std::string, int> wins;
  for (const auto& decision : decisions) ++wins[decision.tuned.winner];
  return std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

template <class Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_of(const Decision& decision, const std::string& modal, const std::map<std::string, double>& relative) {
  const TunedWinner& tuned = decision.tuned;
  double fastest = 0, slowest = 0;
  for (const auto& member : tuned.tie_set) {
    const double time = relative.at(member);
    fastest = fastest == 0 ? time : std::min(fastest, time);
    slowest = std::max(slowest, time);
  }
  const bool agrees = tuned.winner == modal || std::find(tuned.tie_set.begin(), tuned.tie_set.end(), modal) != tuned.tie_set.end();
  Json ties = Json::array();
  for (const auto& member : tuned.tie_set) ties.push_back(parse_json(member));
  const auto fastest_of_all =
      std::min_element(relative.begin(), relative.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {{"device_ordinal", decision.device},
          {"over_fastest", relative.at(tuned.winner) / fastest_of_all->second},
          {"winner", parse_json(tuned.winner)},
          {"tie_set", ties},
          {"agrees", agrees},
          {"is_modal", tuned.winner == modal},
          {"best_us", tuned.best_us},
          {"finalists", optional_json(tuned.finalists)},
          {"tie_set_spread", slowest / fastest},
          {"command_s", tuned.command_s}};
}

/// All runs, in the order of their numbers; each device makes its share one after the other.
std::vector<Decision> decide_all(const Settings& settings, const std::filesystem::path& executable, const DeviceShares& devices) {
  const test::TempFolder scratch;
  std::vector<std::string> words{settings.template_name};
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  std::vector<Decision> decisions(static_cast<std::size_t>(settings.runs));
  devices.for_each(decisions.size(), [&](std::size_t run, int device) {
    const auto folder = scratch / fmt::format("device{}", device);
    std::filesystem::create_directory(folder);
    const auto tuned = tune_once(executable, words, folder, run, device, settings.keep_cache ? Cache::Kept : Cache::Empty);
    decisions[run] = {tuned, device};
    fmt::print(stderr, "run {}: {} ({:.3f} us, {} tied, {:.1f} s)\n", run + 1, tuned.winner, tuned.best_us, tuned.tie_set.size(),
               tuned.command_s);
  });
  return decisions;
}

Decision decision_of(const Json& row, const std::string& problem) {
  TunedWinner tuned;
  tuned.problem = problem;
  tuned.winner = dump_json(row.at("winner"));
  for (const auto& member : row.at("tie_set")) tuned.tie_set.push_back(dump_json(member));
  if (const Json finalists = row.value("finalists", Json()); !finalists.is_null()) tuned.finalists = finalists;
  tuned.best_us = row.at("best_us");
  tuned.command_s = row.at("command_s");
  return {tuned, row.at("device_ordinal")};
}

/// What runs must have in common to be counted together, as the file has it.
Json common_fields(const Settings& settings, const spec::DeviceInfo& device) {
  return {{"driver", device.driver},
          {"content", content_hash()},
          {"template", settings.template_name},
          {"arguments", settings.arguments},
          {"compiled_code_kept", settings.keep_cache}};
}

/// The runs of the file that is there; none without --more.
/// Throws: UsageError when there is none, or its runs are not like those that are asked for.
std::vector<Decision> earlier_runs(const Settings& settings, const std::filesystem::path& folder, const spec::DeviceInfo& device) {
  if (!settings.more) return {};
  const auto path = results_path(folder, kBench, device);
  if (!std::filesystem::exists(path))
    throw UsageError(fmt::format("failed adding runs to {}: there is no such file; leave --more away", path.string()));
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("failed adding runs to {}: {}; leave --more away to begin anew", path.string(), why));
  };
  std::vector<Decision> decisions;
  try {
    const Json file = parse_json(base::read_file(path));
    const Json common = common_fields(settings, device);
    for (const auto& [field, wanted] : common.items()) {
      const Json found = file.value(field, Json());
      if (found != wanted) refuse(fmt::format("its \"{}\" is {}, not {}", field, dump_json(found), dump_json(wanted)));
    }
    if (const auto difference = spec::DeviceInfo::from_json(base::parse_json(dump_json(file.at("device")))).hard_difference(device);
        !difference.empty())
      refuse("its device has " + difference);
    for (const auto& row : file.at("rows")) decisions.push_back(decision_of(row, dump_json(file.at("problem"))));
  } catch (const nlohmann::json::exception& error) {
    refuse(error.what());
  }
  return decisions;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const DeviceShares devices(settings.devices);
  const auto& device = devices.device();
  const auto executable = attune_executable();
  auto decisions = earlier_runs(settings, folder, device);
  const auto made = decide_all(settings, executable, devices);
  decisions.insert(decisions.end(), made.begin(), made.end());
  std::set<std::string> named;
  std::set<int> used;
  for (const auto& decision : decisions) {
    used.insert(decision.device);
    named.insert(decision.tuned.tie_set.begin(), decision.tuned.tie_set.end());
    named.insert(decision.tuned.winner);
  }
  const std::string& problem = decisions.front().tuned.problem;
  const auto kernel = spec::TemplateLibrary().find(settings.template_name);
  const auto final_run = summarise(run_off_all(executable, devices.ordinals().front(), kernel, spec::problem_from_text(problem), named));
  const auto& paired_us = final_run.median_us;
  const std::string modal = modal_winner(decisions);
  std::vector<Json> rows;
  int agreeing = 0;
  for (const auto& decision : decisions) {
    rows.push_back(row_of(decision, modal, final_run.relative));
    agreeing += rows.back().at("agrees").get<bool>() ? 1 : 0;
  }
  Json paired = Json::object();
  for (const auto& [configuration, us] : paired_us) paired[configuration] = us;
  Json fields = common_fields(settings, device);
  fields.update(Json{{"problem", parse_json(problem)},
                     {"policy", "cold/graph"},
                     {"runs", decisions.size()},
                     {"devices", used.size()},
                     {"agreeing", agreeing},
                     {"modal_winner", parse_json(modal)},
                     {"paired_us", paired},
                     {"epoch_sd", optional_json(final_run.epoch_sd)},
                     {"round_sd", optional_json(final_run.round_sd)}});
  const auto path = write_results(folder, kBench, device, fields, rows);
  fmt::print(stderr, "{} of {} runs agree; written to {}\n", agreeing, decisions.size(), path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Repeats one tuning run and writes <output>/<device>/winner_repeat.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--template", settings.template_name, "Template to tune").with_default();
  line.option("--runs", settings.runs, "Repetitions").with_default().within(1, 1000);
  line.option("--device", settings.devices, "Ordinals of equal devices that share the runs, and the processors, e.g. 0,1").with_default();
  line.flag("--more", settings.more,
            "Adds --runs runs to those of the file, which must be of this content, driver, kind of device and command");
  line.flag("--keep-cache", settings.keep_cache, "Compiled code is kept from one run to the next: searching and measuring repeat");
  line.option("arguments", settings.arguments, "The tune command's further words, after --");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
