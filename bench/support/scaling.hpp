#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "bench/support/attune_run.hpp"
#include "bench/support/json.hpp"
#include "tests/support/temp_folder.hpp"

namespace attune::bench {

struct ScalingSettings {
  std::vector<int> gpus;
  // Many short problems: one is tuned by one GPU, so that at the end the others are idle for half of the last ones' time in the mean.
  int problems = 192;
  int budget = 190;
  int rounds = 3;
  bool apart = false;
};

/// What `gpus` devices did while a command tuned that took them all: seconds, and shares of the devices' time from its start to its end.
/// Throws: Error where it tuned no problem.
[[nodiscard]] Json use_of_devices(const AttuneRun& run, int gpus);

/// Seconds of a command before its first problem and after its last.
[[nodiscard]] double starting_s(const Json& use);

/// How many times as fast several GPUs of a host tune as each of them alone. Code is compiled before, by commands that are not timed.
class Scaling {
 public:
  /// Throws: UsageError where the problems are not shared equally.
  Scaling(const ScalingSettings& settings, std::filesystem::path executable);

  /// A row for each number of GPUs. In every round each GPU tunes its share of the problems alone, one after the other, then one command
  /// tunes all of them on all GPUs, and where it is asked for a command for each GPU does, all at once: what the machine allows programs
  /// that know nothing of each other. Devices of one kind differ by several per cent, and so do moments on one host.
  [[nodiscard]] std::vector<Json> rows();

 private:
  /// Every `step`-th problem from the one at `first` on, by one command.
  [[nodiscard]] AttuneRun tune(int first, int step, const std::string& devices, int number) const;
  [[nodiscard]] Json round(int gpus, const std::string& devices);
  [[nodiscard]] Json apart(int gpus);

  const ScalingSettings& settings_;
  std::filesystem::path executable_;
  test::TempFolder scratch_;
  int commands_ = 0;
};

}  // namespace attune::bench
