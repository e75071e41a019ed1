// Whether tuning repeats: one tuning run many times, each with an empty database and, unless it is kept, an empty cache, and the
// winners compared; or what other ways to search find beside it (--search). At the end every configuration that any run named is
// run off against all others in one process.
#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/paired_run.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tools/device_list.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/session/source/live_backend.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {
namespace {

struct Settings {
  std::string output;
  std::string template_name = "reduce";
  std::vector<std::string> arguments = {"--T", "f32", "--op", "sum", "--size", "2^22"};
  int runs = 20;
  std::string devices = "0";  ///< that share the runs
  bool keep_cache = false;
  bool more = false;                  ///< than the runs of the file that is there
  std::vector<std::string> searches;  ///< further words of the command, one text a search; each is run `runs` times
};

/// What one run decided.
struct Decision {
  std::string search, problem;
  int device = 0;
  std::string winner;
  std::vector<std::string> tie_set;  ///< the winner among them
  double seconds = 0;
  double best_us = 0;
  std::optional<std::size_t> finalists;  ///< that ran off; nothing: the file did not tell
};

/// `scratch`: of this device.
Decision decide_once(const Settings& settings, const std::string& search, const std::filesystem::path& executable,
                     const std::filesystem::path& scratch, std::size_t number, int device) {
  const auto path = scratch / fmt::format("{}.db", number);
  std::vector<std::string> words{"tune", settings.template_name};
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  std::istringstream further(search);
  words.insert(words.end(), std::istream_iterator<std::string>(further), {});
  words.insert(words.end(), {"--db", path.string(), "--device", std::to_string(device)});
  Decision decision;
  decision.search = search;
  decision.device = device;
  decision.seconds = run_attune(executable, words, scratch, settings.keep_cache ? Cache::Kept : Cache::Empty).wall_s;
  const auto rows = db::Database::open(path, db::OpenMode::ReadOnly).best({});
  if (rows.size() != 1) throw UsageError("failed repeating a run: give arguments of exactly one problem");
  decision.problem = rows.front().problem;
  decision.winner = rows.front().configuration;
  decision.best_us = rows.front().median_us;
  const auto detail = base::parse_json(rows.front().detail_json);
  decision.finalists = detail.at("finalists").size();
  for (const auto& finalist : detail.at("finalists")) {
    if (finalist.at("tied").get<bool>()) decision.tie_set.push_back(finalist.at("configuration"));
  }
  return decision;
}

std::string modal_winner(const std::vector<Decision>& decisions) {
  std::map<std::string, int> wins;
  for (const auto& decision : decisions) ++wins[decision.winner];
  return std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

template <class Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

PairedRun final_paired_run(const Settings& settings, const std::filesystem::path& executable, int device, const spec::Problem& problem,
                           const std::set<std::string>& named) {
  const auto kernel = spec::TemplateLibrary().find(settings.template_name);
  measure::GpuExecutor::Options gpu;
  gpu.worker = executable;
  gpu.device = device;
  session::LiveBackend::Options options;
  options.worker = executable;
  session::LiveBackend backend(options, std::make_unique<measure::GpuExecutor>(gpu));
  backend.prepare(kernel, problem);
  std::vector<spec::Configuration> configurations;
  for (const auto& text : named) configurations.push_back(spec::configuration_from_text(kernel, text));
  session::Race::Options race;
  race.most = 41;
  race.all_stay = true;
  const auto samples = backend.run_off(configurations, race, 7);
  if (!samples || !samples->failed.empty()) throw Error("failed running off the winners: one of them does not work any more");
  return summarise(*samples);
}

Json row_of(const Decision& decision, const std::string& modal, const std::map<std::string, double>& relative) {
  double fastest = 0, slowest = 0;
  for (const auto& member : decision.tie_set) {
    const double time = relative.at(member);
    fastest = fastest == 0 ? time : std::min(fastest, time);
    slowest = std::max(slowest, time);
  }
  const bool agrees =
      decision.winner == modal || std::find(decision.tie_set.begin(), decision.tie_set.end(), modal) != decision.tie_set.end();
  Json ties = Json::array();
  for (const auto& member : decision.tie_set) ties.push_back(parse_json(member));
  const auto fastest_of_all =
      std::min_element(relative.begin(), relative.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {{"search", decision.search},
          {"device_ordinal", decision.device},
          {"over_fastest", relative.at(decision.winner) / fastest_of_all->second},
          {"winner", parse_json(decision.winner)},
          {"tie_set", ties},
          {"agrees", agrees},
          {"is_modal", decision.winner == modal},
          {"best_us", decision.best_us},
          {"finalists", optional_json(decision.finalists)},
          {"tie_set_spread", slowest / fastest},
          {"command_s", decision.seconds}};
}

/// This thread, and what it starts, runs on one of `parts` equal shares of the processors only, so that no run compiles where another
/// times.
void run_on_share_of_cpus(std::size_t part, std::size_t parts) {
  const auto available = base::available_cpus();
  if (available.size() < parts) return;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (std::size_t i = part * available.size() / parts; i < (part + 1) * available.size() / parts; ++i) CPU_SET(available[i], &cpus);
  if (::sched_setaffinity(0, sizeof cpus, &cpus) != 0) throw EnvironmentError("failed sharing the processors among the devices");
}

/// All runs, in the order of their numbers; each device makes its share one after the other, of every search as many as the others make.
std::vector<Decision> decide_all(const Settings& settings, const std::filesystem::path& executable, const std::vector<int>& devices) {
  const test::TempFolder scratch;
  const auto searches = settings.searches.empty() ? std::vector<std::string>{""} : settings.searches;
  std::vector<Decision> decisions(searches.size() * static_cast<std::size_t>(settings.runs));
  std::atomic<bool> failed = false;
  const auto share = [&](std::size_t part) {
    try {
      if (devices.size() > 1) run_on_share_of_cpus(part, devices.size());
      const auto folder = scratch / fmt::format("device{}", devices[part]);
      std::filesystem::create_directory(folder);
      for (std::size_t i = 0; i < decisions.size() && !failed; ++i) {
        const std::size_t search = i % searches.size(), repetition = i / searches.size();
        if ((search + repetition) % devices.size() != part) continue;
        decisions[i] = decide_once(settings, searches[search], executable, folder, i, devices[part]);
        fmt::print(stderr, "run {}: {} ({:.3f} us, {} tied, {:.1f} s)\n", i + 1, decisions[i].winner, decisions[i].best_us,
                   decisions[i].tie_set.size(), decisions[i].seconds);
      }
    } catch (...) {
      failed = true;
      throw;
    }
  };
  std::vector<std::future<void>> shares;
  for (std::size_t part = 0; part < devices.size(); ++part) shares.push_back(std::async(std::launch::async, share, part));
  for (auto& one : shares) one.get();
  return decisions;
}

Decision decision_of(const Json& row, const std::string& problem) {
  Decision decision{row.at("search"),  problem, row.at("device_ordinal"), dump_json(row.at("winner")), {}, row.at("command_s"),
                    row.at("best_us"), {}};
  if (const Json finalists = row.value("finalists", Json()); !finalists.is_null()) decision.finalists = finalists;
  for (const auto& member : row.at("tie_set")) decision.tie_set.push_back(dump_json(member));
  return decision;
}

std::string name_of_results(const Settings& settings) { return settings.searches.empty() ? "winner_repeat" : "search_quality"; }

/// What runs must have in common to be counted together, as the file has it.
Json common_fields(const Settings& settings, const spec::DeviceInfo& device) {
  return {{"driver", device.driver},         {"content", content_hash()},     {"template", settings.template_name},
          {"arguments", settings.arguments}, {"searches", settings.searches}, {"compiled_code_kept", settings.keep_cache}};
}

/// The runs of the file that is there; none without --more.
/// Throws: UsageError when there is none, or its runs are not like those that are asked for.
std::vector<Decision> earlier_runs(const Settings& settings, const std::filesystem::path& folder, const spec::DeviceInfo& device) {
  if (!settings.more) return {};
  const auto path = results_path(folder, name_of_results(settings), device);
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

/// Throws: UsageError when they are not equal, what reading a device throws.
spec::DeviceInfo device_of_all(const std::vector<int>& ordinals) {
  const auto device = gpu::read_device(ordinals.front());
  for (const int ordinal : ordinals) {
    if (gpu::read_device(ordinal).hard_key() != device.hard_key()) {
      throw UsageError(fmt::format("failed sharing the runs: devices {} and {} are not equal", ordinals.front(), ordinal));
    }
  }
  return device;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto list = tools::DeviceList::parse(settings.devices);
  if (list.all) throw UsageError("failed sharing the runs: name the devices, e.g. 0,1");
  const auto& devices = list.ordinals;
  const auto device = device_of_all(devices);
  const auto executable = attune_executable();
  auto decisions = earlier_runs(settings, folder, device);
  const auto made = decide_all(settings, executable, devices);
  decisions.insert(decisions.end(), made.begin(), made.end());
  std::set<std::string> named;
  std::set<int> used;
  for (const auto& decision : decisions) {
    used.insert(decision.device);
    named.insert(decision.tie_set.begin(), decision.tie_set.end());
    named.insert(decision.winner);
  }
  const std::string& problem = decisions.front().problem;
  const auto final_run = final_paired_run(settings, executable, devices.front(), spec::problem_from_text(problem), named);
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
                     {"runs", decisions.size() / std::max<std::size_t>(settings.searches.size(), 1)},
                     {"devices", used.size()},
                     {"agreeing", agreeing},
                     {"modal_winner", parse_json(modal)},
                     {"paired_us", paired},
                     {"epoch_sd", optional_json(final_run.epoch_sd)},
                     {"round_sd", optional_json(final_run.round_sd)}});
  const auto path = write_results(folder, name_of_results(settings), device, fields, rows);
  fmt::print(stderr, "{} of {} runs agree; written to {}\n", agreeing, decisions.size(), path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "Repeats one tuning run and writes <output>/<device>/winner_repeat.json; with --search search_quality.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--template", settings.template_name, "Template to tune").with_default();
  line.option("--runs", settings.runs, "Repetitions").with_default().within(1, 1000);
  line.option("--device", settings.devices, "Ordinals of equal devices that share the runs, and the processors, e.g. 0,1").with_default();
  line.flag("--more", settings.more,
            "Adds --runs runs to those of the file, which must be of this content, driver, kind of device and command");
  line.flag("--keep-cache", settings.keep_cache, "Compiled code is kept from one run to the next: searching and measuring repeat");
  line.option("--search", settings.searches, "A way to search, e.g. \"--strategy random --budget 17s\"; may be repeated").one_at_a_time();
  line.option("arguments", settings.arguments, "The tune command's further words, after --");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
