#include <fmt/format.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/importing/init_draft.hpp"

namespace attune::importing {
namespace {

std::string listed(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
  return text;
}

constexpr const char* kLeaveOut = "none";

/// Whole numbers with commas between. Throws: SpecError.
std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const spec::Value& value : spec::parse_value_list("[" + text + "]", {"the answer", 1, 1})) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr) throw SpecError("the answer", 1, 1, "values are whole numbers with commas between");
    numbers.push_back(*number);
  }
  if (numbers.empty()) throw SpecError("the answer", 1, 1, "a parameter needs a value");
  return numbers;
}

std::string list_fault(const std::string& text) {
  if (text == kLeaveOut) return "";
  try {
    static_cast<void>(numbers_of(text));
    return "";
  } catch (const SpecError&) {
    return fmt::format("give whole numbers with commas between, such as 32, 64, 128, or {}", kLeaveOut);
  }
}

std::string place(const InitDraft& draft, const SourceName& name) {
  const bool here = name.position.file == draft.source.position.file;
  return here ? fmt::format("line {}", name.position.line)
              : fmt::format("{} line {}", std::filesystem::path(name.position.file).filename().string(), name.position.line);
}

/// Why it cannot be one; empty: it can.
std::string obstacle(const SourceName& name) {
  if (name.kind == SourceName::Kind::Constant)
    return fmt::format(
        "a constant (= {}), which only a change of the source replaces; write #ifndef {}, #define {} {}, #endif in its place", name.value,
        name.name, name.name, name.value);
  if (!name.number)
    return fmt::format("its value '{}' is no whole number; give it one, such as #define {} 128 behind #ifndef {}", name.value, name.name,
                       name.name);
  if (name.kind == SourceName::Kind::Defined)
    return fmt::format("the source defines it (#define {0} {1}) whatever stands before it; put that between #ifndef {0} and #endif",
                       name.name, name.value);
  return "";
}

void add_parameter(InitDraft& draft, const SourceName& name, NameLook look) {
  const std::string about = fmt::format("the macro {} ({})", name.name, place(draft, name));
  const std::vector<std::int64_t> proposed = values_around(look, *name.number), values = ask_for_values(draft, about, proposed);
  draft.expressions[name.name] = values.empty() ? std::to_string(*name.number) : name.name;
  if (values.empty()) {
    draft.note(Note::Kind::LeftOut, about, fmt::format("it stays {}", *name.number));
    return;
  }
  draft.kernel.parameters.push_back(number_parameter(name.name, values, *name.number));
  draft.note(Note::Kind::Guessed, about, fmt::format("a parameter, values {}", listed(values)));
  if (values == proposed)
    draft.kernel.remarks[name.name] = fmt::format("decide: which values are worth trying; {} is the source's", *name.number);
}

}  // namespace

std::vector<std::int64_t> ask_for_values(const InitDraft& draft, const std::string& about, const std::vector<std::int64_t>& proposed) {
  const std::string answer = draft.guess({about, fmt::format("values to try (or {})", kLeaveOut), listed(proposed), list_fault});
  return answer == kLeaveOut ? std::vector<std::int64_t>{} : numbers_of(answer);
}

bool becomes_macro(const SourceName& name) {
  const NameLook look = look_of(name.name);
  return name.kind == SourceName::Kind::Guarded && name.used && name.number && look != NameLook::Nothing && look != NameLook::Changes;
}

spec::Parameter number_parameter(const std::string& name, const std::vector<std::int64_t>& values, std::int64_t given) {
  spec::Parameter parameter;
  parameter.name = name;
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  const auto found = std::find(values.begin(), values.end(), given);
  parameter.default_index = found == values.end() ? 0 : static_cast<std::size_t>(found - values.begin());
  return parameter;
}

namespace {

/// What the name is in expressions: its number, but where that is computed of a parameter.
std::string expression_of(const InitDraft& draft, const SourceName& name) {
  const Tokens value = cuda_tokens(name.value);
  const auto is_used = [&](const spec::Parameter& one) { return contains_word(value, one.name); };
  const auto& all = draft.kernel.parameters;
  if (std::none_of(all.begin(), all.end(), is_used)) return std::to_string(*name.number);
  const auto text = whole_expression(value, draft.expressions);
  if (!text) return std::to_string(*name.number);
  return value.front().is("(") && closing(value, 0) + 1 == value.size() ? *text : fmt::format("({})", *text);
}

}  // namespace

void draft_parameters(InitDraft& draft) {
  for (const SourceName& name : draft.names) {
    const NameLook look = look_of(name.name);
    if (name.number) draft.expressions[name.name] = expression_of(draft, name);
    if (name.kind == SourceName::Kind::TemplateArgument) {
      if (!draft.usage.limits.contains(name.name)) draft_template_value(draft, name);
      continue;
    }
    if (!name.used || look == NameLook::Nothing || draft.usage.limits.contains(name.name)) continue;
    if (name.kind == SourceName::Kind::Constant && !name.number) continue;  // a variable of the kernel
    const std::string about = fmt::format("{} ({})", name.name, place(draft, name));
    if (look == NameLook::Changes) {
      if (name.kind == SourceName::Kind::Guarded)
        draft.note(Note::Kind::LeftOut, about, "by its name it changes what is computed; add it to \"parameters\" where it does not");
      continue;
    }
    if (const std::string why = obstacle(name); !why.empty()) {
      draft.note(Note::Kind::LeftOut, about, why);
      draft.left_macros.push_back(
          fmt::format("{}:{}:{}: {}: {}", name.position.file, name.position.line, name.position.column, name.name, why));
      continue;
    }
    add_parameter(draft, name, look);
  }
}

}  // namespace attune::importing
