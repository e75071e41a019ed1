#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "attune/options.hpp"
#include "tuner/runtime/agreement_rule.hpp"
#include "tuner/runtime/rank_exchange.hpp"
#include "tuner/runtime/rank_texts.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// What ranks have settled on for a problem.
struct Settled {
  std::string configuration;         ///< canonical JSON
  std::optional<Proposal> proposal;  ///< the one that was taken; nothing: the default
  std::optional<std::size_t> rank;   ///< whose
  std::string agreement;             ///< Decision::agreement
};

/// The agreement of one Runtime with those of the other ranks (Options::agree). Exchanges come one at a time, in the order in which this
/// rank comes to problems. Counters and notices() never wait for one.
class Agreement {
 public:
  static constexpr std::size_t kMostNotices = 100;

  Agreement(AllGather all_gather, OnMiss on_miss) : exchange_(std::move(all_gather)), on_miss_(on_miss) {}

  /// The first exchange. Throws: AgreementError (attune's versions or options differ; the Runtime of another rank could not be made).
  void open(const RankOpening& own);

  /// Whoever is about to settle a problem holds one: other threads of this rank wait for the next.
  class Turn {
   public:
    /// Throws: UsageError when the all-gather itself asks.
    explicit Turn(Agreement& agreement);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Agreement& agreement_;
  };

  /// Exchanges what this rank would take, once for each problem and device: a plan whose code could not be loaded may be asked for again.
  /// Nothing where no rank has anything to propose. Requires: a Turn. Throws: as agree_on, and what the all-gather throws.
  [[nodiscard]] std::optional<Settled> settle(const spec::KernelTemplate& kernel, const spec::Problem& problem, const RankPlan& own);

  [[nodiscard]] std::uint64_t exchanges() const noexcept { return exchanges_.load(); }
  [[nodiscard]] std::uint64_t diverged() const noexcept { return diverged_.load(); }
  /// kMostNotices at most, and what counts the others.
  [[nodiscard]] std::vector<std::string> notices() const;

 private:
  [[nodiscard]] std::vector<nlohmann::json> gather(const std::string& about, const nlohmann::json& said);
  void tell(std::string notice);
  /// What ranks do that do not all propose one configuration; a notice where this one would have taken another.
  [[nodiscard]] std::string describe(const std::string& title, const AgreedPlan& agreed, const std::vector<RankPlan>& ranks);

  std::mutex turn_;
  std::atomic<std::thread::id> whose_turn_{};
  // Whoever has the turn:
  RankExchange exchange_;
  const OnMiss on_miss_;
  std::map<std::string, Settled> settled_;
  // Everybody:
  std::atomic<std::uint64_t> exchanges_{0}, diverged_{0};
  mutable std::mutex notices_mutex_;
  std::vector<std::string> notices_;
};

/// For a rank whose Runtime cannot be made: tells the others, which wait for its opening. Throws: nothing.
void tell_ranks_of_failure(const AllGather& all_gather, const std::string& why) noexcept;

}  // namespace attune::runtime
