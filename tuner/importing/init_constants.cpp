// Of InitDraft: variables in constant memory that the kernel reads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tuner/importing/cuda_parts.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/element.hpp"

namespace attune::importing {
namespace {

/// One that a declaration names.
struct ConstantVariable {
  std::string name, type;
  std::vector<Tokens> dimensions;
  bool has_values = false;  ///< the source gives them
  std::size_t offset = 0;   ///< of the name in the source
};

bool is_type_word(const Token& token) {
  static constexpr std::array<std::string_view, 8> kOthers{"extern", "static",       "const",      "volatile",
                                                           "inline", "__constant__", "__device__", "struct"};
  return token.is_word() && std::find(kOthers.begin(), kOthers.end(), token.text) == kOthers.end();
}

/// `__constant__ float a[4], b = 2;`
std::vector<ConstantVariable> constants_of(const Tokens& declared) {
  std::vector<ConstantVariable> found;
  std::string type;
  std::size_t at = 0;
  for (; at + 1 < declared.size(); ++at) {
    if (declared[at].is("__align__") || declared[at].is("alignas")) {
      at = closing(declared, at + 1);
      continue;
    }
    const Token& next = declared[at + 1];
    if (declared[at].is_word() && (next.is("[") || next.is("=") || next.is("{") || next.is(",") || next.is(";"))) break;  // the name
    if (is_type_word(declared[at]) && !declared[at].is("std")) type += (type.empty() ? "" : " ") + declared[at].text;
  }
  while (at < declared.size() && declared[at].is_word()) {
    ConstantVariable variable{declared[at].text, type, {}, false, declared[at].offset};
    for (++at; at < declared.size() && declared[at].is("["); at = closing(declared, at) + 1)
      variable.dimensions.push_back(slice(declared, at + 1, closing(declared, at)));
    variable.has_values = at < declared.size() && (declared[at].is("=") || declared[at].is("{"));
    for (; at < declared.size() && !declared[at].is(",") && !declared[at].is(";"); ++at) {
      if (declared[at].is("{") || declared[at].is("(")) at = closing(declared, at);
    }
    found.push_back(std::move(variable));
    if (at < declared.size()) ++at;
  }
  return found;
}

/// All words of the kernel and of the functions that it calls.
std::set<std::string> reached_words(const std::vector<SourcePart>& parts, const Tokens& body) {
  std::set<std::string> words;
  const auto add = [&](const Tokens& tokens) {
    for (const Token& token : tokens) {
      if (token.is_word()) words.insert(token.text);
    }
  };
  add(body);
  std::vector<bool> added(parts.size(), false);
  for (std::size_t before = 0; before != words.size();) {
    before = words.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool code = parts[i].kind == SourcePart::Kind::Function || parts[i].kind == SourcePart::Kind::Class;
      if (added[i] || !code || !words.contains(parts[i].name)) continue;
      added[i] = true;
      add(parts[i].tokens);
    }
  }
  return words;
}

/// How many elements it has; nothing: that does not show, or parameters change it.
std::optional<std::string> count_of_constant(const InitDraft& draft, const ConstantVariable& variable) {
  std::string product;
  for (const Tokens& dimension : variable.dimensions) {
    const auto text = whole_expression(dimension, draft.expressions);
    const auto number = text ? macro_number(*text, {}) : std::nullopt;
    if (!number) return std::nullopt;
    product += fmt::format("{}{}", product.empty() ? "" : " * ", *number);
  }
  return product.empty() ? "1" : product;
}

/// Where the source says it. Names of another file than the kernel's are told with it.
struct ConstantPlace {
  const std::string& file;
  const std::string& code;

  [[nodiscard]] std::string text(const InitDraft& draft, const ConstantVariable& variable) const {
    const int line = position_in(code, variable.offset, "").line;
    return file == draft.kernel.kernel_file ? fmt::format("line {}", line) : fmt::format("{} line {}", file, line);
  }
};

std::optional<ElementLayout> layout_of_constant(const InitDraft& draft, const ConstantVariable& variable, const std::string& code) {
  const std::string type = resolved_type(variable.type, code);
  const auto layout = find_element_layout(type);
  return layout || !draft.structs ? layout : draft.structs(type);
}

bool is_taken(const InitDraft& draft, const std::string& name) {
  const auto has_it = [&](const auto& one) { return one.name == name; };
  const auto& made = draft.kernel.arguments;
  return std::any_of(draft.arguments.begin(), draft.arguments.end(), has_it) || std::any_of(made.begin(), made.end(), has_it);
}

void add_constant(InitDraft& draft, const ConstantVariable& variable, const ConstantPlace& place) {
  const std::string about = fmt::format("the constant '{}' ({})", variable.name, place.text(draft, variable));
  if (variable.has_values) {
    draft.note(Note::Kind::Taken, about, "the source gives its values");
    return;
  }
  const auto layout = layout_of_constant(draft, variable, place.code);
  const auto count = count_of_constant(draft, variable);
  if (!layout || !count) {
    draft.note(Note::Kind::Decide, about,
               fmt::format("the kernel reads it, and its {} does not show: tuning finds zeros in it until it is a buffer with \"memory\": "
                           "\"constant\"",
                           layout ? "number of elements" : "type"));
    return;
  }
  const bool whole = !spec::is_floating(layout->type);
  const std::string type = layout->struct_bytes > 0 ? variable.type : spec::name(layout->type);
  ImportedArgument made;
  made.role = ImportedArgument::Role::Input;
  made.name = variable.name;
  made.type = layout->type;
  made.align_bytes = layout->align_bytes;
  made.struct_bytes = layout->struct_bytes;
  made.constant_memory = true;
  made.count = layout->lanes > 1 ? fmt::format("{} * {}", *count, layout->lanes) : *count;
  made.fill = whole ? spec::Fill::Zeros : spec::Fill::Uniform;
  made.remark =
      fmt::format("decide: what the program puts in it; {}", whole ? "zeros are in range of everything" : "these are random numbers");
  draft.note(Note::Kind::Guessed, about,
             fmt::format("a buffer in constant memory, {}[{}], of {}", type, made.count, whole ? "zeros" : "random numbers"));
  draft.kernel.arguments.push_back(std::move(made));
}

}  // namespace

void draft_constants(InitDraft& draft, const std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> codes;
  for (const auto& [file, source] : files) {
    if (!file.starts_with('<')) codes[file] = without_comments(source);  // attune's own headers have none
  }
  std::vector<SourcePart> all;
  std::vector<std::pair<ConstantPlace, ConstantVariable>> found;
  for (const auto& [file, code] : codes) {
    for (SourcePart& part : source_parts(code)) {
      if (part.kind == SourcePart::Kind::Other && contains_word(part.tokens, "__constant__")) {
        for (ConstantVariable& variable : constants_of(part.tokens)) found.push_back({{file, code}, std::move(variable)});
      }
      all.push_back(std::move(part));
    }
  }
  const auto words = reached_words(all, draft.source.body);
  for (const auto& [place, variable] : found) {
    if (words.contains(variable.name) && !is_taken(draft, variable.name)) add_constant(draft, variable, place);
  }
}

}  // namespace attune::importing
