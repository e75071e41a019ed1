#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tuner/importing/init_draft.hpp"
#include "tuner/spec/element.hpp"

namespace attune::importing {
namespace {

using spec::ElementType;

bool is_whole_name(const std::string& type) { return !spec::is_floating(*spec::find_element_type(type)); }

/// What an axis may be at most, so that an argument of the type holds it.
std::int64_t most_of(ElementType type) {
  constexpr std::int64_t kMostOfAnAxis = std::int64_t{1} << 48;
  const int bits = spec::size_bytes(type) * 8;
  return bits == 64 ? kMostOfAnAxis : (std::int64_t{1} << (spec::is_signed(type) ? bits - 1 : bits)) - 1;
}

bool sounds_like_a_size(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static constexpr std::array<std::string_view, 21> kNames{"n",       "m",     "k",      "w",     "h",      "nx",    "ny",
                                                           "nz",      "size",  "count",  "len",   "num",    "rows",  "cols",
                                                           "columns", "width", "height", "depth", "length", "total", "elements"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  for (const std::string_view end : {"_size", "_count", "_len", "_length", "_elements"}) {
    if (name.ends_with(end)) return true;
  }
  return name.starts_with("num_") || name.starts_with("n_");
}

bool bounds_something(const KernelUsage& usage, const std::string& name) {
  return usage.bound_axes.contains(name) ||
         std::any_of(usage.bounds.begin(), usage.bounds.end(), [&](const auto& one) { return one.second.contains(name); });
}

void add_size(InitDraft& draft, const std::string& source_name, const ImportedSize& size) {
  draft.sizes.insert(source_name);
  draft.size_order.push_back(source_name);
  draft.size_names[source_name] = size.name;
  draft.kernel.sizes.push_back(size);
}

/// A template parameter that bounds what the blocks cover and has no default: one kernel for each of its values.
void add_open_size(InitDraft& draft, const SourceName& one, const std::string& name) {
  constexpr std::int64_t kStandard = 1024;
  draft.expressions[one.name] = std::to_string(kStandard);
  add_size(draft, one.name, {name, kStandard, 0, "decide: the number that stands for it in the kernel's name"});
  draft.note(Note::Kind::Decide, fmt::format("the template's {} (line {})", one.name, one.position.line),
             fmt::format("it bounds what blocks work on, and the source gives it no value: {} stands in the kernel's name", kStandard));
}

/// Macros and constants that bound what the blocks cover.
void add_fixed_sizes(InitDraft& draft) {
  for (const SourceName& one : draft.names) {
    if (!draft.usage.limits.contains(one.name) || !one.number || *one.number < 1 || draft.sizes.contains(one.name)) continue;
    const std::string name = name_in_expressions(one.name, "_size");
    if (one.kind == SourceName::Kind::TemplateArgument && one.value.empty()) {
      add_open_size(draft, one, name);
      continue;
    }
    add_size(draft, one.name, {name, *one.number, 0, "the source fixes it"});
    draft.note(Note::Kind::Guessed, fmt::format("{} (line {})", one.name, one.position.line),
               fmt::format("a size of the problem, since it bounds what blocks work on; the source fixes it: {} alone, until it is an "
                           "argument of the kernel",
                           *one.number));
  }
}

/// One that no argument of the kernel and no parameter has.
std::string free_name(const InitDraft& draft) {
  std::string name = "n";
  const auto has_it = [&](const auto& one) { return one.name == name; };
  const auto taken = [&] {
    return std::any_of(draft.arguments.begin(), draft.arguments.end(), has_it) ||
           std::any_of(draft.kernel.parameters.begin(), draft.kernel.parameters.end(), has_it);
  };
  for (int i = 2; taken(); ++i) name = fmt::format("n{}", i);
  return name;
}

/// Whether all that the template's type can be are integers.
bool only_whole(const InitDraft& draft, const KernelArgument& argument) {
  for (const TemplateParameter& parameter : draft.template_parameters) {
    if (parameter.name != argument.type) continue;
    for (const auto& [axis, types] : draft.kernel.types) {
      if (axis == parameter.own_name && !std::all_of(types.begin(), types.end(), is_whole_name)) return false;
    }
  }
  return true;
}

std::string size_or_scalar_fault(const std::string& text) { return text == "size" || text == "scalar" ? "" : "say size or scalar"; }

}  // namespace

std::string name_in_expressions(const std::string& name, const char* ending) {
  const auto reserved = spec::reserved_words();
  const bool taken =
      name == "device" || spec::find_element_type(name) || std::find(reserved.begin(), reserved.end(), name) != reserved.end();
  return taken ? name + ending : name;
}

void draft_sizes(InitDraft& draft) {
  for (const KernelArgument& argument : draft.arguments) {
    if (argument.pointer || spec::is_floating(argument.layout.type) || argument.type == "bool" ||
        (argument.of_template && !only_whole(draft, argument)))
      continue;
    const bool bounds = bounds_something(draft.usage, argument.name);
    const std::string about = fmt::format("the argument '{}'", argument.name);
    const std::string proposed = bounds || sounds_like_a_size(argument.name) ? "size" : "scalar";
    if (draft.guess({about, "a size of the problem, or a scalar (size, scalar)", proposed, size_or_scalar_fault}) != "size") continue;
    const std::string name = name_in_expressions(argument.name, "_size");
    add_size(draft, argument.name, {name, 1, most_of(argument.layout.type), ""});
    draft.note(Note::Kind::Guessed, about,
               fmt::format("a size of the problem{}, since {}", name == argument.name ? "" : fmt::format(", called '{}'", name),
                           bounds ? "it bounds an index" : "it is called so"));
  }
  add_fixed_sizes(draft);
  if (!draft.kernel.sizes.empty()) return;
  const std::string name = free_name(draft);
  draft.kernel.sizes.push_back(
      {name, 1, std::int64_t{1} << 32, "decide: what sizes the problem has; none of the kernel's arguments shows as one"});
  draft.note(Note::Kind::Decide, fmt::format("the size '{}'", name),
             "no argument shows as a size; counts and grid go by this one, which the kernel does not see");
}

}  // namespace attune::importing
