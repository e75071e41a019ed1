#include "tuner/importing/kernel_usage.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/importing/cuda_macros.hpp"
#include "tuner/importing/pointer_uses.hpp"

namespace attune::importing {
namespace {

int axis_number(const std::string& member) { return member == "x" ? 0 : member == "y" ? 1 : member == "z" ? 2 : -1; }

/// The axis of `threadIdx.x` at a token; -1: another thing stands there.
int axis_at(const Tokens& tokens, std::size_t at, std::string_view word) {
  if (at + 2 >= tokens.size() || !tokens[at].is(word) || !tokens[at + 1].is(".")) return -1;
  return axis_number(tokens[at + 2].text);
}

/// A word that is no member: not the x of threadIdx.x.
bool is_variable(const Tokens& tokens, std::size_t at) {
  return tokens[at].is_word() && (at == 0 || (!tokens[at - 1].is(".") && !tokens[at - 1].is("->")));
}

void note_built_ins(const Tokens& body, KernelUsage& usage) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i].is("gridDim")) usage.grid_stride = true;
    if (const int axis = axis_at(body, i, "blockIdx"); axis >= 0) usage.block_index[static_cast<std::size_t>(axis)] = true;
    if (const int axis = axis_at(body, i, "threadIdx"); axis >= 0) usage.thread_index[static_cast<std::size_t>(axis)] = true;
    if (const int axis = axis_at(body, i, "blockDim"); axis >= 0) usage.block_dim[static_cast<std::size_t>(axis)] = true;
  }
}

/// Behind a factor that begins at `at`: a name with its member, a number or a bracket.
std::size_t behind_factor(const Tokens& body, std::size_t at) {
  if (at >= body.size()) return at;
  if (body[at].is("(")) return closing(body, at) + 1;
  if (body[at].kind != Token::Kind::Word && body[at].kind != Token::Kind::Number) return at;
  return at + 2 < body.size() && body[at + 1].is(".") ? at + 3 : at + 1;
}

/// Where the factor begins that ends before `at`.
std::size_t factor_begin(const Tokens& body, std::size_t at) {
  if (at == 0) return at;
  if (body[at - 1].is(")")) return std::min(opening(body, at - 1), at);
  if (body[at - 1].kind != Token::Kind::Word && body[at - 1].kind != Token::Kind::Number) return at;
  return at >= 3 && body[at - 2].is(".") ? at - 3 : at - 1;
}

void append_factor(Tokens& product, const Tokens& factor) {
  if (factor.empty()) return;
  if (!product.empty()) product.push_back({Token::Kind::Sign, "*", 0});
  product.insert(product.end(), factor.begin(), factor.end());
}

/// What a product holds besides the part from `begin` to `end`.
void add_factors(const Tokens& body, std::size_t begin, std::size_t end, Tokens& product) {
  while (end < body.size() && body[end].is("*")) {
    const std::size_t next = behind_factor(body, end + 1);
    if (next == end + 1) break;
    append_factor(product, slice(body, end + 1, next));
    end = next;
  }
  while (begin > 0 && body[begin - 1].is("*")) {
    const std::size_t next = factor_begin(body, begin - 1);
    if (next == begin - 1) break;
    append_factor(product, slice(body, next, begin - 1));
    begin = next;
  }
}

/// The bracket of arithmetic or of a cast around a part, with the cast's type; nothing where another thing stands around it.
std::optional<std::pair<std::size_t, std::size_t>> bracket_around(const Tokens& body, std::size_t begin, std::size_t end) {
  std::size_t open = begin;
  while (open > 0) {
    const Token& before = body[open - 1];
    if (before.is("(")) break;
    if (before.is(";") || before.is("{") || before.is("}") || before.is("[") || before.is(",")) return std::nullopt;
    open = before.is(")") ? opening(body, open - 1) : open - 1;
  }
  if (open == 0) return std::nullopt;
  --open;
  const std::size_t close = closing(body, open);
  if (close < end || close == body.size()) return std::nullopt;
  const Token before = open > 0 ? body[open - 1] : Token();
  if (before.is_word() && !find_element_layout(before.text))
    return before.is("return") ? std::optional(std::pair(open, close + 1)) : std::nullopt;
  return std::pair(before.is_word() ? open - 1 : open, close + 1);
}

