// Of T1Reader: the problem's sizes, blocks and threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/base/characters.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;

constexpr std::array<const char*, 3> kUpper{"X", "Y", "Z"}, kLower{"x", "y", "z"};

/// What Kernel Tuner divides a dimension by, and takes for the threads of a block, where nothing else is said.
std::string default_block_name(std::size_t dimension) { return fmt::format("block_size_{}", kLower[dimension]); }

/// Without the dimensions at the end that are 1.
std::vector<std::string> shortened(std::vector<std::string> dimensions) {
  while (dimensions.size() > 1 && dimensions.back() == "1") dimensions.pop_back();
  return dimensions;
}

bool is_plain(const std::string& text) { return std::all_of(text.begin(), text.end(), base::is_name_part); }

/// Nothing of an expression that depends on something.
std::optional<double> constant_of(const std::string& text, const spec::SourcePosition& position) {
  const auto expression = spec::Expression::parse(text, position);
  if (!expression.variables().empty()) return std::nullopt;
  const spec::Value value = expression.evaluate([](std::string_view) { return std::nullopt; });
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* fraction = std::get_if<double>(&value);
  return fraction == nullptr ? std::nullopt : std::optional(*fraction);
}

std::string parenthesised(const std::string& text) { return is_plain(text) ? text : fmt::format("({})", text); }

}  // namespace

void T1Reader::add_problem_size(const std::string& name, std::int64_t value, const spec::SourcePosition& position) {
  if (value < 1) spec::fail(position, fmt::format("\"ProblemSize\" has the dimension {}; give a number of at least 1", value));
  const std::string free = free_name(name);
  kernel_.sizes.push_back({free, value});
  names_.problem_sizes.push_back(free);
  names_.others.push_back(free);
}

void T1Reader::add_problem_size(const std::string& name, const JsonNode& node) {
  const Translation size = expression(node, "\"ProblemSize\"", Use::Number);
  if (spec::Expression::parse(size.text).variables().empty())
    return add_problem_size(name, integer_of(size.text, node.inside(), {}), node.position);
  const std::string free = free_name(name);
  kernel_.lets.emplace_back(free, size.text);
  names_.problem_sizes.push_back(free);
  names_.others.push_back(free);
}

void T1Reader::read_problem_size() {
  const JsonNode* const node = member_of(*specification_, {"ProblemSize"});
  if (node == nullptr) return;
  const auto named = [](std::size_t i) { return fmt::format("problem_size_{}", kLower[i]); };
  const auto check_dimensions = [&](std::size_t count) {
    if (count < 1 || count > 3) spec::fail(node->position, fmt::format("\"ProblemSize\" has {} dimensions; give one to three", count));
  };
  if (node->kind == JsonNode::Kind::Array) {
    check_dimensions(node->items.size());
    for (std::size_t i = 0; i < node->items.size(); ++i) add_problem_size(named(i), node->items[i]);
  } else if (node->kind == JsonNode::Kind::Object) {
    for (std::size_t i = 0; i < kUpper.size(); ++i) {
      if (const JsonNode* const one = member_of(*node, {kUpper[i], kLower[i]})) add_problem_size(named(i), *one);
    }
    check_dimensions(names_.problem_sizes.size());
  } else if (node->is_string() && std::string_view("[(").find(node->string("").substr(0, 1)) != std::string_view::npos &&
             !node->string("").empty()) {
    const auto values = spec::parse_value_list(node->string("\"ProblemSize\""), node->inside());
    check_dimensions(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      add_problem_size(named(i), integer_of(spec::to_text(values[i]), node->inside(), {}), node->position);
  } else {
    add_problem_size("problem_size", *node);
  }
}

std::vector<std::string> T1Reader::default_block() const {
  std::vector<std::string> block;
  for (std::size_t i = 0; i < kLower.size(); ++i)
    block.push_back(parameter(default_block_name(i)) != nullptr ? default_block_name(i) : "1");
  return block;
}

std::vector<std::string> T1Reader::read_dimensions(const JsonNode& node, const std::string& what, Fraction fraction) {
  const auto one = [&](const JsonNode& item) {
    const Translation dimension = expression(item, what, Use::Number);
    const bool rounded_up = fraction == Fraction::RoundedUp;
    if (const auto number = constant_of(dimension.text, item.inside()); number && (rounded_up ? *number <= 0 : *number < 1))
      spec::fail(item.position, fmt::format("{} has the dimension {}; give a number of at least 1", what, dimension.text));
    if (fraction == Fraction::Kept || !dimension.divides) return dimension.text;
    note(Note::Kind::Changed, what, fmt::format("\"{}\" may have a fraction; it is rounded up", dimension.text));
    return fmt::format("ceil({})", dimension.text);
  };
  if (node.kind == JsonNode::Kind::Array) {
    if (node.items.empty() || node.items.size() > 3)
      spec::fail(node.position, fmt::format("{} has {} dimensions; give one to three", what, node.items.size()));
    std::vector<std::string> dimensions;
    for (const JsonNode& item : node.items) dimensions.push_back(one(item));
    return dimensions;
  }
  if (node.kind != JsonNode::Kind::Object) return {one(node)};
  std::vector<std::string> dimensions;
  for (std::size_t i = 0; i < kUpper.size(); ++i) {
    const JsonNode* const item = member_of(node, {kUpper[i], kLower[i]});
    if (item == nullptr && i == 0) spec::fail(node.position, fmt::format("{} lacks \"X\"; give its first dimension", what));
    dimensions.push_back(item == nullptr ? "1" : one(*item));
  }
  tell_unread(node, {"X", "Y", "Z", "x", "y", "z"}, what);
  return dimensions;
}

/// What Kernel Tuner divides the dimension by; empty: nothing.
std::string T1Reader::divisor_of(std::size_t dimension) {
  const std::string key = fmt::format("GridDiv{}", kUpper[dimension]);
  const JsonNode* const node = member_of(*specification_, {key});
  const bool empty = node == nullptr || (node->kind == JsonNode::Kind::Array && node->items.empty());
  if (empty) return parameter(default_block_name(dimension)) != nullptr ? default_block_name(dimension) : "";
  const std::string what = fmt::format("\"{}\"", key);
  if (node->kind != JsonNode::Kind::Array) return expression(*node, what, Use::Number).text;
  std::string product;
  for (const JsonNode& item : node->items) {
    const std::string factor = expression(item, what, Use::Number).text;
    product += product.empty() ? (node->items.size() > 1 ? parenthesised(factor) : factor) : " * " + parenthesised(factor);
  }
  return product;
}

std::vector<std::string> T1Reader::divided_problem() {
  std::vector<std::string> grid;
  for (std::size_t i = 0; i < names_.problem_sizes.size(); ++i) {
    const std::string divisor = divisor_of(i);
    grid.push_back(divisor.empty() ? names_.problem_sizes[i] : fmt::format("ceil_div({}, {})", names_.problem_sizes[i], divisor));
  }
  return grid;
}

/// Whether "GlobalSize" counts threads, as OpenCL has it, or blocks.
bool T1Reader::counts_threads() {
  const JsonNode* const type = member_of(*specification_, {"GlobalSizeType"});
  if (type == nullptr) {
    note(Note::Kind::Changed, "\"GlobalSizeType\"", "missing: \"GlobalSize\" is taken for numbers of blocks, as of a CUDA kernel");
    return false;
  }
  return known_word(*type, "\"GlobalSizeType\"", {"CUDA", "OpenCL", "Vulkan"}) == "OpenCL";
}

std::vector<std::string> T1Reader::grid_of(const JsonNode& node, const std::vector<std::string>& block) {
  std::vector<std::string> grid = read_dimensions(node, "\"GlobalSize\"", Fraction::RoundedUp);
  if (!counts_threads()) return grid;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (i < block.size() && block[i] != "1") grid[i] = grid[i] == block[i] ? "1" : fmt::format("ceil_div({}, {})", grid[i], block[i]);
  }
  note(Note::Kind::Changed, "\"GlobalSize\"", "it counts threads; blocks are these divided by \"LocalSize\", rounded up");
  return grid;
}

