#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace attune {

/// Which tier of the lookup a plan came from.
enum class Tier {
  ExactSize,       ///< tuned on this device at this size
  NearestSize,     ///< tuned on this device at other sizes: the best forecast out of those around, else the nearest's result
  SiblingDevice,   ///< tuned on another device of the same architecture
  OtherDevice,     ///< tuned on the nearest other architecture
  RelatedProblem,  ///< tuned for the problem that the template has stand in for this one: Decision::donor_problem
  Default,         ///< the template's default: nothing usable was recorded
};
[[nodiscard]] const char* name(Tier tier);  ///< "exact size", "nearest size", ...

/// Why a problem is dispatched as it is. Reading one is cheap; it is plain data.
struct Decision {
  Tier tier = Tier::Default;
  std::string configuration;      ///< canonical JSON
  std::string donor_problem;      ///< canonical JSON of the record it came from; empty for Default
  std::string donor_device;       ///< name of the donor's device
  std::string device_difference;  ///< "sm_count 114 instead of 132": the donor's hard figures; empty: this device
  std::string donor_driver;       ///< driver under which it was recorded
  std::string recorded_at;        ///< UTC of that record
  double median_us = 0;  ///< the donor's run-off time; 0 for Default and RelatedProblem, and where the default itself is the best forecast
  bool aged = false;     ///< recorded under another driver
  bool unverified = false;  ///< of a template without a reference: Options::unverified
  std::string layer;        ///< database file it came from; "FILE (rank 2)" where another rank's was agreed on
  std::string
      forecast;  ///< NearestSize: what it is expected to take, from what it took around; and the default beside it, or why that stands
  std::vector<std::string> passed_over;  ///< closer candidates and why each was refused, nearest first
  bool compiled = false;                 ///< NVRTC had to run in this process
  std::string cubin_source;              ///< "database", "cache" or "compiled"; of explain(): where it would come from
  std::string agreement;                 ///< Options::agree: how ranks differed, and what all take; empty where they did not
  std::string tuning;                    ///< of these sizes here: "queued", "running", "failed: ..." or empty
};
/// The decision in a few lines of text; `now` says how old the record is. No trailing newline.
[[nodiscard]] std::string describe(const Decision& decision, std::chrono::system_clock::time_point now = std::chrono::system_clock::now());
/// "3 days old" for a UTC time as records carry it ("2026-11-20T13:17:05Z"); "of unknown age" for any other text.
[[nodiscard]] std::string age_in_words(const std::string& recorded_at, std::chrono::system_clock::time_point now);

}  // namespace attune
