// Of T1Reader: the expected results of a script.
#include <fmt/format.h>

#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;
using Role = ImportedArgument::Role;

/// The tolerances of numpy.allclose, which Kernel Tuner compares with: it leaves the relative one as it is.
constexpr double kRelative = 1e-5, kDefaultAbsolute = 1e-6;

/// The expected results of a script, in a block that import_script.py writes; null: there are none.
const JsonNode* answers_of(const JsonNode& import) {
  const JsonNode* const answer = import.kind == JsonNode::Kind::Object ? member_of(import, {"answer"}) : nullptr;
  const bool given = answer != nullptr && answer->kind == JsonNode::Kind::Object && is_set(member_of(*answer, {"given"}));
  return given ? answer : nullptr;
}

bool is_filled_at_random(const ImportedArgument& argument) {
  const bool filled = argument.role == Role::Input || argument.role == Role::Both;
  return filled && argument.fill == spec::Fill::Uniform && argument.fill_file.empty();
}

}  // namespace

void T1Reader::read_answers() {
  const JsonNode* const block = member_of(root_, {"Import"});
  if (block == nullptr || answers_of(*block) == nullptr) return;
  const JsonNode& import = *block;
  const std::string about = "\"answer\"";
  std::map<std::string, FoundData> wanted;
  if (const JsonNode* const list = member_of(*answers_of(import), {"arguments"})) {
    for (const JsonNode& item : list->array("the expected results")) find_answer(item, wanted);
  }
  if (wanted.empty()) return note(Note::Kind::LeftOut, about, "none of the script's expected results can be compared with");
  std::map<std::size_t, FoundData> fills;
  if (const std::string missing = find_inputs(fills); !missing.empty()) {
    return note(Note::Kind::Decide, about,
                fmt::format("the script's expected results hold for its own data, which are not all there: {}; import the script anew with "
                            "a larger --largest-array, or name a plain kernel",
                            missing));
  }
  compare_with(wanted, fills);
  const JsonNode* const absolute = member_of(import, {"atol"});
  const ImportedTolerance tolerance{kRelative, absolute == nullptr ? kDefaultAbsolute : absolute->number("\"atol\"")};
  for (const auto& [output, found] : wanted) kernel_.reference.tolerances[output] = tolerance;
  note(Note::Kind::Taken, about,
       fmt::format("{} compared with the script's expected results, off by {} relative and {} absolute at most",
                   counted(wanted.size(), "output"), tolerance.relative, tolerance.absolute));
}

void T1Reader::compare_with(const std::map<std::string, FoundData>& wanted, const std::map<std::size_t, FoundData>& fills) {
  for (const auto& [place, found] : fills)
    fill_with(found, kernel_.arguments[place], fmt::format("the argument '{}'", argument_names_[place]));
  for (const auto& [output, found] : wanted) {
    kernel_.reference.outputs[output] = found.name;
    kernel_.data.insert_or_assign(found.name, *found.data);
  }
}

void T1Reader::find_answer(const JsonNode& node, std::map<std::string, FoundData>& wanted) {
  const JsonNode& number = required_member(node, "Argument", "an expected result", "give the place of its argument, counted from 0");
  const std::int64_t place = number.integer("\"Argument\"");
  if (place < 0 || place >= static_cast<std::int64_t>(kernel_.arguments.size()))
    spec::fail(number.position, fmt::format("there is no argument {}; they are counted from 0", place));
  const auto& argument = kernel_.arguments[static_cast<std::size_t>(place)];
  const std::string about = fmt::format("the expected result of '{}'", argument_names_[static_cast<std::size_t>(place)]);
  if (!is_written(argument)) return note(Note::Kind::LeftOut, about, "the kernel does not write it");
  if (const JsonNode* const why = member_of(node, {"NotComputed"}))
    return note(Note::Kind::LeftOut, about, why->string("why there is no result"));
  const JsonNode* const file = member_of(node, {"File"});
  if (file == nullptr) {
    const bool is_number = member_of(node, {"Value"}) != nullptr;
    return note(
        Note::Kind::LeftOut, about,
        is_number ? "it is one number, and the argument an array" : "its contents are in no file; a larger --largest-array keeps them");
  }
  FoundData found = find_data(file->string("the file of " + about), argument);
  if (!found.data) return note(Note::Kind::LeftOut, about, found.why_not);
  wanted.insert_or_assign(argument.name, std::move(found));
}

std::string T1Reader::find_inputs(std::map<std::size_t, FoundData>& fills) const {
  std::string missing;
  const auto& items = arguments_node().items;
  for (std::size_t place = 0; place < kernel_.arguments.size(); ++place) {
    const ImportedArgument& argument = kernel_.arguments[place];
    if (!is_filled_at_random(argument)) continue;
    const JsonNode* const source = member_of(items[place], {"DataSource"});
    FoundData found{{}, std::nullopt, "its contents are in no file"};
    if (source != nullptr && source->is_string()) found = find_data(source->string("a file"), argument);
    if (found.data)
      fills.emplace(place, std::move(found));
    else
      missing += fmt::format("{}'{}' ({})", missing.empty() ? "" : ", ", argument_names_[place], found.why_not);
  }
  return missing;
}

}  // namespace attune::importing
