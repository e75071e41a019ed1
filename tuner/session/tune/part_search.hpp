#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/search/strategy.hpp"
#include "tuner/session/tune/convergence.hpp"
#include "tuner/session/tune/problem_tally.hpp"

namespace attune::session {

/// What is searched: the whole space, or the part of it that satisfies `where`.
struct SearchScope {
  std::vector<spec::Constraint> where;  ///< of TuneRequest or a rung; none: the whole space
  /// A part of at most so many configurations is tried whole, whatever the request's strategy and budget; 0: none is.
  std::uint64_t whole_up_to = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::string label;  ///< of the part, for progress
  /// So many of a larger part are tried at random, whatever the request's strategy and budget; 0: as the request says.
  std::uint64_t sample = 0;
};

/// What a search came to.
struct SearchedPart {
  std::uint64_t size = 0;     ///< configurations that satisfy its conditions
  std::uint64_t decided = 0;  ///< of them, those that have an outcome by now
  std::uint64_t failed = 0;
  std::uint64_t measured = 0;                ///< by this search
  std::uint64_t reused = 0;                  ///< proposals that were known
  bool complete = false;                     ///< the strategy or the budget had no more
  bool converged = false;                    ///< it ended since little was to be gained
  std::string emptied_by;                    ///< the condition that left nothing, when size is 0
  std::optional<measure::Measurement> best;  ///< verified; perhaps only screened, that is, of few samples
};

/// Of a session's summary: how many results a search of the whole space had when it had converged.
inline constexpr const char* kConvergedAt = "converged_at";

/// One search: the strategy proposes, the backend measures what is not known, the results are kept.
class PartSearch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Builds the part's space and starts the tally's clock. Requires: all that is passed outlives this. Throws: space::BuildStopped,
  /// SpecError, UsageError.
  PartSearch(ProblemContext& context, KnownResults& known, ProblemTally& tally, SearchScope scope);
  PartSearch(const PartSearch&) = delete;
  PartSearch& operator=(const PartSearch&) = delete;

  /// Tries what is not known yet, once. False when it was interrupted. A part without configurations is told and is no error.
  [[nodiscard]] bool run();
  /// Before run(): its size and what emptied it alone.
  [[nodiscard]] const SearchedPart& part() const noexcept { return part_; }
  /// Calls `visit` with the configuration and what is known of it, for each decided one of the part, also where another configuration of
  /// the same launches was measured.
  void for_each(const std::function<void(const spec::Configuration&, const Known&)>& visit);

 private:
  /// A configuration of the searched part, and the one of the whole space by whose name it is known: another one where that makes the same
  /// launches.
  struct Pending {
    space::Ordinal whole, part;
  };

  void plan();
  void tell_empty() const;
  void tell_few() const;
  [[nodiscard]] const space::SearchSpace& space() const { return restricted_ ? *restricted_ : context_.space; }
  [[nodiscard]] space::LaunchClasses& launches() { return restricted_launches_ ? *restricted_launches_ : context_.launches; }
  [[nodiscard]] space::Ordinal in_whole(space::Ordinal part) const;
  [[nodiscard]] bool any_of_same_code_is_there(space::Ordinal part);
  [[nodiscard]] std::optional<Pending> place_of(space::Ordinal part);
  [[nodiscard]] std::optional<space::Ordinal> decided_as(space::Ordinal part);
  /// Who is far behind the best may be let go unverified; but not where a part of the space is searched for its own fastest.
  [[nodiscard]] bool lets_go() const { return scope_.label.empty() && scope_.where.empty(); }
  /// Whether what is known answers here.
  [[nodiscard]] bool answers(const Known& known) const;
  [[nodiscard]] std::uint64_t different_launches(bool may_try_all);
  void find_winners(search::StrategyOptions& options) const;
  void learn_from_others(search::StrategyOptions& options) const;
  void tell_known();
  void make_room_for_former();
  [[nodiscard]] std::uint64_t decided_here() const { return tally_.evaluations() - evaluations_before_; }
  [[nodiscard]] bool search_on();
  void stop();
  void forget_pending();
  template <class Work>
  auto timed(const Work& work);
  [[nodiscard]] std::optional<space::Ordinal> next_proposal();
  [[nodiscard]] bool propose();
  void accept(const measure::Measurement& measurement);
  void report(space::Ordinal part, const Known& known);
  void tell_of_same(space::Ordinal part);
  void note_outcome(const Pending& place);
  [[nodiscard]] bool separated();
  [[nodiscard]] bool converged();
  [[nodiscard]] bool had_converged() const;
  [[nodiscard]] bool nearly_over() const;
  void describe(bool complete);
  void report_progress() const;

  ProblemContext& context_;
  KnownResults& known_;
  ProblemTally& tally_;
  SearchScope scope_;
  std::optional<space::SearchSpace> restricted_;             ///< nothing: the whole space is searched
  std::optional<space::LaunchClasses> restricted_launches_;  ///< of it
  std::vector<bool> named_;  ///< by ordinal of what is searched: proposed, or another of the same launches was
  std::unique_ptr<search::Strategy> strategy_;
  bool thinks_aside_ = false;                  ///< the strategy's proposals are made in a thread of their own
  std::vector<measure::Measurement> arrived_;  ///< while it thought
  Clock::time_point start_;
  std::uint64_t limit_ = 0;
  std::uint64_t proposed_ = 0;
  std::uint64_t evaluations_before_;
  double best_cost_ = 0, best_us_ = 0;
  std::unordered_map<std::string, Pending> pending_;
  std::unordered_map<space::Ordinal, std::vector<space::Ordinal>> waiting_;  ///< proposed, for another of the same launches
  Convergence convergence_;
  bool had_converged_ = false, told_converged_ = false;
  std::uint64_t separation_check_ = 0;  ///< decisions at which separation is looked at next
  SearchedPart part_;
};

}  // namespace attune::session
