#include "tuner/importing/index_reach.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tuner/importing/cuda_macros.hpp"

namespace attune::importing {
namespace {

bool is_built_in(const Token& token) { return token.is("blockIdx") || token.is("threadIdx"); }

bool is_member(const Tokens& tokens, std::size_t at) { return at > 0 && (tokens[at - 1].is(".") || tokens[at - 1].is("->")); }

bool separates(const Token& token) {
  static constexpr std::array<std::string_view, 11> kSigns{"+", "-", ",", "?", ":", "<", ">", "|", "^", "==", "!="};
  return token.kind == Token::Kind::Sign && std::find(kSigns.begin(), kSigns.end(), token.text) != kSigns.end();
}

void take_largest(Reach& all, const Reach& one) {
  for (const auto& [name, times] : one) all[name] = std::max(all[name], times);
}

bool has_size(const Reach& reach, const std::set<std::string>& sizes) {
  return std::any_of(reach.begin(), reach.end(), [&](const auto& factor) { return sizes.contains(factor.first); });
}

/// Where static_cast<T> and the like end; `at` where none begins there.
std::size_t behind_cast(const Tokens& tokens, std::size_t at) {
  if (!tokens[at].text.ends_with("_cast") || at + 1 >= tokens.size() || !tokens[at + 1].is("<")) return at;
  std::size_t end = at + 2;
  while (end < tokens.size() && !tokens[end].is(">")) ++end;
  return end;
}

class IndexReader {
 public:
  IndexReader(const KernelUsage& usage, const std::set<std::string>& sizes) : usage_(usage), sizes_(sizes) {}

  /// Returns the reach of each part of an index: of each term of a sum, and of what other signs separate.
  [[nodiscard]] std::vector<Reach> parts(const Tokens& tokens) {
    std::vector<Reach> found;
    Reach product;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::size_t cast = behind_cast(tokens, i);
      if (cast != i) {
        i = cast;
      } else if (separates(tokens[i])) {
        found.push_back(std::exchange(product, {}));
      } else if (tokens[i].is("/") || tokens[i].is("%") || tokens[i].is("&")) {
        const bool below = !tokens[i].is("/");
        const Reach divisor = factor(tokens, ++i);
        if (below && has_size(divisor, sizes_)) product = divisor;
      } else {
        for (const auto& [name, times] : factor(tokens, i)) product[name] += times;
      }
    }
    found.push_back(std::move(product));
    return found;
  }

  /// Whether a variable had bounds of several sizes, one of which may be meant at each of its uses.
  [[nodiscard]] bool unsure() const { return unsure_; }

 private:
  /// That begins at `i`; behind it `i` is its last token.
  [[nodiscard]] Reach factor(const Tokens& tokens, std::size_t& i) {
    if (i >= tokens.size()) return {};
    if (tokens[i].is("(")) {
      const std::size_t begin = i + 1;
      i = std::min(closing(tokens, i), tokens.size() - 1);
      return largest(slice(tokens, begin, i));
    }
    if (is_built_in(tokens[i]) && i + 2 < tokens.size()) {
      i += 2;
      return {{tokens[i - 2].text + "." + tokens[i].text, 1}};
    }
    return tokens[i].is_word() && !is_member(tokens, i) ? of_word(tokens[i].text) : Reach();
  }

  /// Where a part leads to a size, those that are of the launch alone are kept below it, as min(x, width - 1) does.
  [[nodiscard]] Reach largest(const Tokens& tokens) {
    constexpr int kMostNested = 64;  // brackets and variables within each other; more is no index that somebody wrote
    if (nested_ == kMostNested) return {};
    ++nested_;
    Reach all, of_launch;
    for (const Reach& part : parts(tokens)) take_largest(has_size(part, sizes_) ? all : of_launch, part);
    --nested_;
    return all.empty() ? of_launch : all;
  }

  [[nodiscard]] Reach of_word(const std::string& word) {
    if (sizes_.contains(word)) return {{word, 1}};
    // Before it is known: nothing, so that `o = o * height + y` counts what is added to itself once.
    const auto [known, first] = known_.try_emplace(word);
    if (!first) return known->second;
    Reach found;
    if (const auto bounds = usage_.bounds.find(word); bounds != usage_.bounds.end()) {
      for (const std::string& size : bounds->second) {
        if (sizes_.contains(size)) found[size] = 1;
      }
    }
    unsure_ = unsure_ || found.size() > 1;
    const auto values = usage_.values.find(word);
    if (found.empty() && values != usage_.values.end()) {
      for (const Tokens& value : values->second) take_largest(found, largest(value));
    }
    return known_[word] = found;
  }

  const KernelUsage& usage_;
  const std::set<std::string>& sizes_;
  std::map<std::string, Reach> known_;  ///< of variables
  int nested_ = 0;
  bool unsure_ = false;
};

/// More than variables and factors. What is computed of the launch is guarded, or fits, but for what is no part of a block: FILTER.
bool has_more(const Tokens& tokens, const std::set<std::string>& sizes) {
  if (tokens.size() == 1) return false;
  const bool of_launch = std::any_of(tokens.begin(), tokens.end(), is_built_in);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token before = i > 0 ? tokens[i - 1] : Token(), after = i + 1 < tokens.size() ? tokens[i + 1] : Token();
    const bool multiplied = before.is("*") || after.is("*") || before.is("<<");
    const bool added = before.is("+") || (after.is("+") && !before.is("-") && !before.is("/") && !before.is("%"));
    if (tokens[i].is_word() && multiplied && look_of(tokens[i].text) == NameLook::Changes && !sizes.contains(tokens[i].text)) return true;
    if (of_launch) continue;
    if (tokens[i].kind == Token::Kind::Number && !tokens[i].is("0") && (multiplied || added)) return true;
    if (tokens[i].is_word() && sizes.contains(tokens[i].text) && added && !multiplied) return true;
  }
  return false;
}

}  // namespace

Reach index_reach(const KernelUsage& usage, const std::vector<Tokens>& indices, const std::set<std::string>& sizes) {
  IndexReader reader(usage, sizes);
  Reach all;
  for (const Tokens& index : indices) {
    for (const Reach& part : reader.parts(index)) {
      if (has_size(part, sizes)) take_largest(all, part);
    }
  }
  for (auto& [name, times] : all) times = reader.unsure() ? 1 : times;
  return all;
}

Tokens beyond_sizes(const KernelUsage& usage, const Tokens& index, const std::set<std::string>& sizes) {
  if (has_more(index, sizes)) return index;
  std::set<std::string> seen;
  Tokens open;
  const auto look_into = [&](const Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].is_word() && !is_member(tokens, i)) open.push_back(tokens[i]);
    }
  };
  look_into(index);
  while (!open.empty()) {
    const Token word = open.back();
    open.pop_back();
    if (usage.bounds.contains(word.text) || !seen.insert(word.text).second) continue;
    const auto values = usage.values.find(word.text);
    if (values == usage.values.end()) continue;
    for (const Tokens& value : values->second) {
      if (has_more(value, sizes)) return value;
      look_into(value);
    }
  }
  return {};
}

}  // namespace attune::importing
