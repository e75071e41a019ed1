// Of T1Reader: what arrays are filled with.
#include <fmt/format.h>

#include <filesystem>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"
#include "tuner/importing/element_layout.hpp"
#include "tuner/importing/source_files.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/element.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;
using Role = ImportedArgument::Role;

/// The number that the file has, also in a text; nothing of what is none.
std::optional<spec::Value> given_number(const JsonNode* node) {
  if (node == nullptr || node->kind != JsonNode::Kind::Scalar) return std::nullopt;
  if (!node->is_string()) return node->scalar;
  const auto number = base::try_parse_json(node->string("a number"));
  return number.is_number() ? std::optional<spec::Value>(number.get<double>()) : std::nullopt;
}

/// KTT's expression for the place of each element.
bool is_index(const std::string& text) { return base::trimmed(text) == "i"; }

std::string text_of(const JsonNode* node) { return node != nullptr && node->is_string() ? node->string("a text") : ""; }

/// Looks at the file, which has to be so many elements of a type: tuning would refuse others (verify::data_buffers). An import goes on
/// without it, and tells why.
void look_at(const std::filesystem::path& path, spec::ElementType type, std::int64_t elements, FoundData& found) {
  try {
    spec::DataFile file = spec::read_data_file(path);
    const bool typed = !file.type || spec::same_bits(*file.type, type);
    if (typed && file.bytes / spec::size_bytes(type) == elements && file.bytes % spec::size_bytes(type) == 0) {
      found.data = ImportedData{path, std::move(file)};
    } else {
      found.why_not = fmt::format("'{}' holds {}, and the argument is {} elements of {}", found.name, spec::described(file), elements,
                                  spec::name(type));
    }
  } catch (const SpecError& error) {
    constexpr std::size_t kColon = 2;
    found.why_not = fmt::format("'{}' is not taken: {}", found.name, std::string(error.what()).substr(error.file().size() + kColon));
  } catch (const EnvironmentError& error) {
    found.why_not = fmt::format("'{}' is not taken: {}", found.name, error.what());
  }
}

}  // namespace

FoundData T1Reader::find_data(const std::string& source, const ImportedArgument& argument) const {
  const std::filesystem::path folder = std::filesystem::path(root_.position.file).parent_path();
  FoundData found{spec::included_file("template.json", source), std::nullopt};
  if (found.name.empty()) {
    found.why_not = fmt::format("'{}' is no path inside this file's folder", source);
  } else if (spec::is_name_of_templates(found.name)) {
    found.why_not = fmt::format("'{}' is a name that templates have for something else", found.name);
  } else if (!is_regular(folder / found.name)) {
    found.why_not = fmt::format("there is no file '{}' beside this one", found.name);
  } else {
    look_at(folder / found.name, argument.type, integer_of(argument.count, root_.position, sizes()), found);
  }
  return found;
}

void T1Reader::fill_with(const FoundData& found, ImportedArgument& argument, const std::string& what) {
  argument.fill_file = found.name;
  note(Note::Kind::Taken, what, fmt::format("filled from '{}', {}", found.name, spec::described(found.data->file)));
  kernel_.data.insert_or_assign(found.name, *found.data);
}

void T1Reader::fill_with_number(const JsonNode& node, ImportedArgument& argument) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  const auto number = given_number(member_of(node, {"FillValue"}));
  const std::string text = number ? literal(*number) : "";
  if (number && spec::scalar_bits(*number, argument.type)) {
    argument.fill = text == "0" ? spec::Fill::Zeros : text == "1" ? spec::Fill::Ones : spec::Fill::Constant;
    argument.fill_value = text;
    if (argument.fill == spec::Fill::Constant) note(Note::Kind::Taken, what, fmt::format("filled with {}", text));
    return;
  }
  const std::string why = number ? fmt::format("{} is no {}", text, spec::name(argument.type)) : "its \"FillValue\" is no number";
  note(Note::Kind::LeftOut, what, why + ": random numbers stand there");
  argument.remark = fmt::format("the file fills it with one number, but {}", why);
}

void T1Reader::fill_from_source(const JsonNode& node, ImportedArgument& argument, const std::string& word) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back()), source = text_of(member_of(node, {"DataSource"}));
  const std::string named = source.empty() ? "" : fmt::format(" (\"{}\")", source);
  std::string why = fmt::format("attune takes no data from \"{}\"{}", word, named);
  if (word == "BinaryRaw") {
    const FoundData found = source.empty() ? FoundData{} : find_data(source, argument);
    if (found.data) return fill_with(found, argument, what);
    why = source.empty() ? "its contents are in no file" : found.why_not;
  } else if (word == "Generator" && is_index(source)) {
    why = why_no_index(node, argument);
    if (why.empty()) {
      argument.fill = spec::Fill::Index;
      return note(Note::Kind::Taken, what, "filled with 0, 1, 2, ...");
    }
  }
  note(Note::Kind::LeftOut, what, why + ": random numbers stand there");
  argument.remark = fmt::format("the file fills it from {}{}; kernels whose time or work depends on the data need others", word, named);
}

std::string T1Reader::why_no_index(const JsonNode& node, const ImportedArgument& argument) const {
  const JsonNode* const bytes = member_of(node, {"TypeSize"});
  const JsonNode& type = required_member(node, "Type", "an argument", "give its element type, e.g. \"float\"");
  const auto layout = element_layout(type.string("its type"),
                                     bytes == nullptr ? std::nullopt : std::optional(bytes->integer("\"TypeSize\"")), type.position);
  if (layout.lanes > 1) return fmt::format("its elements are {}, and 0, 1, 2, ... are single numbers", type.string("its type"));
  const std::int64_t elements = integer_of(argument.count, root_.position, sizes()), highest = spec::highest_exact_whole(argument.type);
  if (elements - 1 <= highest) return "";
  return fmt::format("{} has every whole number up to {} alone, and 0, 1, 2, ... go up to {}", spec::name(argument.type), highest,
                     elements - 1);
}

void T1Reader::read_fill(const JsonNode& node, ImportedArgument& argument) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  const JsonNode* const fill = member_of(node, {"FillType"});
  const std::string word = fill == nullptr ? ""
                                           : known_word(*fill, "\"FillType\" of " + what,
                                                        {"Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF"});
  if (argument.role == Role::Output) {
    if (word == "Constant" || word.empty()) return;
    return note(Note::Kind::LeftOut, what, fmt::format("it is written only, so its \"{}\" data are not made", word));
  }
  if (word.empty()) return;
  if (word == "Constant") return fill_with_number(node, argument);
  if (word != "Random") return fill_from_source(node, argument, word);
  const auto most = given_number(member_of(node, {"FillValue"}));
  if (most && literal(*most) != "1")
    note(Note::Kind::Changed, what,
         fmt::format("its random numbers are between -1 and 1 (integers from -100 to 100), not up to {}", literal(*most)));
}

}  // namespace attune::importing
