// Of InitDraft: what a kernel template takes in angle brackets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/importing/element_layout.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

bool is_integer_word(const Token& token) {
  static constexpr std::array<std::string_view, 18> kWords{"int",     "unsigned", "signed",  "long",     "short",   "char",
                                                           "bool",    "size_t",   "int8_t",  "uint8_t",  "int16_t", "uint16_t",
                                                           "int32_t", "uint32_t", "int64_t", "uint64_t", "const",   "auto"};
  return std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

/// A kernel template in its source.
struct TemplateSource {
  const SourceKernel& kernel;
  const std::string& code;

  [[noreturn]] void refuse(const Tokens& written, const std::string& why) const {
    spec::fail(
        position_in(code, written.front().offset, kernel.position.file),
        fmt::format("the template parameter '{}' of '{}' {}; attune gives types and whole numbers: write a kernel for one choice of it",
                    text_of(code, written), kernel.name, why));
  }
};

TemplateParameter read_parameter(const TemplateSource& source, const Tokens& written) {
  const auto equals = std::find_if(written.begin(), written.end(), [](const Token& token) { return token.is("="); });
  const Tokens declared(written.begin(), equals);
  TemplateParameter parameter;
  if (equals != written.end()) parameter.fallback = Tokens(equals + 1, written.end());
  if (std::any_of(declared.begin(), declared.end(), [](const Token& token) { return token.is("."); })) source.refuse(written, "is a pack");
  const bool named = declared.size() >= 2 && declared.back().is_word() && !is_integer_word(declared.back());
  if (!named && parameter.fallback.empty()) source.refuse(written, "has neither a name nor a default");
  if (!named) return parameter;
  parameter.name = declared.back().text;
  parameter.offset = declared.back().offset;
  const Tokens type = slice(declared, 0, declared.size() - 1);
  parameter.is_type = type.size() == 1 && (type[0].is("typename") || type[0].is("class"));
  parameter.is_bool = contains_word(type, "bool");
  const bool whole =
      std::all_of(type.begin(), type.end(), [](const Token& token) { return is_integer_word(token) || token.is("std") || token.is("::"); });
  if (!parameter.is_type && !whole) source.refuse(written, "is neither a type nor a whole number");
  return parameter;
}

/// What attune calls it. Where parameters are macros of their own names, it must be called otherwise than anything in a source.
std::string own_name(const InitDraft& draft, const TemplateParameter& parameter) {
  const char* const ending = parameter.is_type ? "_type" : "_value";
  return draft.kernel.has_macros ? parameter.name + ending : name_in_expressions(parameter.name, ending);
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

bool sounds_like_an_index(const std::string& name) {
  static constexpr std::array<std::string_view, 7> kNames{"I", "Index", "IndexT", "Idx", "IdxT", "OffsetT", "SizeT"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// What the type is where nothing else is said. Throws: SpecError at a default that attune has no element type for.
std::string first_type(const TemplateSource& source, const TemplateParameter& parameter, const Tokens& written) {
  if (parameter.fallback.empty()) return sounds_like_an_index(parameter.name) ? "i32" : "f32";
  const auto element = spec::find_cuda_type(resolved_type(shown(parameter.fallback), source.code));
  if (!element) source.refuse(written, "has a default that is none of attune's element types");
  return spec::name(*element);
}

void draft_type(InitDraft& draft, const TemplateParameter& parameter, const std::string& first) {
  const std::string about = fmt::format("the template's type {}", parameter.name);
  const std::string proposed = first == "f64" ? "f64, f32" : first == "f32" ? "f32, f64" : first;
  const auto types = types_of(draft.guess({about, "the element types that it can be", proposed, types_fault}));
  draft.types[parameter.name] = ElementLayout{*spec::find_element_type(types.front())};
  draft.kernel.types.emplace_back(parameter.own_name, types);
  draft.kernel.remarks[parameter.own_name] = "decide: which element types it serves";
  draft.note(Note::Kind::Guessed, about, fmt::format("a type of the problem, {}", fmt::join(types, ", ")));
}

/// Where the source gives none: one that compiles, and computes right where the number is how much is done at a time. `alone`: no other
/// parameter is called like threads.
std::int64_t standard_value(NameLook look, const std::string& name, bool alone) {
  if (look == NameLook::Threads) return !alone ? 16 : axis_of(name) == 0 ? 256 : axis_of(name) == 'x' ? 32 : 8;
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
  if (name.number) return name;
  name.value.clear();  // none that can be read
  const auto& all = draft.source.template_parameters;
  const auto threads = std::count_if(all.begin(), all.end(), [](const Tokens& one) {
    return std::any_of(one.begin(), one.end(),
                       [](const Token& token) { return token.is_word() && look_of(token.text) == NameLook::Threads; });
  });
  name.number = parameter.is_bool ? 0 : standard_value(look_of(parameter.name), parameter.name, threads == 1);
  return name;
}

/// A type that is another one where nothing else is said stays that.
bool same_as_another(InitDraft& draft, TemplateParameter& parameter) {
  if (parameter.fallback.size() != 1) return false;
  for (const TemplateParameter& other : draft.template_parameters) {
    if (!other.is_type || !parameter.fallback.front().is(other.name)) continue;
    parameter.own_name = other.own_name;
    draft.types[parameter.name] = draft.types.at(other.name);
    draft.note(Note::Kind::Taken, fmt::format("the template's type {}", parameter.name),
               fmt::format("{}, as its default says", other.name));
    return true;
  }
  return false;
}

/// A default that is computed of other parameters stays that.
bool follows_others(InitDraft& draft, const TemplateParameter& parameter, const std::string& about) {
  const auto& all = draft.template_parameters;
  const bool depends = std::any_of(
      all.begin(), all.end(), [&](const TemplateParameter& one) { return !one.is_type && contains_word(parameter.fallback, one.name); });
  const auto expression = depends && !parameter.is_bool ? whole_expression(parameter.fallback, draft.expressions) : std::nullopt;
  if (!expression) return false;
  draft.expressions[parameter.name] = fmt::format("({})", *expression);
  if (expression->find("//") != std::string::npos) draft.kernel.constraints.push_back(*expression + " >= 1");
  draft.note(Note::Kind::Taken, about, fmt::format("{}, as its default says", *expression));
  return true;
}

}  // namespace

void draft_template(InitDraft& draft, const std::string& code) {
  draft.kernel.has_macros = !draft.source.is_template || std::any_of(draft.names.begin(), draft.names.end(), becomes_macro);
  if (const int line = instantiation_line(code, draft.source.name); line > 0)
    spec::fail({draft.source.position.file, line, 1},
               fmt::format("'{}' is instantiated here, and attune instantiates what it launches; take this line away", draft.source.name));
  const TemplateSource source{draft.source, code};
  for (const Tokens& written : draft.source.template_parameters) {
    TemplateParameter parameter = read_parameter(source, written);
    if (parameter.name.empty()) break;  // that one and all behind it have defaults
    parameter.own_name = own_name(draft, parameter);
    const bool settled = parameter.is_type && same_as_another(draft, parameter);
    if (parameter.is_type && !settled) draft_type(draft, parameter, first_type(source, parameter, written));
    if (!parameter.is_type) draft.names.push_back(as_source_name(draft, parameter, code));
    draft.template_parameters.push_back(std::move(parameter));
  }
}

void draft_template_value(InitDraft& draft, const SourceName& name) {
  const auto parameter = std::find_if(draft.template_parameters.begin(), draft.template_parameters.end(),
                                      [&](const TemplateParameter& one) { return one.name == name.name; });
  const NameLook look = look_of(name.name);
  const bool tunable = parameter->is_bool || (look != NameLook::Changes && look != NameLook::Nothing);
  const std::string about = fmt::format("the template's {} (line {})", name.name, name.position.line);
  if (follows_others(draft, *parameter, about)) return;
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
  const bool unread = !parameter->fallback.empty() && name.value.empty();
  const std::string fallback = shown(parameter->fallback);
  draft.kernel.remarks[parameter->own_name] = parameter->fallback.empty() ? "decide: its values, of which the source says nothing"
                                              : unread ? fmt::format("decide: its values; its default {} was not read", fallback)
                                                       : fmt::format("decide: which values are worth trying; {} is the source's", fallback);
  std::string text = fmt::format("a parameter {}, value{} {}", parameter->own_name, told.size() == 1 ? "" : "s", fmt::join(told, ", "));
  if (!tunable) text += "; by its name it may change what is computed";
  if (unread) text += fmt::format("; its default {} is no number that shows", fallback);
  draft.note(tunable && !unread ? Note::Kind::Guessed : Note::Kind::Decide, about, text);
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
