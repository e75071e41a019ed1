// Of InitDraft: how many terms an element of the plain kernel's results sums.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tuner/importing/init_draft.hpp"
#include "tuner/spec/element.hpp"

namespace attune::importing {
namespace {

/// A loop of the kernel's body. Places are those of tokens.
struct CountedLoop {
  std::size_t begin = 0, end = 0;  ///< of what it repeats
  std::string variable;
  std::vector<std::string> sizes;  ///< of the problem, that bound it, by the template's names
  bool by_numbers = false;         ///< nothing else than numbers bounds it
};

/// Behind the statement that begins at `at`.
std::size_t behind_statement(const Tokens& body, std::size_t at) {
  for (; at < body.size(); ++at) {
    if (body[at].is("{")) return closing(body, at) + 1;
    if (body[at].is("(") || body[at].is("[")) at = closing(body, at);
    if (at < body.size() && body[at].is(";")) return at + 1;
  }
  return body.size();
}

CountedLoop read_loop(const InitDraft& plain, const Tokens& body, std::size_t at) {
  CountedLoop loop;
  const std::size_t close = closing(body, at + 1);
  loop.begin = close + 1;
  loop.end = behind_statement(body, loop.begin);
  const auto semicolon = [&](std::size_t from) {
    while (from < close && !body[from].is(";")) ++from;
    return from;
  };
  const std::size_t first = semicolon(at + 2);
  const Tokens condition = slice(body, first + 1, semicolon(first + 1));
  loop.by_numbers = !condition.empty();
  for (const Token& token : condition) {
    if (!token.is_word()) continue;
    if (loop.variable.empty()) {
      loop.variable = token.text;
    } else if (plain.sizes.contains(token.text)) {
      loop.sizes.push_back(plain.size_names.at(token.text));
      loop.by_numbers = false;
    } else if (!plain.expressions.contains(token.text)) {
      loop.by_numbers = false;
    }
  }
  return loop;
}

std::vector<CountedLoop> loops_of(const InitDraft& plain) {
  const Tokens& body = plain.source.body;
  std::vector<CountedLoop> loops;
  for (std::size_t at = 0; at + 1 < body.size(); ++at) {
    if (body[at].is("for") && body[at + 1].is("(")) loops.push_back(read_loop(plain, body, at));
    if (body[at].is("while")) loops.push_back({at, behind_statement(body, at), "", {}, false});
  }
  return loops;
}

/// What a sum is added to.
struct Accumulator {
  std::size_t at = 0;  ///< where that happens
  std::string name;
  Tokens index;  ///< of an element; empty: a variable
};

/// `sum += x`, `sum = sum + x`, `sum = fma(a, b, sum)`, `part[j] += x`.
std::vector<Accumulator> accumulators_of(const Tokens& body) {
  std::vector<Accumulator> found;
  for (std::size_t at = 1; at + 1 < body.size(); ++at) {
    const bool adds = body[at].is("+=") || body[at].is("-=");
    if (!adds && !body[at].is("=")) continue;
    const bool element = body[at - 1].is("]");
    const std::size_t open = element ? opening(body, at - 1) : at - 1;
    if (element && (open == 0 || open >= at)) continue;
    const Token& name = body[element ? open - 1 : open];
    const Tokens value = slice(body, at + 1, behind_statement(body, at + 1));
    if (!name.is_word() || (!adds && !contains_word(value, name.text))) continue;
    found.push_back({at, name.text, element ? slice(body, open + 1, at - 1) : Tokens{}});
  }
  return found;
}

/// Whether it begins anew whenever the loop repeats.
bool begins_anew(const Tokens& body, const CountedLoop& loop, const Accumulator& sum) {
  if (!sum.index.empty()) return contains_word(sum.index, loop.variable);
  for (std::size_t at = loop.begin; at + 1 < loop.end; ++at) {
    if (!body[at].is(sum.name) || !body[at + 1].is("=")) continue;
    if (!contains_word(slice(body, at + 2, behind_statement(body, at + 2)), sum.name)) return true;
  }
  return false;
}

bool has_floating_output(const InitDraft& draft) {
  const auto& all = draft.kernel.arguments;
  return std::any_of(all.begin(), all.end(), [](const ImportedArgument& one) {
    const bool output = one.role == ImportedArgument::Role::Output || one.role == ImportedArgument::Role::Both;
    return output && one.struct_bytes == 0 && (!one.type_axis.empty() || spec::is_floating(one.type));
  });
}

/// Products of the sizes that loops around a sum run over.
std::set<std::string> products_of(const Tokens& body, const std::vector<CountedLoop>& loops) {
  std::set<std::string> products;
  for (const Accumulator& sum : accumulators_of(body)) {
    std::vector<std::string> factors;
    for (const CountedLoop& loop : loops) {
      const bool around = loop.begin <= sum.at && sum.at < loop.end && loop.variable != sum.name;
      if (around && !begins_anew(body, loop, sum)) factors.insert(factors.end(), loop.sizes.begin(), loop.sizes.end());
    }
    if (!factors.empty()) products.insert(fmt::format("{}", fmt::join(factors, " * ")));
  }
  return products;
}

}  // namespace

void draft_terms(InitDraft& draft, const InitDraft& plain) {
  if (!has_floating_output(draft)) return;
  const Tokens& body = plain.source.body;
  const auto loops = loops_of(plain);
  const auto products = products_of(body, loops);
  const std::string about = fmt::format("the reference '{}'", plain.source.name);
  if (!products.empty()) {
    const std::string all = fmt::format("{}", fmt::join(products, ", "));
    draft.kernel.reference.terms = products.size() == 1 ? all : fmt::format("max({})", all);
    draft.kernel.reference.terms_remark = "decide: how many terms an element sums; results may be off by the more, the more there are";
    draft.note(Note::Kind::Guessed, about, fmt::format("\"terms\" {}, since its loop sums so many", draft.kernel.reference.terms));
    return;
  }
  const bool atomic = std::any_of(body.begin(), body.end(), [](const Token& token) { return token.text.starts_with("atomic"); });
  const bool unclear = std::any_of(loops.begin(), loops.end(), [](const CountedLoop& loop) { return !loop.by_numbers; });
  const bool hidden =
      std::any_of(plain.usage.pointers.begin(), plain.usage.pointers.end(), [](const auto& one) { return one.second.escapes; });
  if (atomic || unclear || hidden)
    draft.note(Note::Kind::Decide, about,
               "whether \"terms\" is needed: where an element sums many terms, 64 units in the last place refuse right results, and "
               "\"terms\", of sizes, widens that (docs/template-format.md)");
}

}  // namespace attune::importing
