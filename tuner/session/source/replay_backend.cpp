#include "tuner/session/source/replay_backend.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "attune/error.hpp"

namespace attune::session {

ReplayBackend::ReplayBackend(Recording recording, const std::string& path, const spec::KernelTemplate& kernel)
    : recording_(std::move(recording)),
      path_(path),
      origin_("recording:" + std::filesystem::path(path).filename().string()),
      kernel_(&kernel) {
  if (!recording_.imported_from.empty()) {
    throw UsageError(fmt::format(
        "failed replaying {}: it was imported ({}), so attune neither measured nor verified anything in it, and its times would stand beside "
        "measured ones; let searches learn from it: attune simulate {} --strategy model, or attune tune ... --strategy portfolio --try {}",
        path, recording_.imported_from, path, path));
  }
  if (recording_.template_hash != kernel.content_hash) {
    throw UsageError(fmt::format(
        "failed replaying {}: it was recorded with version {} of template \"{}\", the template here is version {}; record it again "
        "on a GPU (attune record), or use the sources it was made with",
        path, recording_.template_hash.substr(0, 12), recording_.template_name, kernel.content_hash.substr(0, 12)));
  }
}

void ReplayBackend::prepare(const spec::KernelTemplate&, const spec::Problem& problem) {
  missing_ = 0;
  current_ = recording_.find(problem);
  if (current_ == nullptr) {
    std::vector<std::string> known;
    for (const auto& recorded : recording_.problems) known.push_back(spec::to_text(recorded.problem));
    throw UsageError(fmt::format("failed replaying {}: the recording ({}) holds no such problem; it holds {}", spec::to_text(problem),
                                 origin_, fmt::join(known, ", ")));
  }
  by_configuration_.clear();
  for (const auto& measurement : current_->measurements) {
    by_configuration_.emplace(configuration_of(measurement), &measurement);
  }
  ready_.clear();
}

/// The recording is of this template by its hash, which whoever wrote the file has chosen.
spec::Configuration ReplayBackend::configuration_of(const measure::Measurement& measurement) const {
  try {
    return spec::configuration_from_text(*kernel_, measurement.configuration);
  } catch (const Error& error) {
    throw SpecError(path_, 0, 0, fmt::format("failed replaying {}: {}", spec::to_text(current_->problem), error.what()));
  }
}

void ReplayBackend::submit(const spec::Configuration& configuration) {
  // A recording may hold a small part of a space: what is not in it is passed over without a text or a note of its own.
  const auto found = by_configuration_.find(configuration);
  if (found == by_configuration_.end()) {
    ++missing_;
    return;
  }
  on_hand_over({found->second->configuration});
  ready_.push_back(*found->second);
}

std::vector<measure::Measurement> ReplayBackend::collect(std::chrono::milliseconds) { return std::exchange(ready_, {}); }

std::optional<RunOffSamples> ReplayBackend::run_off(const std::vector<spec::Configuration>& finalists, const Race::Options&,
                                                    std::uint64_t) {
  // The recorded rounds are of the recording's own finalists. They answer only when the fastest of ours ran off there; the
  // others of ours that never did are left out rather than compared across runs.
  RunOffSamples samples;
  samples.rounds_per_epoch = current_->rounds_per_epoch;
  std::vector<std::size_t> columns;
  bool fastest_ran = false;
  for (const auto& finalist : finalists) {
    const std::string text = spec::to_text(*kernel_, finalist);
    const auto column = std::find(current_->finalists.begin(), current_->finalists.end(), text);
    const auto left = std::find_if(current_->left.begin(), current_->left.end(), [&](const auto& l) { return l.configuration == text; });
    if (column != current_->finalists.end()) {
      columns.push_back(static_cast<std::size_t>(column - current_->finalists.begin()));
      samples.configurations.push_back(text);
    } else if (left != current_->left.end()) {
      samples.left.push_back(*left);
    } else {
      continue;
    }
    fastest_ran = fastest_ran || &finalist == &finalists.front();
  }
  if (!fastest_ran || samples.configurations.empty() || current_->rounds_us.empty()) return std::nullopt;
  for (const auto& round : current_->rounds_us) {
    std::vector<double> picked;
    for (const std::size_t column : columns) picked.push_back(round.at(column));
    samples.rounds_us.push_back(std::move(picked));
  }
  return samples;
}

}  // namespace attune::session
