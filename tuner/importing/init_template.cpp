// Of InitDraft: what a kernel template takes in angle brackets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "attune/error.hpp"
#include "tuner/importing/element_layout.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

bool is_integer_word(const Token& token) {
  static constexpr std::array<std::string_view, 19> kWords{"int",     "unsigned", "signed",   "long",    "short",    "char",    "bool",
                                                           "size_t",  "int8_t",   "uint8_t",  "int16_t", "uint16_t", "int32_t", "uint32_t",
                                                           "int64_t", "uint64_t", "unsigned", "const",   "auto"};
  return std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

[[noreturn]] void refuse(const InitDraft& draft, const std::string& written, const std::string& why) {
  spec::fail(
      draft.source.position,
      fmt::format("the template parameter '{}' of '{}' {}; attune gives types and whole numbers: write a kernel for one choice of it",
                  written, draft.source.name, why));
}

TemplateParameter read_parameter(const InitDraft& draft, const Tokens& written, const std::string& text) {
  const auto equals = std::find_if(written.begin(), written.end(), [](const Token& token) { return token.is("="); });
  const Tokens declared(written.begin(), equals);
  TemplateParameter parameter;
  if (equals != written.end()) parameter.fallback = Tokens(equals + 1, written.end());
  if (declared.size() < 2 || !declared.back().is_word()) refuse(draft, text, "has no name");
  if (std::any_of(declared.begin(), declared.end(), [](const Token& token) { return token.is("."); })) refuse(draft, text, "is a pack");
  parameter.name = declared.back().text;
  parameter.offset = declared.back().offset;
  const Tokens type = slice(declared, 0, declared.size() - 1);
  parameter.is_type = type.size() == 1 && (type[0].is("typename") || type[0].is("class"));
  parameter.is_bool = contains_word(type, "bool");
  const bool whole =
      std::all_of(type.begin(), type.end(), [](const Token& token) { return is_integer_word(token) || token.is("std") || token.is("::"); });
  if (!parameter.is_type && !whole) refuse(draft, text, "is neither a type nor a whole number");
  return parameter;
}

/// What attune calls it. Where parameters are macros of their own names, it must be called otherwise than in the source.
std::string own_name(const InitDraft& draft, const std::string& name, const std::string& code) {
  if (!draft.kernel.has_macros) return name_in_expressions(name, "_value");
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return has_word(code, lower) ? name + "_value" : name_in_expressions(lower, "_value");
}

std::vector<std::string> types_of(const std::string& list) {
  std::vector<std::string> types;
  for (const Tokens& part : split_at_commas(cuda_tokens(list))) types.push_back(shown(part));
  return types;
}

std::string types_fault(const std::string& list) {
  const auto types = types_of(list);
  const bool known =
      std::all_of(types.begin(), types.end(), [](const std::string& type) { return spec::find_element_type(type).has_value(); });
  return known && !types.empty() ? "" : fmt::format("give element types with commas between: {}", spec::joined(spec::element_type_names()));
}

void draft_type(InitDraft& draft, const TemplateParameter& parameter) {
  const auto layout = parameter.fallback.empty() ? std::nullopt : find_element_layout(shown(parameter.fallback));
  const std::string first = layout && layout->lanes == 1 ? spec::name(layout->type) : "f32";
  const std::string about = fmt::format("the template's type {}", parameter.name);
  const std::string proposed = first == "f64" ? "f64, f32" : first == "f32" ? "f32, f64" : first;
  const auto types = types_of(draft.guess({about, "the element types that it can be", proposed, types_fault}));
  draft.types[parameter.name] = ElementLayout{*spec::find_element_type(types.front())};
  draft.kernel.types.emplace_back(parameter.own_name, types);
  draft.kernel.remarks[parameter.own_name] = "decide: which element types it serves";
  draft.note(Note::Kind::Guessed, about, fmt::format("a type of the problem, {}", fmt::join(types, ", ")));
}

/// Where the source gives none: one that compiles, and computes right where the number is how much is done at a time.
std::int64_t standard_value(NameLook look, const std::string& name) {
  if (look == NameLook::Threads) return axis_of(name) == 0 ? 256 : axis_of(name) == 'x' ? 32 : 8;
  return look == NameLook::Tile ? 16 : look == NameLook::Work ? 4 : look == NameLook::Switch ? 0 : 1;
}

SourceName as_source_name(const InitDraft& draft, const TemplateParameter& parameter, const std::string& code) {
  SourceName name{SourceName::Kind::TemplateArgument, parameter.name, shown(parameter.fallback), {}, true, {}};
  name.position = position_in(code, parameter.offset, draft.source.position.file);
  std::map<std::string, std::string> known;
  for (const SourceName& other : draft.names) {
    if (other.number) known[other.name] = std::to_string(*other.number);
  }
  if (parameter.is_bool && (name.value == "true" || name.value == "false")) name.value = name.value == "true" ? "1" : "0";
  name.number = macro_number(name.value, known);
  if (!name.number) name.number = parameter.is_bool ? 0 : standard_value(look_of(parameter.name), parameter.name);
  return name;
}

}  // namespace

