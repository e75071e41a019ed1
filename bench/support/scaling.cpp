#include "bench/support/scaling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/median.hpp"

namespace attune::bench {
namespace {

std::vector<double> of_rounds(const Json& rounds, const char* name) {
  std::vector<double> values;
  for (const auto& round : rounds) values.push_back(round.at(name));
  return values;
}

}  // namespace

Json use_of_devices(const AttuneRun& run, int gpus) {
  std::vector<double> elapsed_s;
  double first_s = run.wall_s, ending_s = 0, searching_s = 0;
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const auto& event = run.events[i];
    if (event.at("event") != "problem") continue;
    elapsed_s.push_back(event.at("elapsed_s"));
    ending_s = std::max(ending_s, run.event_s[i]);
    first_s = std::min(first_s, run.event_s[i] - elapsed_s.back());
    searching_s += event.at("utilisation").at("wall_s").get<double>();
  }
  if (elapsed_s.empty()) throw Error("failed measuring how tuning scales: no problem was tuned");
  const double devices_s = gpus * run.wall_s, tuning_s = std::accumulate(elapsed_s.begin(), elapsed_s.end(), 0.0);
  const auto& used = run.event("end").at("utilisation");
  const auto share = [&](const char* what) { return used.at(what).get<double>() / devices_s; };
  return {{"command_s", run.wall_s},
          {"tuning", tuning_s / devices_s},
          {"searching", searching_s / devices_s},
          {"gpu_busy", share("gpu_busy_s")},
          {"gpu_waited_for_compiles", share("idle_waiting_compile_s")},
          {"gpu_waited_otherwise", share("idle_other_s")},
          {"before_first_problem_s", first_s},
          {"after_last_problem_s", run.wall_s - ending_s},
          {"problems", elapsed_s.size()},
          {"configurations", verified_records(run)}};
}

double starting_s(const Json& use) { return use.at("before_first_problem_s").get<double>() + use.at("after_last_problem_s").get<double>(); }

Scaling::Scaling(const ScalingSettings& settings, std::filesystem::path executable)
    : settings_(settings), executable_(std::move(executable)) {
  for (const int gpus : settings_.gpus) {
    if (gpus < 2 || settings_.problems % gpus != 0)
      throw UsageError(fmt::format("{} problems are not shared equally by {} GPUs; state at least 2, and a multiple as --scaling-problems",
                                   settings_.problems, gpus));
  }
}

AttuneRun Scaling::tune(int first, int step, const std::string& devices, int number) const {
  constexpr int kSmallest = 1'000'000, kStep = 83'000;
  const int count = (settings_.problems - first + step - 1) / step;
  const int last = first + (count - 1) * step;
  const auto sizes = fmt::format("{}..{}:+{}", kSmallest + kStep * first, kSmallest + kStep * last, kStep * step);
  const auto database = scratch_.path() / fmt::format("{}.db", number);
  AttuneRun run = run_attune(executable_,
                             {"tune", "reduce", "--T", "f32", "--op", "sum", "--size", sizes, "--strategy", "random", "--budget",
                              std::to_string(settings_.budget), "--device", devices, "--db", database.string()},
                             scratch_.path(), Cache::Kept);
  std::filesystem::remove(database);
  return run;
}

/// The same shares of the problems at the same time, by a command each. Until the last of them ends.
Json Scaling::apart(int gpus) {
  std::vector<std::future<AttuneRun>> commands;
  for (int i = 0; i < gpus; ++i) {
    const int number = ++commands_;
    commands.push_back(std::async(std::launch::async, [=, this] { return tune(i, gpus, std::to_string(i), number); }));
  }
  Json all = Json::array();
  for (auto& command : commands) all.push_back(use_of_devices(command.get(), 1));
  return all;
}

Json Scaling::round(int gpus, const std::string& devices) {
  Json alone = Json::array();
  double one_by_one_s = 0, starts_s = 0;
  for (int i = 0; i < gpus; ++i) {
    alone.push_back(use_of_devices(tune(i, gpus, std::to_string(i), ++commands_), 1));
    one_by_one_s += alone.back().at("command_s").get<double>();
    starts_s += starting_s(alone.back());
  }
  const Json together = use_of_devices(tune(0, 1, devices, ++commands_), gpus);
  const double less_starts_s = one_by_one_s - starts_s * (gpus - 1) / gpus;  // one command for all would start and end once
  Json round{{"speedup", less_starts_s / together.at("command_s").get<double>()},
             {"one_by_one_s", less_starts_s},
             {"together", together},
             {"alone", std::move(alone)}};
  if (settings_.apart) {
    round["apart"] = apart(gpus);
    double last_s = 0;
    for (const auto& command : round["apart"]) last_s = std::max(last_s, command.at("command_s").get<double>());
    round["speedup_apart"] = one_by_one_s / last_s;
  }
  fmt::print(stderr, "{} GPUs: {}\n", gpus, dump_json(round));
  return round;
}

std::vector<Json> Scaling::rows() {
  constexpr int kSomeOf = 8;  // few codes are of one problem alone
  std::vector<Json> rows;
  for (const int gpus : settings_.gpus) {
    std::string devices = "0";
    for (int i = 1; i < gpus; ++i) devices += fmt::format(",{}", i);
    (void)tune(0, kSomeOf, devices, ++commands_);
    Json rounds = Json::array();
    for (int i = 0; i < settings_.rounds; ++i) rounds.push_back(round(gpus, devices));
    const auto& last = rounds.back().at("together");
    rows.push_back({{"case", "scaling"},
                    {"gpus", gpus},
                    {"budget", settings_.budget},
                    {"problems", last.at("problems")},
                    {"configurations", last.at("configurations")},
                    {"speedup", base::median(of_rounds(rounds, "speedup"))}});
    if (settings_.apart) rows.back()["speedup_apart"] = base::median(of_rounds(rounds, "speedup_apart"));
    rows.back()["rounds"] = std::move(rounds);
  }
  return rows;
}

}  // namespace attune::bench
