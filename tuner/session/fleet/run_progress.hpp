#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tuner/session/tune/session.hpp"

namespace attune::session {

/// Where a whole command stands, from what its devices and problems report: one line's worth. Has no clock of its own.
/// Units: `now_s` in seconds since the command began, never going back.
class RunProgress {
 public:
  /// What takes the time: the GPU waits for compilers, or it verifies, or it measures. Unknown: nothing was measured lately.
  enum class Limit { Unknown, Compiling, Verifying, Measuring };

  struct View {
    std::size_t problems_done = 0, problem_count = 0;
    std::size_t devices = 1, devices_busy = 0;
    std::optional<spec::Problem> problem;  ///< the one in work, when there is just one device
    std::string part;                      ///< of its space, where it is searched in named parts
    std::uint64_t done = 0, total = 0;     ///< configurations of the problems in work
    std::uint64_t reused = 0, failed = 0;  ///< configurations of the whole command so far
    double configurations_per_s = 0;       ///< freshly decided ones, over the last few seconds
    double compilations_per_s = 0;         ///< likewise
    Limit limit = Limit::Unknown;          ///< likewise
    double best_us = 0;                    ///< of `problem`; 0: none yet
    std::string waits_for;                 ///< Progress::waits_for, where all devices at work wait: the first of it
    std::optional<double> eta_s;           ///< of the whole command
    std::optional<double> budget_s;        ///< its budget of time, where it has one
    double elapsed_s = 0;
  };

  /// "compiling", "verifying", "measuring"; empty: unknown.
  [[nodiscard]] static const char* name(Limit limit);

  /// `budget_s`: wall time of the whole command, where it is limited.
  RunProgress(std::size_t problem_count, std::size_t devices, std::optional<double> budget_s);

  void progress(std::size_t device, const Progress& progress, double now_s);
  /// The problem that the device had has ended, in whatever way.
  void finished(std::size_t device, const ProblemResult& result, double now_s);
  /// The device lost its problem, which some device begins anew.
  void lost(std::size_t device);
  /// A problem was given up.
  void given_up() { ++problems_done_; }
  [[nodiscard]] View view(double now_s) const;

 private:
  struct Running {
    bool active = false;
    spec::Problem problem;
    std::string part;
    std::uint64_t done = 0, total = 0, reused = 0, failed = 0;
    double best_us = 0;
    Utilisation used;
    std::string waits_for;
  };
  /// Sums over the command until a moment.
  struct Sample {
    double at_s = 0;
    std::uint64_t fresh = 0;  ///< freshly decided
    double busy_s = 0, verifying_s = 0, waiting_s = 0;
    std::uint64_t compilations = 0;

    void add(const Utilisation& used);
  };

  [[nodiscard]] Sample sample_at(double now_s) const;
  [[nodiscard]] static Limit limit_between(const Sample& before, const Sample& now);
  [[nodiscard]] std::uint64_t fresh() const;
  [[nodiscard]] std::optional<double> eta(double now_s) const;
  [[nodiscard]] std::string waits_for() const;
  void sample(double now_s);

  std::size_t problem_count_;
  std::optional<double> budget_s_;
  std::vector<Running> running_;  ///< by device
  std::size_t problems_done_ = 0;
  std::uint64_t fresh_done_ = 0, decided_done_ = 0;  ///< of finished problems; measured / measured and reused
  std::uint64_t reused_done_ = 0, failed_done_ = 0;
  Sample finished_;             ///< what problems used that have ended
  std::deque<Sample> samples_;  ///< of the last few seconds
};

}  // namespace attune::session