void draft_template(InitDraft& draft, const std::string& code) {
  draft.kernel.has_macros = !draft.source.is_template || std::any_of(draft.names.begin(), draft.names.end(), becomes_macro);
  for (const Tokens& written : draft.source.template_parameters) {
    TemplateParameter parameter = read_parameter(draft, written, text_of(code, written));
    parameter.own_name = own_name(draft, parameter.name, code);
    if (parameter.is_type)
      draft_type(draft, parameter);
    else
      draft.names.push_back(as_source_name(draft, parameter, code));
    draft.template_parameters.push_back(std::move(parameter));
  }
}

void draft_template_value(InitDraft& draft, const SourceName& name) {
  const auto parameter = std::find_if(draft.template_parameters.begin(), draft.template_parameters.end(),
                                      [&](const TemplateParameter& one) { return one.name == name.name; });
  const NameLook look = look_of(name.name);
  const bool tunable = parameter->is_bool || (look != NameLook::Changes && look != NameLook::Nothing);
  const std::string about = fmt::format("the template's {} (line {})", name.name, name.position.line);
  const std::vector<std::int64_t> values = parameter->is_bool ? std::vector<std::int64_t>{0, 1}
                                           : tunable          ? values_around(look, *name.number)
                                                              : std::vector{*name.number};
  const auto chosen = ask_for_values(draft, about, values);
  draft.expressions[name.name] = chosen.empty() ? std::to_string(*name.number) : parameter->own_name;
  if (chosen.empty()) {
    draft.note(Note::Kind::LeftOut, about, fmt::format("it stays {}", *name.number));
    return;
  }
  spec::Parameter made = number_parameter(parameter->own_name, chosen, *name.number);
  std::vector<std::string> told;
  for (spec::Value& value : made.values) {
    if (parameter->is_bool) value = value != spec::Value(std::int64_t{0});
    told.push_back(spec::to_text(value));
  }
  draft.kernel.parameters.push_back(std::move(made));
  draft.kernel.remarks[parameter->own_name] =
      !parameter->fallback.empty() ? fmt::format("decide: which values are worth trying; {} is the source's", shown(parameter->fallback))
                                   : "decide: its values, of which the source says nothing";
  draft.note(tunable ? Note::Kind::Guessed : Note::Kind::Decide, about,
             fmt::format("a parameter {}, value{} {}{}", parameter->own_name, told.size() == 1 ? "" : "s", fmt::join(told, ", "),
                         tunable ? "" : "; by its name it may change what is computed"));
}

void draft_template_arguments(InitDraft& draft) {
  std::vector<std::string> arguments;
  for (const TemplateParameter& parameter : draft.template_parameters) {
    const auto found = draft.expressions.find(parameter.name);
    if (parameter.is_type)
      arguments.push_back(parameter.own_name);
    else if (parameter.is_bool && found->second != parameter.own_name)
      arguments.emplace_back(found->second == "0" ? "false" : "true");
    else
      arguments.push_back(found->second);
  }
  draft.kernel.template_arguments = fmt::format("{}", fmt::join(arguments, ", "));
}

}  // namespace attune::importing
