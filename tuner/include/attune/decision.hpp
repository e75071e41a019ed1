#pragma once
#include <string>
#include <vector>

namespace attune {

/// Which rung of the lookup ladder a plan came from.
enum class Tier {
  ExactSize,      ///< tuned on this device at this size
  NearestSize,    ///< tuned on this device at another size (nearest in log size whose constraints hold here)
  SiblingDevice,  ///< tuned on another device of the same architecture
  OtherDevice,    ///< tuned on the nearest other architecture
  Default,        ///< the template's default: nothing usable was recorded
};
[[nodiscard]] const char* name(Tier tier);  ///< "exact size", "nearest size", ...

/// Why a problem is dispatched as it is. Reading one is cheap; it is plain data.
struct Decision {
  Tier tier = Tier::Default;
  std::string configuration;             ///< canonical JSON
  std::string donor_problem;             ///< canonical JSON of the record it came from; empty for Default
  std::string donor_device;              ///< name of the donor's device
  std::string recorded_at;               ///< UTC of that record
  double median_us = 0;                  ///< the donor's run-off time; 0 for Default
  bool aged = false;                     ///< recorded under another driver
  std::string layer;                     ///< database file it came from
  std::vector<std::string> passed_over;  ///< closer candidates and why each was refused, nearest first
  bool compiled = false;                 ///< NVRTC had to run in this process
  std::string cubin_source;              ///< "database", "cache" or "compiled"; of explain(): where it would come from
  std::string tuning;                    ///< of these sizes here: "queued", "running", "failed: ..." or empty
};
/// The decision in a few lines of text. No trailing newline.
[[nodiscard]] std::string describe(const Decision& decision);

}  // namespace attune
