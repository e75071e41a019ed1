#include "tuner/runtime/agreement.hpp"

#include <fmt/core.h>

#include <utility>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/agreement_digest.hpp"

namespace attune::runtime {
namespace {

constexpr const char* kOpening = "making a Runtime";
constexpr const char* kSameDatabases = "give all ranks the same databases (docs/fleet.md, \"Agreement between ranks\")";
constexpr const char* kOneKind = "ranks on devices of one kind agree on measured results (docs/fleet.md, \"Agreement between ranks\")";

/// What one rank said, read. Others wrote it.
template <class Read>
auto read(const nlohmann::json& said, std::size_t rank, const std::string& about, Read&& reader) {
  try {
    return reader(said);
  } catch (const Error& error) {
    throw AgreementError(
        fmt::format("failed agreeing with the other ranks while {}: what Options::agree returned of {} is no text of a rank: {}", about,
                    rank_name(rank), error.what()));
  }
}

std::string place(const Proposal& proposal) {
  if (proposal.layer.empty()) return name(proposal.tier);
  return fmt::format("{}, {}", name(proposal.tier), quoted_from_rank(proposal.layer));
}

std::string proposed(const RankPlan& plan) {
  if (!plan.proposal) return fmt::format("nothing ({})", quoted_from_rank(plan.failure));
  return fmt::format("{} ({})", quoted_from_rank(plan.proposal->configuration), place(*plan.proposal));
}

std::string taken(const AgreedPlan& agreed, const std::vector<RankPlan>& ranks) {
  if (!agreed.rank) return fmt::format("the template's default {}: {}", agreed.configuration, agreed.why_default);
  return fmt::format("{} of {} ({})", agreed.configuration, rank_name(*agreed.rank), place(*ranks[*agreed.rank].proposal));
}

}  // namespace

Agreement::Turn::Turn(Agreement& agreement) : agreement_(agreement) {
  if (agreement.whose_turn_.load() == std::this_thread::get_id()) {
    throw UsageError("failed dispatching: Options::agree asks the Runtime that called it for a new plan; it must not use that Runtime");
  }
  agreement_.turn_.lock();
  agreement_.whose_turn_.store(std::this_thread::get_id());
}

Agreement::Turn::~Turn() {
  agreement_.whose_turn_.store({});
  agreement_.turn_.unlock();
}

std::vector<nlohmann::json> Agreement::gather(const std::string& about, const nlohmann::json& said) {
  exchanges_.fetch_add(1);
  return exchange_.gather(about, said);
}

void Agreement::open(const RankOpening& own) {
  const Turn turn(*this);
  const auto gathered = gather(kOpening, to_json(own));
  std::vector<RankOpening> openings;
  for (std::size_t rank = 0; rank < gathered.size(); ++rank) openings.push_back(read(gathered[rank], rank, kOpening, opening_from_json));
  for (std::size_t rank = 0; rank < openings.size(); ++rank) {
    const auto& other = openings[rank];
    if (!other.failure.empty()) {
      throw AgreementError(
          fmt::format("failed creating a Runtime: that of {} could not be made: {}", rank_name(rank), quoted_from_rank(other.failure)));
    }
    if (other.attune != openings.front().attune) {
      throw AgreementError(fmt::format(
          "failed creating a Runtime: rank 0 has attune {}, {} has attune {}, which need not make the same code of one configuration; "
          "give all ranks one version",
          quoted_from_rank(openings.front().attune), rank_name(rank), quoted_from_rank(other.attune)));
    }
    if (other.options != openings.front().options) {
      throw AgreementError(fmt::format(
          "failed creating a Runtime: rank 0 has Options of {}, {} of {}, so that what they would take cannot be compared; give "
          "all ranks the same",
          quoted_from_rank(openings.front().options), rank_name(rank), quoted_from_rank(other.options)));
    }
  }
  if (auto difference = differences(openings)[exchange_.own_rank()]; !difference.empty()) tell(std::move(difference));
}

std::optional<Settled> Agreement::settle(const spec::KernelTemplate& kernel, const spec::Problem& problem, const RankPlan& own) {
  base::ContentHasher hasher;
  const std::string text = spec::to_text(problem);
  const std::string key = hasher.add(kernel.content_hash).add(text).add(own.device ? own.device->hard_key() : std::string()).key();
  if (const auto known = settled_.find(key); known != settled_.end()) return known->second;
  const std::string title = fmt::format("kernel '{}' at {}", kernel.name, text);
  const std::string about = "dispatching " + title;
  const auto gathered = gather(about, to_json(own));
  std::vector<RankPlan> ranks;
  for (std::size_t rank = 0; rank < gathered.size(); ++rank) ranks.push_back(read(gathered[rank], rank, about, plan_from_json));
  const auto agreed = agree_on(kernel, problem, ranks, on_miss_);
  if (!agreed) return std::nullopt;
  Settled settled{agreed->configuration, std::nullopt, agreed->rank, ""};
  if (agreed->rank) settled.proposal = ranks[*agreed->rank].proposal;
  if (!agreed->unanimous) settled.agreement = describe(title, *agreed, ranks);
  return settled_.emplace(key, std::move(settled)).first->second;
}

std::string Agreement::describe(const std::string& title, const AgreedPlan& agreed, const std::vector<RankPlan>& ranks) {
  const std::size_t own = exchange_.own_rank();
  std::size_t others = 0;
  for (const auto& rank : ranks) others += !rank.proposal || rank.proposal->configuration != agreed.configuration ? 1 : 0;
  diverged_.fetch_add(1);
  if (ranks[own].proposal && ranks[own].proposal->configuration == agreed.configuration) {
    return fmt::format("{} of {} ranks would have taken another configuration, and take this one", others, ranks.size());
  }
  std::string text = fmt::format("{} would have taken {}; all ranks take {}", rank_name(own), proposed(ranks[own]), taken(agreed, ranks));
  tell(fmt::format("{}: {}; {}", title, text, agreed.rank ? kSameDatabases : kOneKind));
  return text;
}

std::vector<std::string> Agreement::notices() const {
  const std::lock_guard lock(notices_mutex_);
  return notices_;
}

void Agreement::tell(std::string notice) {
  const std::lock_guard lock(notices_mutex_);
  if (notices_.size() < kMostNotices) notices_.push_back(std::move(notice));
  if (notices_.size() == kMostNotices)
    notices_.back() = "more problems diverged than are told here: RuntimeCounters::plans_diverged counts them";
}

void tell_ranks_of_failure(const AllGather& all_gather, const std::string& why) noexcept {
  try {
    RankOpening opening;
    opening.attune = build::kVersion;
    opening.failure = why;
    static_cast<void>(RankExchange(all_gather).gather(kOpening, to_json(opening)));
  } catch (...) {  // the failure itself is about to be thrown, and says more
  }
}

}  // namespace attune::runtime
