#pragma once
#include <string>
#include <vector>

#include "tuner/session/source/recording.hpp"

namespace attune::simulate {

struct ExportedResult {
  measure::Measurement measurement;
  std::string recorded_at;  ///< UTC
  std::string driver, nvrtc;
  std::string origin;  ///< who measured it: "measured", "recording:a.json.zst", "imported:Kernel Tuner cache a.json"
};

/// What attune knows of one problem on one device, for the tools of others.
struct ExportedSpace {
  std::string template_name, template_hash;
  spec::Problem problem;
  std::vector<std::int64_t> sizes;  ///< of the problem, in the template's order
  spec::DeviceInfo device;
  std::string policy;
  std::vector<ExportedResult> results;  ///< no configuration twice
};

/// The space as a cache file of Kernel Tuner (1.5 writes and reads it; schema 1.1.0 of its repository): whole, `cache` last, an entry a
/// line, so that Kernel Tuner may append to it.
/// As T4 results, version 1.0.0, as Kernel Tuner and autotuning_methodology write and read them.
/// In both the times are in milliseconds and rounded to the 0.0001 us of a recording; docs/cli.md says which field comes from what.
/// Throws: Error for a configuration that is none, other parameters than the first one's, and a parameter whose name is a field's.
[[nodiscard]] std::string kernel_tuner_cache(const ExportedSpace& space);
[[nodiscard]] std::string t4_results(const ExportedSpace& space);

}  // namespace attune::simulate
