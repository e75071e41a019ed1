#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/verify/call.hpp"
#include "tuner/verify/problem_data.hpp"

namespace attune::verify {

/// A configuration and its code.
struct Candidate {
  const spec::Configuration& configuration;
  const gpu::Module& module;
};

/// A configuration that was timed on window 0 last.
struct TimedCandidate {
  const spec::LaunchPlan& plan;
  const Call& call;
  const Addresses& addresses;  ///< of window 0, and its scratch
  const Untimed& untimed;
};

/// Runs a configuration in every case of its problem and compares with the right answers
/// (docs/decisions/0004-measuring.md).
class Verifier {
 public:
  explicit Verifier(Support& support) : support_(&support) {}

  struct Verdict {
    std::optional<std::string> wrong;  ///< in a sentence that names the case; nothing when everything is right
    double call_us = 0;                ///< of one call on the asked case's random data, launched by the host; 0: none was made
    bool too_slow = false;             ///< that told enough, and nothing was compared
  };
  /// Cases in which the template's constraints do not hold, those without answers, and of a configuration that is specialised on its sizes
  /// those of other sizes, are left out. Leaves window 0 with the random data. Waits, mostly twice: of the further cases the host
  /// prepares one while the device works on the one before. Throws: CudaError, SpecError, ReferenceError, EnvironmentError.
  /// `enough_us`: ends as too slow where the first call of the asked case takes longer, and then one on random data does; 0: never. Costs a
  /// wait.
  [[nodiscard]] Verdict verify(const Candidate& candidate, ProblemData& problem, double enough_us = 0);
  /// One call on the asked case's random data, guarded as all are: enough to let a configuration go that is far slower than others.
  /// Verifying it would be many such calls. Finds what it wrote where it must not; its results are compared with nothing. Waits. Throws:
  /// as verify.
  [[nodiscard]] Verdict first_call(const Candidate& candidate, ProblemData& problem);
  /// Frees the scratch, which grows with the configurations.
  void release() { scratch_ = gpu::Buffer(); }
  /// After timing: the outputs of window 0 and the configuration's own scratch. Makes one call more, on restored data, where the
  /// configuration updates a buffer or check names scratch of its launches. Requires: the problem was adapted to the configuration
  /// before its last call.
  [[nodiscard]] std::optional<std::string> check_timed(const TimedCandidate& candidate, ProblemData& problem);

 private:
  struct Run;  ///< one case's plan, call and addresses
  /// What a planted element was, for words that are rarely needed: there are dozens of comparisons a visit.
  struct Planted {
    const reference::Plant* plant;
    Elements input;
    bool descending;
  };
  /// A comparison that was asked for, to say what it found.
  struct Question {
    std::size_t check;
    const WantedOutput* output;
    bool only;                       ///< the only output
    const std::string* when;         ///< of the data set
    std::optional<Planted> planted;  ///< instead
  };
  /// Checks from `first` on, until the next, are of this case.
  struct Begun {
    std::size_t first;
    const Case* which;
  };
  struct Wrong {
    std::string what;
    const Case* which;
    [[nodiscard]] std::string with_case() const;
  };

  /// Enqueues what a case is verified by. Returns what was found where there are too many checks for one wait.
  [[nodiscard]] std::optional<Wrong> call_case(const Candidate& candidate, ProblemData& problem, Case& which);
  void leave_timing_data(ProblemData& problem);
  /// Nothing where the configuration has no launch in this case. Throws: spec::LimitError of the asked case.
  [[nodiscard]] std::optional<Run> bind(const Candidate& candidate, ProblemData& problem, Case& which);
  /// The call, and what check makes of its outputs.
  void call(Run& run);
  /// Data, what setup makes of them, guards and poison for a call.
  void arrange(Run& run, ProblemData& problem, std::size_t data, Guard variant);
  /// Poisons the workspaces that promise nothing.
  void poison_scratch(const spec::LaunchPlan& plan, const Addresses& addresses);
  /// Begins checks: of what must be untouched, guards, and workspaces that are left zero.
  void check_bounds(Run& run, ProblemData& problem, std::size_t data, Guard variant);
  /// A call between two events.
  void timed_call(Run& run);
  /// Whether that took longer than it may. Waits.
  [[nodiscard]] bool took_too_long() const;
  /// A guarded one of the asked case on random data.
  void random_call(Run& run, ProblemData& problem);
  /// A data set, what is planted into it and the data sets that alter it. Waits for nothing but where it decides whether the configuration
  /// is too slow: a wait costs as much as several calls.
  void pass(Run& run, ProblemData& problem, std::size_t data);
  void begin_checks();
  void check_left_zero(const spec::LaunchPlan& plan, const Addresses& addresses);
  void compare(const Case& which, const Addresses& addresses, const Expectation& expectation, const std::string& when,
               std::optional<Planted> planted = std::nullopt);
  void call_altered(Run& run, ProblemData& problem, std::size_t data);
  void call_planted(Run& run, ProblemData& problem, std::size_t data);
  [[nodiscard]] Plants& plants(Run& run, ProblemData& problem, std::size_t data, std::size_t buffer);
  [[nodiscard]] static std::string when_text(const Question& question);
  /// What the checks since begin_checks found. Waits.
  [[nodiscard]] std::optional<Wrong> finding();

  Support* support_;
  gpu::Event start_, end_;  ///< of the asked case's call on random data
  bool timed_ = false;      ///< they were recorded
  double enough_us_ = 0;    ///< see verify
  bool undecided_ = false;  ///< whether it is too slow
  bool too_slow_ = false;
  gpu::Buffer scratch_;  ///< shared by all cases, grown on demand
  std::vector<Question> questions_;
  std::vector<Begun> begun_;
};

}  // namespace attune::verify
