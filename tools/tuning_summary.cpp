#include "tools/tuning_summary.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kReasonLength = 160;

std::string group_heading(const session::GroupResult& group) {
  if (group.ordinals.empty()) return group.device.name;
  return fmt::format("{} ({} {})", group.device.name, group.ordinals.size() > 1 ? "devices" : "device", fmt::join(group.ordinals, ", "));
}

void print_tables(const session::RunResult& result) {
  for (const auto& group : result.groups) {
    std::vector<db::BestRow> best;
    for (const auto& problem : group.problems) {
      if (problem.best) best.push_back(*problem.best);
    }
    if (best.empty()) continue;
    if (result.groups.size() > 1) base::print("\n{}", group_heading(group));
    base::print("\n{}", base::Lines{best_table(best, {group.read_ceiling_bytes_per_s, group.device.peak_operations_per_s()})});
  }
}

/// What a search under conditions found, where the best of all known, which the table shows, is another one.
void print_restricted(const session::RunResult& result) {
  for (const auto& group : result.groups) {
    for (const auto& problem : group.problems) {
      const auto& found = problem.restricted;
      if (!found || found->configuration.empty() || (problem.best && problem.best->configuration == found->configuration)) continue;
      base::print(
          "\n{}: the fastest of the {} configurations under these conditions takes {} us by the search ({}); the best of all known stays\n",
          describe(problem.problem), found->size, format_us(found->median_us), short_configuration(found->configuration));
    }
  }
}

}  // namespace

void Workload::add(const session::Utilisation& utilisation) {
  wall_s += utilisation.wall_s;
  gpu_busy_s += utilisation.gpu_busy_s;
  verifying_s += utilisation.verifying_s;
  idle_waiting_compile_s += utilisation.idle_waiting_compile_s;
  recovering_s += utilisation.recovering_s;
  idle_other_s += utilisation.idle_other_s;
  searching_s += utilisation.searching_s;
  compile_busy_s += utilisation.compile_busy_s;
  compile_worker_s += utilisation.wall_s * utilisation.compile_workers;
  compile_workers = std::max(compile_workers, utilisation.compile_workers);
}

void Totals::add(const session::ProblemResult& result) {
  measured += result.measured;
  reused += result.reused;
  for (const auto& [outcome, count] : result.failed) failed[outcome] += count;
  failure_examples.insert(result.failure_examples.begin(), result.failure_examples.end());
  workload.add(result.utilisation);
}

Totals totals_of(const session::RunResult& result) {
  Totals totals;
  bool any = false, all_decided = true;
  for (const auto& group : result.groups) {
    for (const auto& problem : group.problems) {
      totals.add(problem);
      any = true;
      all_decided = all_decided && problem.nothing_left;
    }
  }
  totals.nothing_left = any && all_decided && result.given_up.empty();
  return totals;
}

json to_json(const Workload& workload) {
  if (!workload.known()) return nullptr;
  return {{"wall_s", workload.wall_s},
          {"gpu_busy_s", workload.gpu_busy_s},
          {"verifying_s", workload.verifying_s},
          {"idle_waiting_compile_s", workload.idle_waiting_compile_s},
          {"recovering_s", workload.recovering_s},
          {"idle_other_s", workload.idle_other_s},
          {"searching_s", workload.searching_s},
          {"compile_busy_s", workload.compile_busy_s},
          {"compile_worker_s", workload.compile_worker_s},
          {"compile_workers", workload.compile_workers}};
}

std::string workload_text(const Workload& workload) {
  const auto percent = [](double part, double whole) { return fmt::format("{:.0f} %", whole > 0 ? 100 * part / whole : 0); };
  std::string text =
      fmt::format("GPU busy {} (verifying {}), waiting {} for compiles and {} for other reasons",
                  percent(workload.gpu_busy_s, workload.wall_s), percent(workload.verifying_s, workload.wall_s),
                  percent(workload.idle_waiting_compile_s, workload.wall_s), percent(workload.idle_other_s, workload.wall_s));
  if (workload.recovering_s > 0) text += fmt::format(", recovering from failures {}", percent(workload.recovering_s, workload.wall_s));
  if (workload.compile_worker_s > 0) {
    text += fmt::format("; compile workers busy {}", percent(workload.compile_busy_s, workload.compile_worker_s));
  }
  return text;
}

std::string first_line(const std::string& reason) {
  const std::size_t begin = reason.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "no reason recorded";
  std::string line = reason.substr(begin, reason.find('\n', begin) - begin);
  if (line.size() <= kReasonLength) return line;
  std::size_t end = kReasonLength;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return line.substr(0, end) + " ...";
}

std::string failures_text(const Totals& totals) {
  std::vector<std::pair<std::string, std::uint64_t>> kinds(totals.failed.begin(), totals.failed.end());
  if (kinds.empty()) return {};
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::uint64_t lost = 0;
  for (const auto& [outcome, count] : kinds) lost += count;
  std::string text = fmt::format("Lost to failures: {} of {} configurations\n", lost, totals.measured + totals.reused);
  for (const auto& [outcome, count] : kinds) {
    text += fmt::format("  {} {}", count, base::escape_line(outcome));
    const auto example = totals.failure_examples.find(outcome);
    if (example != totals.failure_examples.end()) {
      text += fmt::format(", e.g. {}: {}", short_configuration(example->second.configuration),
                          base::escape_line(first_line(example->second.detail)));
    }
    text += "\n";
  }
  return text + "  attune show --failed has every one with its reason and source\n";
}

std::string given_up_text(const session::GivenUp& given_up) {
  return fmt::format("gave up tuning {} on {}: {}", describe(given_up.problem), base::escape_line(given_up.device_name), given_up.why);
}

void print_summary(const session::RunResult& result, bool replay) {
  const Totals totals = totals_of(result);
  print_tables(result);
  print_restricted(result);
  base::print("\n{} configurations {} in {:.1f} s, {} known from before\n", totals.measured, replay ? "replayed" : "measured",
              result.wall_s, totals.reused);
  base::print("{}", base::Lines{failures_text(totals)});
  if (totals.workload.known()) base::print("{}\n", workload_text(totals.workload));
  for (const auto& given_up : result.given_up) {
    base::tell_message(given_up_text(given_up));
  }
  if (totals.nothing_left) base::print("Nothing is left to do: every configuration of this budget was decided before.\n");
  if (result.interrupted) base::print("Interrupted; everything measured is stored. The same command continues.\n");
}

}  // namespace attune::tools
