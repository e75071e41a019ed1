#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/importing/init_draft.hpp"

namespace attune::importing {
namespace {

constexpr std::array<const char*, 3> kAxisNames{"x", "y", "z"};

/// blockDim.x as one word.
Tokens with_block_words(const Tokens& tokens) {
  Tokens joined;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    joined.push_back(tokens[i]);
    if (!tokens[i].is("blockDim") || i + 2 >= tokens.size()) continue;
    joined.back().text += "." + tokens[i + 2].text;
    i += 2;
  }
  return joined;
}

/// One that a block's threads can be.
bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

class Geometry {
 public:
  explicit Geometry(InitDraft& draft) : draft_(draft) {}

  void make() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (uses_threads(axis)) block_axes_ = axis + 1;
      if (draft_.usage.block_index[axis]) grid_axes_ = axis + 1;
    }
    std::vector<std::string> block;
    for (std::size_t axis = 0; axis < block_axes_; ++axis) block.push_back(block_of(axis));
    for (std::size_t axis = 0; axis < block_axes_; ++axis)
      draft_.kernel.block.push_back(
          draft_.guess({"the block", fmt::format("threads in {}", kAxisNames[axis]), block[axis], expression_fault}));
    for (std::size_t axis = 0; axis < grid_axes_; ++axis) {
      const std::string grid = grid_of(axis);
      draft_.kernel.grid.push_back(draft_.guess({"the grid", fmt::format("blocks in {}", kAxisNames[axis]), grid, expression_fault}));
    }
    tell();
  }

 private:
  [[nodiscard]] bool uses_threads(std::size_t axis) const { return draft_.usage.thread_index[axis] || draft_.usage.block_dim[axis]; }

  /// A name of that look and of that axis ('x', or 0: none in its name); nothing where there is none.
  [[nodiscard]] std::string named(NameLook look, char axis) const {
    for (const SourceName& name : draft_.names) {
      const bool counts = name.used && name.number && !draft_.usage.limits.contains(name.name);
      if (counts && look_of(name.name) == look && axis_of(name.name) == axis) return draft_.expressions.at(name.name);
    }
    return "";
  }

  /// The factor of that look in a product with blockIdx.
  [[nodiscard]] std::string from_factors(std::size_t axis, NameLook look) const {
    for (const Token& token : draft_.usage.factors[axis]) {
      if (token.is("blockDim")) return "";
      if (token.is_word() && draft_.expressions.contains(token.text) && look_of(token.text) == look)
        return draft_.expressions.at(token.text);
    }
    return "";
  }

  /// The factor of a product with blockIdx that is the block's threads, if it is one number or name.
  [[nodiscard]] std::string lone_factor(std::size_t axis) const {
    const Tokens& factors = draft_.usage.factors[axis];
    if (factors.size() == 1 && !factors[0].is_word()) return whole_expression(factors, {}).value_or("");
    std::vector<std::string> words;
    for (const Token& token : factors) {
      if (token.is("blockDim")) return "";
      if (token.is_word() && draft_.expressions.contains(token.text)) words.push_back(token.text);
    }
    return words.size() == 1 ? draft_.expressions.at(words.front()) : "";
  }

  std::string block_of(std::size_t axis) {
    if (!uses_threads(axis)) return "1";
    const char letter = kAxisNames[axis][0];
    std::string found = named(NameLook::Threads, letter);
    if (found.empty()) found = from_factors(axis, NameLook::Threads);
    if (found.empty() && block_axes_ == 1) found = whole_expression(draft_.source.launch_bounds, draft_.expressions).value_or("");
    if (found.empty() && (axis == 0 || !draft_.usage.block_dim[axis])) found = named(NameLook::Threads, 0);
    if (found.empty()) found = from_factors(axis, NameLook::Tile);
    if (found.empty()) found = lone_factor(axis);
    if (found.empty() && !draft_.usage.block_dim[axis]) found = named(NameLook::Tile, letter);
    if (found.empty() && !draft_.usage.block_dim[axis]) found = named(NameLook::Tile, 0);
    const bool number = is_number(found);
    if (!found.empty() && !(number && draft_.usage.block_dim[axis])) return found;
    if (!draft_.usage.block_dim[axis]) return unknown_block(axis);
    return add_block_parameter(axis, number ? std::stoll(found) : kMostThreads);
  }

  /// The kernel has its threads fixed somewhere, and does not show where: no parameter may change them.
  std::string unknown_block(std::size_t axis) {
    const char* const threads = block_axes_ == 1 ? "256" : axis == 0 ? "32" : "8";
    unsure_ = true;
    draft_.note(Note::Kind::Decide, fmt::format("threadIdx.{}", kAxisNames[axis]),
                fmt::format("the source does not show how many threads a block has; {} stand in the template", threads));
    return threads;
  }

  /// Threads that the launch alone decides. `bound`: of __launch_bounds__.
  std::string add_block_parameter(std::size_t axis, std::int64_t bound) {
    std::string name = block_axes_ == 1 ? "block_size" : fmt::format("block_size_{}", kAxisNames[axis]);
    if (std::any_of(draft_.arguments.begin(), draft_.arguments.end(), [&](const auto& one) { return one.name == name; }))
      name = "launch_" + name;
    const bool alone = block_axes_ == 1;
    std::int64_t most = std::min<std::int64_t>(bound, alone || axis == 0 ? kMostThreads : 32);
    if (alone) most = std::min(most, shared_limit());
    std::vector<std::int64_t> values;
    for (std::int64_t value = alone ? 32 : axis == 0 ? 8 : 1; value <= most; value *= 2) values.push_back(value);
    if (values.empty()) values.push_back(most);
    const std::int64_t given = std::min<std::int64_t>(values.back(), alone ? 256 : axis == 0 ? 32 : 8);
    if (draft_.is_reference) return std::to_string(given);
    spec::Parameter parameter = number_parameter(name, values, given);
    parameter.binding = spec::Binding::Launch;
    draft_.kernel.parameters.push_back(std::move(parameter));
    draft_.note(Note::Kind::Guessed, fmt::format("blockDim.{}", kAxisNames[axis]),
                fmt::format("a parameter {} of the launch, {} to {}", name, values.front(), values.back()));
    return name;
  }

  /// A shared array with an element for each thread bounds the block.
  std::int64_t shared_limit() {
    std::int64_t most = kMostThreads;
    for (const SharedArray& array : draft_.usage.shared) {
      if (!array.by_thread || array.dimensions.size() != 1) continue;
      const auto text = whole_expression(array.dimensions.front(), draft_.expressions);
      if (!text || !is_number(*text)) continue;
      most = std::min<std::int64_t>(most, std::stoll(*text));
      draft_.note(Note::Kind::Taken, fmt::format("the shared array '{}'", array.name),
                  fmt::format("a block has at most its {} elements", *text));
    }
    return most;
  }

  /// The size that an axis of the grid runs over: one that bounds what depends on this axis alone, the only one that
  /// bounds what depends on it too, one that is named so, or the next by order.
  [[nodiscard]] std::string size_of(std::size_t axis) {
    const int number = static_cast<int>(axis);
    std::vector<std::string> shared;
    for (const std::string& name : draft_.size_order) {
      const auto found = draft_.usage.bound_axes.find(name);
      if (found == draft_.usage.bound_axes.end()) continue;
      if (found->second == std::set<int>{number}) return draft_.size_names.at(name);
      if (found->second.contains(number)) shared.push_back(draft_.size_names.at(name));
    }
    if (shared.size() != 1) unsure_ = true;
    if (shared.size() == 1) return shared.front();
    const auto& all = draft_.kernel.sizes;
    const auto named_so =
        std::find_if(all.begin(), all.end(), [&](const ImportedSize& one) { return axis_of(one.name) == kAxisNames[axis][0]; });
    return named_so != all.end() ? named_so->name : all[std::min(axis, all.size() - 1)].name;
  }

  /// Whether an index of this axis is multiplied with the name, as in i * ITEMS.
  [[nodiscard]] bool multiplies_index(const std::string& name) const {
    const Tokens& body = draft_.source.body;
    const auto is_index = [&](const Token& token) {
      const auto found = draft_.usage.axes.find(token.text);
      return token.is_word() && found != draft_.usage.axes.end() && found->second.contains(0);
    };
    for (std::size_t i = 0; i + 2 < body.size(); ++i) {
      if (!body[i + 1].is("*")) continue;
      if (body[i].is(name) && (is_index(body[i + 2]) || body[i + 2].is("threadIdx"))) return true;
      if (body[i + 2].is(name) && (is_index(body[i]) || (i >= 2 && body[i - 2].is("threadIdx")))) return true;
    }
    return false;
  }

  std::string per_block_of(std::size_t axis) {
    const Tokens& factors = draft_.usage.factors[axis];
    if (factors.empty()) return "1";
    auto replaced = draft_.expressions;
    for (std::size_t i = 0; i < 3; ++i)
      replaced[fmt::format("blockDim.{}", kAxisNames[i])] = i < draft_.kernel.block.size() ? draft_.kernel.block[i] : "1";
    const auto found = whole_expression(with_block_words(factors), replaced);
    if (!found) unsure_ = true;
    std::string product = found.value_or(draft_.kernel.block[std::min(axis, draft_.kernel.block.size() - 1)]);
    if (grid_axes_ > 1) return product;
    for (const auto& named : draft_.expressions) {
      const auto& all = draft_.kernel.parameters;
      const bool is_parameter = std::any_of(all.begin(), all.end(), [&](const spec::Parameter& one) { return one.name == named.second; });
      const NameLook look = look_of(named.first);
      const bool counts = is_parameter && (look == NameLook::Work || look == NameLook::Vector) && !contains_word(factors, named.first);
      if (!counts || !multiplies_index(named.first)) continue;
      product += " * " + named.second;
      unsure_ = true;
    }
    return product;
  }

  std::string grid_of(std::size_t axis) {
    draft_.per_block.emplace_back("1");
    if (!draft_.usage.block_index[axis]) return "1";
    const std::string size = size_of(axis), per_block = per_block_of(axis);
    draft_.per_block.back() = per_block;
    return per_block == "1" ? size : fmt::format("ceil_div({}, {})", size, per_block);
  }

  void tell() {
    const auto text = [](const std::vector<std::string>& all) { return fmt::format("{}", fmt::join(all, " x ")); };
    draft_.note(Note::Kind::Guessed, "the block", text(draft_.kernel.block) + " threads");
    draft_.note(Note::Kind::Guessed, "the grid", text(draft_.kernel.grid) + " blocks");
    if (draft_.usage.grid_stride)
      draft_.note(Note::Kind::Guessed, "the grid", "the kernel reads gridDim; where it loops over the grid, fewer blocks do as well");
    const bool look = unsure_ || grid_axes_ > 1 || draft_.usage.grid_stride;
    if (look) draft_.kernel.remarks["launch"] = "decide: whether so many blocks cover the problem once";
    if (unsure_) draft_.note(Note::Kind::Decide, "the grid", "the source does not show for certain what a block covers");
  }

  static constexpr std::int64_t kMostThreads = 1024;

  InitDraft& draft_;
  std::size_t block_axes_ = 1, grid_axes_ = 1;
  bool unsure_ = false;
};

void require_parameters(const InitDraft& draft) {
  if (!draft.kernel.parameters.empty()) return;
  std::string why;
  for (const std::string& line : draft.left_macros) why += "\n" + line;
  if (why.empty())
    why =
        "\nwrite #ifndef BLOCK_SIZE, #define BLOCK_SIZE 128, #endif before it and use that name where it means this number, or read blockDim.x";
  throw UsageError(
      fmt::format("failed making a template of {}: nothing in '{}' can be tuned:{}", draft.source.position.file, draft.source.name, why));
}

}  // namespace

void draft_geometry(InitDraft& draft) {
  Geometry(draft).make();
  if (!draft.is_reference) require_parameters(draft);
}

}  // namespace attune::importing
