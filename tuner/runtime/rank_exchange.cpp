#include "tuner/runtime/rank_exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"

namespace attune::runtime {
namespace {

using nlohmann::json;

/// Of the texts. Ranks with others do not understand each other.
constexpr int kFormat = 1;
constexpr int kDepth = 8;
constexpr std::size_t kMostIdBytes = 64;
constexpr std::size_t kMostQuotedBytes = 500;

std::string random_id() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", device());
  return id;
}

}  // namespace

std::string rank_name(std::size_t rank) { return fmt::format("rank {}", rank); }

std::string quoted_from_rank(const std::string& text) {
  const std::string escaped = base::escape_line(std::string_view(text).substr(0, kMostQuotedBytes));
  return text.size() > kMostQuotedBytes ? escaped + "..." : escaped;
}

struct RankExchange::Envelope {
  std::string id;
  std::uint64_t call = 0;
  std::string about;
  std::string failure;  ///< why there is nothing said; else empty
  json said;
};

RankExchange::RankExchange(AllGather all_gather) : all_gather_(std::move(all_gather)), id_(random_id()) {}

std::vector<json> RankExchange::gather(const std::string& about, const json& said) {
  about_ = about;
  ++calls_;
  const std::string own = closed(said);
  const std::vector<std::string> texts = all_gather_(own);
  if (texts.empty() || texts.size() > kMostRanks) {
    fail(fmt::format("Options::agree returned {} texts; it has to return one for each rank, from 1 to {}", texts.size(), kMostRanks));
  }
  if (!ids_.empty() && texts.size() != ids_.size()) {
    fail(fmt::format("Options::agree returned {} texts, and {} when the Runtime was made; it has to return one for each rank", texts.size(),
                     ids_.size()));
  }
  std::vector<Envelope> envelopes;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) envelopes.push_back(opened(texts[rank], rank));
  check_step(envelopes);
  meet(envelopes);
  if (texts[own_rank_] != own)
    fail(fmt::format("the text that Options::agree returned of {}, this one, is not what it was given", rank_name(own_rank_)));
  for (std::size_t rank = 0; rank < envelopes.size(); ++rank) {
    if (!envelopes[rank].failure.empty()) fail(fmt::format("{}: {}", rank_name(rank), quoted_from_rank(envelopes[rank].failure)));
  }
  std::vector<json> gathered;
  for (auto& envelope : envelopes) gathered.push_back(std::move(envelope.said));
  return gathered;
}

/// The other ranks wait for this one, also where it has nothing that they could take.
std::string RankExchange::closed(const json& said) const {
  const auto with = [&](const std::string& failure, const json& content) {
    return base::dump_json_replacing(
        {{"attune_ranks", kFormat}, {"id", id_}, {"call", calls_}, {"about", about_}, {"failure", failure}, {"said", content}});
  };
  std::string text = with("", said);
  if (text.size() <= kMostTextBytes) return text;
  return with(fmt::format("its text has {} bytes, more than the {} of the longest", text.size(), kMostTextBytes), nullptr);
}

RankExchange::Envelope RankExchange::opened(const std::string& text, std::size_t rank) const {
  const auto refuse = [&](const std::string& why) {
    fail(fmt::format("what Options::agree returned of {} is no text of a rank ({}): {}", rank_name(rank), why,
                     text.empty() ? "nothing" : "\"" + quoted_from_rank(text) + "\""));
  };
  if (text.size() > kMostTextBytes) refuse(fmt::format("{} bytes, at most {} are expected", text.size(), kMostTextBytes));
  Envelope envelope;
  try {
    json object = base::try_parse_shallow_json(text, kDepth, "it is nested too deep");
    if (object.is_discarded()) refuse("it is no JSON; was it cut off?");
    const base::JsonFields fields(object, "");
    if (const int format = fields.integer<int>("attune_ranks"); format != kFormat) {
      refuse(fmt::format("it has format {}, and this attune's is {}: give all ranks one version of attune", format, kFormat));
    }
    envelope.id = fields.text("id", kMostIdBytes);
    envelope.call = fields.integer<std::uint64_t>("call");
    envelope.about = fields.text("about");
    envelope.failure = fields.text("failure");
    envelope.said = std::move(object.at("said"));
  } catch (const AgreementError&) {
    throw;
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const json::exception& error) {
    refuse(error.what());
  }
  return envelope;
}

void RankExchange::check_step(const std::vector<Envelope>& envelopes) {
  const auto own_call = calls_;
  for (const auto& other : envelopes) calls_ = std::max(calls_, other.call);  // the next is the same one on all
  for (std::size_t rank = 0; rank < envelopes.size(); ++rank) {
    const auto& other = envelopes[rank];
    if (other.about == about_ && other.call == own_call) continue;
    fail(fmt::format(
        "ranks are out of step: this rank is {} (its exchange {}), {} is {} (its exchange {}); with Options::agree all ranks make "
        "the Runtime, and come to new problems in the same order",
        about_, own_call, rank_name(rank), quoted_from_rank(other.about), other.call));
  }
}

/// The first time ranks learn who is who; later they have to be the same in the same places.
void RankExchange::meet(const std::vector<Envelope>& envelopes) {
  std::vector<std::string> ids;
  for (const auto& envelope : envelopes) ids.push_back(envelope.id);
  if (ids_.empty()) {
    const std::set<std::string> different(ids.begin(), ids.end());
    if (different.size() != ids.size()) fail("Options::agree returned the text of one rank in several places");
    const auto own = std::find(ids.begin(), ids.end(), id_);
    if (own == ids.end()) fail("this rank's text is not among those that Options::agree returned");
    own_rank_ = static_cast<std::size_t>(own - ids.begin());
    ids_ = std::move(ids);
    return;
  }
  for (std::size_t rank = 0; rank < ids.size(); ++rank) {
    if (ids[rank] == ids_[rank]) continue;
    fail(
        fmt::format("the text that Options::agree returned of {} is of another Runtime than the one that was there when this one was made: "
                    "ranks have to stand in the same order always",
                    rank_name(rank)));
  }
}

void RankExchange::fail(const std::string& why) const {
  throw AgreementError(fmt::format("failed agreeing with the other ranks while {}: {}", about_, why));
}

}  // namespace attune::runtime
