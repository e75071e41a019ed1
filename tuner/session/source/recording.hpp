#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/base/whole_input.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// The measured space of one problem.
struct RecordedProblem {
  spec::Problem problem;
  std::int64_t work_bytes = 0;   ///< the template's work.bytes at this problem
  std::uint64_t space_size = 0;  ///< whole space; larger than measurements.size() for a sample
  std::vector<measure::Measurement> measurements;
  /// Who ran the run-off to its end, and the samples of each round, us per call (same rounds for all).
  std::vector<std::string> finalists;
  std::vector<std::vector<double>> rounds_us;  ///< [round][finalist]
  int rounds_per_epoch = 1;                    ///< as in RunOffSamples
  std::vector<LeftFinalist> left;              ///< likewise
};

/// A recording: what a real GPU gave, so that tuning, reports and strategies run without one.
/// File: zstd-compressed JSON {"attune_recording": 1, "device", "driver", "date", "template", "template_hash", "nvrtc",
/// "policy", "read_ceiling_bytes_per_s", "coverage", "imported_from", "problems"}; docs/recordings.md. Times are kept to 0.0001 us, so
/// that saving what was loaded gives the same bytes.
struct Recording {
  spec::DeviceInfo device;
  std::string date;  ///< UTC
  std::string template_name;
  std::string template_hash;
  std::string nvrtc;
  std::string policy;
  double read_ceiling_bytes_per_s = 0;  ///< best pure read of the device in the same run; 0: not measured
  std::string coverage;                 ///< "whole space", or how the sample was drawn
  /// What it was imported from, "Kernel Tuner cache gemm.json": nothing in it was measured by attune, and nothing replays it. Empty: attune
  /// measured it.
  std::string imported_from;
  std::vector<RecordedProblem> problems;

  [[nodiscard]] const RecordedProblem* find(const spec::Problem& problem) const;
  /// Plain JSON, or zstd-compressed when the name ends in .zst.
  /// Throws: UsageError when there is no such file; SpecError naming the file, the problem and the field: truncated,
  ///         damaged, another format version, missing, mistyped or contradictory.
  [[nodiscard]] static Recording load(const std::filesystem::path& path);
  /// `path` is what errors name.
  [[nodiscard]] static Recording parse(const std::string& json_text, const std::string& path);
  /// As an output (base::OutputFile): a reader sees the old or the new file. Throws: Error when it cannot be written, or when the recording
  /// contradicts itself (what `load` would refuse); nothing is written then.
  /// `on_wait` is called while a pipe takes nothing.
  void save(const std::filesystem::path& path, const base::OnWait& on_wait = {}) const;
};

}  // namespace attune::session
