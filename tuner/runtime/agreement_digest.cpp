#include "tuner/runtime/agreement_digest.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/runtime/rank_exchange.hpp"

namespace attune::runtime {
namespace {

constexpr std::size_t kShownDigits = 12;  ///< of a content key, for people

const char* words(OnMiss on_miss) {
  switch (on_miss) {
    case OnMiss::Default:
      return "the default";
    case OnMiss::Error:
      return "an error";
    case OnMiss::TuneInBackground:
      return "tuning in the background";
    case OnMiss::TuneNow:
      return "tuning";
  }
  return "";
}

std::string options_text(const Options& options) {
  std::string text = fmt::format("policy {}, on a miss {}", options.policy, words(options.on_miss));
  if (options.on_miss == OnMiss::Error) text += fmt::format(" beyond a factor {}", options.reach);
  return text + (options.unverified ? ", unverified results too" : "");
}

std::map<std::string, std::string> contents(const spec::TemplateLibrary& library) {
  std::map<std::string, std::string> found;
  for (const auto& name : library.names()) {
    try {
      found[name] = library.find(name).content_hash;
    } catch (const Error&) {  // whoever asks for it is told; here it only has to differ from a sound one
      found[name] = base::content_key("cannot be read");
    }
  }
  return found;
}

void add(base::ContentHasher& hasher, const db::BestRow& row) {
  hasher.add(row.template_hash).add(row.problem).add(row.device_key).add(row.objective).add(row.configuration);
  hasher.add(fmt::format("{} {} {}", row.median_us, row.default_us, spec::memory_clock_of(row.detail_json)));
}

LayerDigest digest_of(const Layer& layer, const std::map<std::string, std::string>& templates, const Options& options) {
  LayerDigest digest{layer.path.string(), 0, ""};
  base::ContentHasher hasher;
  try {
    for (const auto& [name, content] : templates) {
      for (const auto& row : layer.database.best({.template_hash = content, .policy = options.policy})) {
        if (row.objective != db::kTime && !(options.unverified && row.objective == db::kUnverifiedTime)) continue;
        add(hasher, row);
        ++digest.results;
      }
    }
  } catch (const DatabaseError&) {  // dispatch goes on without it, and has a notice
    hasher.add("unreadable");
    digest.place += ", which cannot be read to its end";
    ++digest.results;  // or it would count as one that holds nothing
  }
  digest.digest = hasher.key();
  return digest;
}

std::string shown(const std::string& content) { return quoted_from_rank(content.substr(0, kShownDigits)); }

std::string shown(const std::vector<LayerDigest>& layers) {
  if (layers.empty()) return "no results";
  std::vector<std::string> texts;
  for (const auto& layer : layers) {
    texts.push_back(fmt::format("{} result(s) in {} (content {})", layer.results, quoted_from_rank(layer.place), shown(layer.digest)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> keys(const std::vector<LayerDigest>& layers) {
  std::vector<std::string> found;
  for (const auto& layer : layers) found.push_back(layer.digest);
  return found;
}

std::string compared(const RankOpening& opening) {
  base::ContentHasher hasher;
  for (const auto& [name, content] : opening.templates) hasher.add(name).add(content);
  hasher.add("layers");
  for (const auto& key : keys(opening.layers)) hasher.add(key);
  return hasher.key();
}

void tell_templates(std::vector<std::string>& parts, const RankOpening& own, const RankOpening& usual, const std::string& usual_rank) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, content] : own.templates) both[name].first = content;
  for (const auto& [name, content] : usual.templates) both[name].second = content;
  for (const auto& [name, content] : both) {
    if (content.first == content.second) continue;
    const auto text = [](const std::string& one) { return one.empty() ? std::string("is missing") : "has content " + shown(one); };
    parts.push_back(
        fmt::format("template '{}' {} here, and {} on {}", quoted_from_rank(name), text(content.first), text(content.second), usual_rank));
  }
}

std::string difference(const RankOpening& own, std::size_t own_rank, const RankOpening& usual, std::size_t usual_rank) {
  std::vector<std::string> parts;
  const std::string there = rank_name(usual_rank);
  tell_templates(parts, own, usual, there);
  if (keys(own.layers) != keys(usual.layers)) {
    parts.push_back(fmt::format("databases: {} here, {} on {}", shown(own.layers), shown(usual.layers), there));
  }
  return fmt::format("{} differs from {} in what decides plans: {}; give all ranks the same, or they agree problem by problem",
                     rank_name(own_rank), there, fmt::join(parts, "; "));
}

}  // namespace

RankOpening opening_of(const Options& options, const spec::TemplateLibrary& library, const std::vector<Layer>& layers) {
  RankOpening opening{build::kVersion, "", options_text(options), contents(library), {}};
  for (const auto& layer : layers) {
    if (auto digest = digest_of(layer, opening.templates, options); digest.results > 0) opening.layers.push_back(std::move(digest));
  }
  return opening;
}

std::vector<std::string> differences(const std::vector<RankOpening>& openings) {
  std::vector<std::string> digests;
  std::map<std::string, std::size_t> ranks_of;
  for (const auto& opening : openings) ++ranks_of[digests.emplace_back(compared(opening))];
  const auto fewer = [&](const std::string& a, const std::string& b) { return ranks_of[a] < ranks_of[b]; };
  const auto usual = static_cast<std::size_t>(std::max_element(digests.begin(), digests.end(), fewer) - digests.begin());
  std::vector<std::string> told(openings.size());
  for (std::size_t rank = 0; rank < openings.size(); ++rank) {
    if (digests[rank] != digests[usual]) told[rank] = difference(openings[rank], rank, openings[usual], usual);
  }
  return told;
}

}  // namespace attune::runtime
