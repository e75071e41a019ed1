#include "tuner/importing/index_reach.hpp"

#include <algorithm>
#include <utility>

namespace attune::importing {
namespace {

bool is_built_in(const Token& token) { return token.is("blockIdx") || token.is("threadIdx"); }

bool is_member(const Tokens& tokens, std::size_t at) { return at > 0 && (tokens[at - 1].is(".") || tokens[at - 1].is("->")); }

bool separates(const Token& token) {
  return token.is("+") || token.is("-") || token.is(",") || token.is("?") || token.is(":") || token.is("<") || token.is(">");
}

void take_largest(Reach& all, const Reach& one) {
  for (const auto& [name, times] : one) all[name] = std::max(all[name], times);
}

bool has_size(const Reach& reach, const std::set<std::string>& sizes) {
  return std::any_of(reach.begin(), reach.end(), [&](const auto& factor) { return sizes.contains(factor.first); });
}

class IndexReader {
 public:
  IndexReader(const KernelUsage& usage, const std::set<std::string>& sizes) : usage_(usage), sizes_(sizes) {}

  /// Of a sum, part by part. `depth`: of variables that are computed of others, which may be themselves.
  [[nodiscard]] std::vector<Reach> parts(const Tokens& tokens, int depth) const {
    std::vector<Reach> found;
    Reach product;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (separates(tokens[i])) {
        found.push_back(std::exchange(product, {}));
      } else if (tokens[i].is("(")) {
        const std::size_t end = closing(tokens, i);
        multiply(product, largest(slice(tokens, i + 1, end), depth));
        i = end;
      } else if (is_built_in(tokens[i]) && i + 2 < tokens.size()) {
        ++product[tokens[i].text + "." + tokens[i + 2].text];
      } else if (tokens[i].is_word() && !is_member(tokens, i)) {
        multiply(product, of_word(tokens[i].text, depth));
      }
    }
    found.push_back(std::move(product));
    return found;
  }

 private:
  static void multiply(Reach& product, const Reach& factor) {
    for (const auto& [name, times] : factor) product[name] += times;
  }

  /// Where a part leads to a size, those that are of the launch alone are kept below it, as min(x, width - 1) does.
  [[nodiscard]] Reach largest(const Tokens& tokens, int depth) const {
    Reach all, of_launch;
    for (const Reach& part : parts(tokens, depth)) take_largest(has_size(part, sizes_) ? all : of_launch, part);
    return all.empty() ? of_launch : all;
  }

  [[nodiscard]] Reach of_word(const std::string& word, int depth) const {
    constexpr int kMostSteps = 8;
    Reach found;
    if (sizes_.contains(word)) return {{word, 1}};
    if (const auto bounds = usage_.bounds.find(word); bounds != usage_.bounds.end()) {
      for (const std::string& size : bounds->second) {
        if (sizes_.contains(size)) found[size] = 1;
      }
    }
    const auto values = usage_.values.find(word);
    if (!found.empty() || values == usage_.values.end() || depth == kMostSteps) return found;
    for (const Tokens& value : values->second) take_largest(found, largest(value, depth + 1));
    return found;
  }

  const KernelUsage& usage_;
  const std::set<std::string>& sizes_;
};

/// More than variables and factors.
bool has_more(const Tokens& tokens, const std::set<std::string>& sizes) {
  if (tokens.size() == 1 || std::any_of(tokens.begin(), tokens.end(), is_built_in)) return false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token before = i > 0 ? tokens[i - 1] : Token(), after = i + 1 < tokens.size() ? tokens[i + 1] : Token();
    const bool multiplied = before.is("*") || after.is("*") || before.is("<<");
    const bool added = before.is("+") || (after.is("+") && !before.is("-") && !before.is("/") && !before.is("%"));
    if (tokens[i].kind == Token::Kind::Number && !tokens[i].is("0") && (multiplied || added)) return true;
    if (tokens[i].is_word() && sizes.contains(tokens[i].text) && added && !multiplied) return true;
  }
  return false;
}

}  // namespace

Reach index_reach(const KernelUsage& usage, const std::vector<Tokens>& indices, const std::set<std::string>& sizes) {
  const IndexReader reader(usage, sizes);
  Reach all;
  for (const Tokens& index : indices) {
    for (const Reach& part : reader.parts(index, 0)) {
      if (has_size(part, sizes)) take_largest(all, part);
    }
  }
  return all;
}

Tokens beyond_sizes(const KernelUsage& usage, const Tokens& index, const std::set<std::string>& sizes) {
  if (has_more(index, sizes)) return index;
  std::set<std::string> seen;
  Tokens open = index;
  while (!open.empty()) {
    const Token word = open.back();
    open.pop_back();
    if (!word.is_word() || usage.bounds.contains(word.text) || !seen.insert(word.text).second) continue;
    const auto values = usage.values.find(word.text);
    if (values == usage.values.end()) continue;
    for (const Tokens& value : values->second) {
      if (has_more(value, sizes)) return value;
      open.insert(open.end(), value.begin(), value.end());
    }
  }
  return {};
}

}  // namespace attune::importing
