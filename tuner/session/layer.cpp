#include "tuner/session/layer.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/replay_backend.hpp"
#include "tuner/session/store.hpp"

namespace attune::session {

std::vector<db::BestRow> best_rows_of(const Recording& recording, const std::string& path, const spec::KernelTemplate& kernel) {
  ReplayBackend backend(recording, path, kernel);
  const std::string default_text = spec::to_text(kernel, spec::default_configuration(kernel));
  std::vector<db::BestRow> rows;
  for (const auto& problem : recording.problems) {
    // Its own finalists, all of them: it is its own run that is decided again.
    RunOffSamples samples{problem.finalists, problem.rounds_us, problem.rounds_per_epoch, problem.left, {}};
    if (samples.configurations.empty() || samples.rounds_us.empty()) {
      throw Error(fmt::format("failed reading {}: it holds no run-off of {}; record it again", path, spec::to_text(problem.problem)));
    }
    std::vector<std::string> asked = problem.finalists;
    for (const auto& left : problem.left) asked.push_back(left.configuration);
    const RowContext context{kernel.content_hash, kernel.name, problem.problem, recording.device.hard_key(), recording.policy,
                             recording.device.driver, recording.nvrtc, backend.origin(), recording.date};
    rows.push_back(to_best_row(context, decide(samples, problem.measurements, default_text), samples, problem.work_bytes, std::nullopt,
                               default_text, asked));
  }
  return rows;
}

}  // namespace attune::session
