#include "tools/ladder_page.hpp"

#include <algorithm>
#include <set>

#include "tools/output_target.hpp"
#include "tuner/report/writers.hpp"

namespace attune::tools {
namespace {

/// Only what the command was about: the database may hold much more of the template.
void keep_problems(report::Report& report, const std::set<std::string>& wanted) {
  for (auto& series : report.series) {
    std::erase_if(series.problems, [&](const report::ProblemReport& problem) { return !wanted.contains(problem.problem); });
  }
  std::erase_if(report.series, [](const report::Series& series) { return series.problems.empty(); });
}

}  // namespace

void write_ladder_page(const std::string& path, const LadderPage& page) {
  report::Request request;
  request.template_name = page.kernel.name;
  request.device = page.device_key;
  request.policy = page.policy;
  report::Report report = report::build(page.database, request);
  std::set<std::string> wanted;
  for (const auto& ladder : page.ladders) wanted.insert(spec::to_text(ladder.tuned.problem));
  keep_problems(report, wanted);
  for (auto& series : report.series) {
    for (auto& problem : series.problems) {
      if (!problem.ladder) continue;
      for (const auto& peer : page.peers.of(page.kernel.name, spec::problem_from_text(problem.problem))) {
        problem.ladder->peers.push_back({peer.name, peer.median_us, peer.version, peer.driver, peer.date});
      }
    }
  }
  write_output_target(path, report::write(report, report::Format::Html));
}

}  // namespace attune::tools