/// blockIdx.x * blockDim.x, and (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * ITEMS.
void note_factors(const Tokens& body, KernelUsage& usage) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    const int axis = axis_at(body, i, "blockIdx");
    if (axis < 0 || !usage.factors[static_cast<std::size_t>(axis)].empty()) continue;
    Tokens product;
    add_factors(body, i, i + 3, product);
    for (auto around = bracket_around(body, i, i + 3); around; around = bracket_around(body, around->first, around->second))
      add_factors(body, around->first, around->second, product);
    usage.factors[static_cast<std::size_t>(axis)] = std::move(product);  // may be empty: the next use may show it
  }
}

bool ends_expression(const Token& token) { return token.is(";") || token.is(",") || token.is("{") || token.is("}"); }

/// The right side of an assignment whose sign is at `at`.
Tokens right_side(const Tokens& body, std::size_t at) {
  int depth = 0;
  std::size_t end = at + 1;
  for (; end < body.size(); ++end) {
    if (body[end].is("(") || body[end].is("[")) ++depth;
    if (body[end].is(")") || body[end].is("]")) --depth;
    if (depth < 0 || (depth == 0 && ends_expression(body[end]))) break;
  }
  return slice(body, at + 1, end);
}

/// name * (value)
Tokens product_with(const std::string& name, const Tokens& value) {
  Tokens product = {{Token::Kind::Word, name, 0}, {Token::Kind::Sign, "*", 0}, {Token::Kind::Sign, "(", 0}};
  product.insert(product.end(), value.begin(), value.end());
  product.push_back({Token::Kind::Sign, ")", 0});
  return product;
}

void note_definitions(const Tokens& body, KernelUsage& usage) {
  for (std::size_t i = 1; i < body.size(); ++i) {
    if (!(body[i].is("=") || body[i].is("+=") || body[i].is("*=")) || !body[i - 1].is_word()) continue;
    if (i > 1 && (body[i - 2].is(".") || body[i - 2].is("->"))) continue;
    const Tokens value = right_side(body, i);
    const std::string& name = body[i - 1].text;
    auto& depends = usage.depends[name];
    auto& axes = usage.axes[name];
    if (std::any_of(value.begin(), value.end(), [](const Token& token) { return token.is("["); })) continue;  // data, no index
    usage.values[name].push_back(body[i].is("*=") ? product_with(name, value) : value);
    for (std::size_t k = 0; k < value.size(); ++k) {
      if (is_variable(value, k) && value[k].text != name) depends.insert(value[k].text);
      for (const char* const word : {"blockIdx", "threadIdx"}) {
        if (const int axis = axis_at(value, k, word); axis >= 0) axes.insert(axis);
      }
    }
  }
  for (int round = 0; round < 8; ++round) {
    for (auto& [name, words] : usage.depends) {
      for (const std::string& word : words) {
        if (const auto found = usage.axes.find(word); found != usage.axes.end() && word != name)
          usage.axes[name].insert(found->second.begin(), found->second.end());
      }
    }
  }
}

bool is_comparison(const Token& token) { return token.is("<") || token.is("<=") || token.is(">") || token.is(">=") || token.is("!="); }

bool ends_operand(const Token& token) {
  return ends_expression(token) || is_comparison(token) || token.is("&&") || token.is("||") || token.is("?") || token.is(":") ||
         token.is("=") || token.is("==") || token.is("return");
}

Tokens left_operand(const Tokens& body, std::size_t at) {
  int depth = 0;
  std::size_t begin = at;
  for (; begin > 0; --begin) {
    const Token& token = body[begin - 1];
    if (token.is(")") || token.is("]")) ++depth;
    if (token.is("(") || token.is("[")) --depth;
    if (depth < 0 || (depth == 0 && ends_operand(token))) break;
  }
  return slice(body, begin, at);
}

Tokens right_operand(const Tokens& body, std::size_t at) {
  int depth = 0;
  std::size_t end = at + 1;
  for (; end < body.size(); ++end) {
    if (body[end].is("(") || body[end].is("[")) ++depth;
    if (body[end].is(")") || body[end].is("]")) --depth;
    if (depth < 0 || (depth == 0 && ends_operand(body[end]))) break;
  }
  return slice(body, at + 1, end);
}

/// One side is a number that is passed, the other something that the body computes.
void note_bound(const Tokens& limit, const Tokens& index, const std::set<std::string>& numbers, KernelUsage& usage) {
  for (const Token& bound : limit) {
    if (!bound.is_word() || !numbers.contains(bound.text)) continue;
    for (std::size_t k = 0; k < index.size(); ++k) {
      for (const char* const word : {"blockIdx", "threadIdx"}) {
        if (const int axis = axis_at(index, k, word); axis >= 0) usage.bound_axes[bound.text].insert(axis);
      }
      if (!is_variable(index, k) || !usage.depends.contains(index[k].text)) continue;
      usage.bounds[index[k].text].insert(bound.text);
      auto& axes = usage.bound_axes[bound.text];
      axes.insert(usage.axes[index[k].text].begin(), usage.axes[index[k].text].end());
    }
  }
}