void T1Reader::read_geometry() {
  const JsonNode* const local = member_of(*specification_, {"LocalSize"});
  const JsonNode* const global = member_of(*specification_, {"GlobalSize"});
  const std::vector<std::string> by_name = default_block();
  const bool named = std::any_of(by_name.begin(), by_name.end(), [](const std::string& one) { return one != "1"; });
  if (local == nullptr && !named)
    spec::fail(specification_->position,
               "\"KernelSpecification\" lacks \"LocalSize\"; say how many threads a block has, e.g. {\"X\": \"block_size_x\"}");
  std::vector<std::string> block = local != nullptr ? read_dimensions(*local, "\"LocalSize\"", Fraction::Kept) : by_name;
  const bool divided = member_of(*specification_, {"GridDivX", "GridDivY", "GridDivZ"}) != nullptr;
  std::vector<std::string> grid;
  if (!names_.problem_sizes.empty() && (divided || global == nullptr)) {
    kernel_.by_kernel_tuner = true;
    grid = divided_problem();
    note(Note::Kind::Taken, "\"ProblemSize\"", "blocks are it divided by \"GridDivX\", \"GridDivY\" and \"GridDivZ\", rounded up");
    if (global != nullptr)
      note(Note::Kind::LeftOut, "\"GlobalSize\"", "Kernel Tuner goes by \"ProblemSize\" and the divisors, and so does the template");
  } else if (global != nullptr) {
    grid = grid_of(*global, block);
  } else {
    spec::fail(specification_->position,
               "\"KernelSpecification\" lacks \"GlobalSize\"; say how many blocks there are, or give \"ProblemSize\" and \"GridDivX\"");
  }
  kernel_.block = shortened(std::move(block));
  kernel_.grid = shortened(std::move(grid));
  if (const JsonNode* const shared = member_of(*specification_, {"SharedMemory"})) {
    const std::string bytes = expression(*shared, "\"SharedMemory\"", Use::Number).text;
    if (const auto number = constant_of(bytes, shared->inside()); number && *number < 0)
      spec::fail(shared->position, fmt::format("\"SharedMemory\" is {} bytes; give 0 or more", bytes));
    if (bytes != "0") kernel_.shared_bytes = bytes;
  }
}

/// A template has a size at least: where the file names none, the elements of the largest argument.
void T1Reader::fix_sizes() {
  if (kernel_.sizes.empty()) {
    std::int64_t most = 1;
    for (const ImportedArgument& argument : kernel_.arguments) {
      if (argument.role == ImportedArgument::Role::DynamicShared) continue;
      most = std::max(most, integer_of(argument.count, specification_->position, {}));
    }
    kernel_.sizes.push_back({free_name("problem_size"), most});
  }
  note(
      Note::Kind::Decide, "\"problem\"",
      "the file describes one problem, so each size has one value; to serve others, widen \"min\" and \"max\" and write counts, \"grid\" and "
      "\"scalars\" by these names");
}

}  // namespace attune::importing
