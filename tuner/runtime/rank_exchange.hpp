#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attune/options.hpp"

namespace attune::runtime {

/// Exchanges of one Runtime with those of the other ranks, by the program's all-gather. What comes back is others' text: it is taken only
/// where there is one for each rank, all of them belong to this call, and the own one is where it has been from the beginning.
/// One thread at a time.
class RankExchange {
 public:
  static constexpr std::size_t kMostRanks = 65536;
  static constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;

  explicit RankExchange(AllGather all_gather);

  /// What every rank says, in their order. `about` is what this call is for, in words: it has to be the same on all ranks.
  /// Throws: AgreementError (ranks are out of step, which names what two of them are about; something that is no text of this call; the
  /// text of a rank is too long, which all are told), and what the all-gather throws. Either way the call counts, as the other ranks may
  /// have had it. Ranks that are told that they are out of step count alike from then on.
  [[nodiscard]] std::vector<nlohmann::json> gather(const std::string& about, const nlohmann::json& said);

  /// This rank's place. Requires: a first gather() that did not throw.
  [[nodiscard]] std::size_t own_rank() const noexcept { return own_rank_; }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }

 private:
  struct Envelope;
  [[nodiscard]] Envelope opened(const std::string& text, std::size_t rank) const;
  [[nodiscard]] std::string closed(const nlohmann::json& said) const;
  void check_step(const std::vector<Envelope>& envelopes);
  void meet(const std::vector<Envelope>& envelopes);
  [[noreturn]] void fail(const std::string& why) const;

  AllGather all_gather_;
  const std::string id_;          ///< of this Runtime: what tells its texts from those of others
  std::vector<std::string> ids_;  ///< of all ranks, once they have met
  std::size_t own_rank_ = 0;
  std::uint64_t calls_ = 0;
  std::string about_;  ///< of the call under way
};

/// "rank 3".
[[nodiscard]] std::string rank_name(std::size_t rank);
/// Others' text for a message: on one line, without characters that act, and short.
[[nodiscard]] std::string quoted_from_rank(const std::string& text);

}  // namespace attune::runtime