/// Variables that are computed of blockIdx.
std::set<std::string> of_blocks(const KernelUsage& usage) {
  std::set<std::string> found = {"blockIdx"};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& [name, words] : usage.depends) {
      if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return found.contains(word); })) found.insert(name);
    }
  }
  return found;
}

/// Whether the last value that the variable got before `at` is computed of blockIdx: a name may count threads in one loop and what blocks
/// work on in another.
bool last_of_blocks(const Tokens& body, std::size_t at, const std::string& name, const std::set<std::string>& blocks) {
  while (at > 0 && !(body[at - 1].is(name) && body[at].is("="))) --at;
  if (at == 0) return false;
  const Tokens value = right_side(body, at);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (is_variable(value, i) && blocks.contains(value[i].text)) return true;
  }
  return false;
}

/// `i < WIDTH` with i from blockIdx: what the launch covers is WIDTH, and no number of threads or elements of a block. Of `N - 1` it is N.
void note_limit(const Tokens& body, std::size_t at, const Tokens& index, Tokens limit, const std::set<std::string>& named,
                const std::set<std::string>& blocks, KernelUsage& usage) {
  limit.erase(std::find_if(limit.begin(), limit.end(), [](const Token& token) { return token.is("-"); }), limit.end());
  bool from_block = false;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const bool variable = is_variable(index, i) && blocks.contains(index[i].text);
    from_block = from_block || (variable && (index[i].is("blockIdx") || last_of_blocks(body, at, index[i].text, blocks)));
  }
  const auto no_size = [&](const Token& token) {
    return token.is_word() && !find_element_layout(token.text) && (!named.contains(token.text) || look_of(token.text) == NameLook::Changes);
  };
  if (!from_block || std::any_of(limit.begin(), limit.end(), no_size)) return;
  for (const Token& token : limit) {
    if (token.is_word() && named.contains(token.text)) usage.limits.insert(token.text);
  }
}

void note_limits(const Tokens& body, const std::set<std::string>& named, KernelUsage& usage) {
  const auto blocks = of_blocks(usage);
  for (std::size_t i = 1; i < body.size(); ++i) {
    if (!is_comparison(body[i])) continue;
    const bool either = body[i].is("!=");
    const Tokens left = left_operand(body, i), right = right_operand(body, i);
    if (either || body[i].text.starts_with('<')) note_limit(body, i, left, right, named, blocks, usage);
    if (either || body[i].text.starts_with('>')) note_limit(body, i, right, left, named, blocks, usage);
  }
}

void note_bounds(const Tokens& body, const std::set<std::string>& numbers, KernelUsage& usage) {
  for (std::size_t i = 1; i < body.size(); ++i) {
    if (!is_comparison(body[i])) continue;
    const Tokens left = left_operand(body, i), right = right_operand(body, i);
    note_bound(right, left, numbers, usage);
    note_bound(left, right, numbers, usage);
  }
}

}  // namespace

KernelUsage kernel_usage(const SourceKernel& kernel, const std::vector<KernelArgument>& arguments, const std::set<std::string>& named) {
  KernelUsage usage;
  std::set<std::string> numbers;
  for (const KernelArgument& argument : arguments) {
    if (!argument.pointer) numbers.insert(argument.name);
  }
  note_built_ins(kernel.body, usage);
  note_factors(kernel.body, usage);
  note_definitions(kernel.body, usage);
  note_limits(kernel.body, named, usage);
  numbers.insert(usage.limits.begin(), usage.limits.end());
  note_bounds(kernel.body, numbers, usage);
  for (const KernelArgument& argument : arguments) {
    if (argument.pointer) usage.pointers[argument.name] = pointer_use(kernel.body, argument.name);
  }
  for (auto& [name, use] : usage.pointers) {
    for (const auto& [other, its] : usage.pointers) {
      const bool inside = std::any_of(its.indices.begin(), its.indices.end(),
                                      [&, &wanted = name](const Tokens& index) { return contains_word(index, wanted); });
      if (other != name && inside) use.is_index = true;
    }
  }
  usage.shared = shared_arrays(kernel.body, kernel.body, usage.depends);
  for (SharedArray& array : shared_arrays(kernel.outside, kernel.body, usage.depends)) {
    if (contains_word(kernel.body, array.name)) usage.shared.push_back(std::move(array));
  }
  return usage;
}

}  // namespace attune::importing
