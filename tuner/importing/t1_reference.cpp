// Of T1Reader: what the file itself says that results are compared with. The members and what they mean are KTT's.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/importing/kernel_name.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;

/// KTT's own where the file says none; and differences that its comparison of ratios lets pass whatever they are of.
constexpr double kDefaultThreshold = 1e-4, kNoDifference = 1e-4;

constexpr const char* kHowToSay =
    "\"reference\" of template.json may name files of expected results, or a plain kernel, with a \"tolerance\"";

}  // namespace

Note unverified_note() {
  return {Note::Kind::Decide, "\"reference\"",
          "it is \"none\": results are not compared, and winners are marked unverified, until somebody names a plain kernel "
          "(docs/template-format.md)"};
}

const JsonNode* T1Reader::of_reference(std::string_view key) const {
  for (const JsonNode* const holder : {specification_, &root_}) {
    if (const JsonNode* const found = member_of(*holder, {key})) return found;
  }
  return nullptr;
}

void T1Reader::read_reference() {
  read_answers();
  read_expected();
  read_reference_kernel();
  const bool found_one = !kernel_.reference.outputs.empty() || !kernel_.reference.kernel.empty();
  std::vector<std::string_view> rest = {"verification", "Verification", "Tolerance", "Answer", "Atol"};
  if (!found_one) rest.insert(rest.end(), {"ValidationMethod", "ValidationThreshold"});
  std::string found;
  for (const std::string_view key : rest) {
    if (of_reference(key) != nullptr) found += fmt::format("{}\"{}\"", found.empty() ? "" : ", ", key);
  }
  if (!found.empty()) note(Note::Kind::LeftOut, found, kHowToSay);
  if (!found_one) kernel_.notes.push_back(unverified_note());
}

void T1Reader::read_expected() {
  const JsonNode* const list = of_reference("ReferenceArguments");
  if (list == nullptr) return;
  const std::string about = "\"ReferenceArguments\"";
  if (!kernel_.reference.outputs.empty()) return note(Note::Kind::LeftOut, about, "the script's expected results are compared with");
  std::map<std::string, FoundData> wanted;
  std::map<std::string, ImportedTolerance> tolerances;
  for (const JsonNode& item : list->array(about)) find_expected(item, wanted, tolerances);
  if (wanted.empty()) return note(Note::Kind::LeftOut, about, fmt::format("none of them is in a file that is there; {}", kHowToSay));
  std::map<std::size_t, FoundData> fills;
  if (const std::string missing = find_inputs(fills); !missing.empty()) {
    return note(
        Note::Kind::LeftOut, about,
        fmt::format("they hold for the file's own data, which are not all there: {}; give these \"FillType\": \"BinaryRaw\" and a file, "
                    "or name a plain kernel",
                    missing));
  }
  compare_with(wanted, fills);
  kernel_.reference.tolerances = std::move(tolerances);
  note(Note::Kind::Taken, about, fmt::format("{} compared with files", counted(wanted.size(), "output")));
}

void T1Reader::find_expected(const JsonNode& node, std::map<std::string, FoundData>& wanted,
                             std::map<std::string, ImportedTolerance>& tolerances) {
  const JsonNode& target = required_member(node, "TargetName", "a reference argument", "name the argument that it is the result of");
  const std::string& name = target.string("\"TargetName\"");
  const std::string about = fmt::format("the expected result of '{}'", name);
  const auto at = std::find(argument_names_.begin(), argument_names_.end(), name);
  if (at == argument_names_.end())
    spec::fail(target.position, fmt::format("there is no argument '{}'{}", name, spec::hint(name, argument_names_)));
  const ImportedArgument& argument = kernel_.arguments[static_cast<std::size_t>(at - argument_names_.begin())];
  if (!is_written(argument)) return note(Note::Kind::LeftOut, about, "the kernel does not write it");
  const JsonNode* const fill = member_of(node, {"FillType"});
  const std::string word = fill == nullptr ? "Constant"
                                           : known_word(*fill, "\"FillType\" of " + about,
                                                        {"Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF"});
  const JsonNode* const source = member_of(node, {"DataSource"});
  if (word != "BinaryRaw" || source == nullptr) {
    return note(Note::Kind::LeftOut, about,
                fmt::format("it is \"{}\", and a template says it by a file: write its elements to one, and name that here with "
                            "\"FillType\": \"BinaryRaw\"",
                            word));
  }
  FoundData found = find_data(source->string("the file of " + about), argument);
  if (!found.data) return note(Note::Kind::LeftOut, about, found.why_not);
  if (const auto tolerance = read_tolerance(node, argument, about)) tolerances.insert_or_assign(argument.name, *tolerance);
  wanted.insert_or_assign(argument.name, std::move(found));
}

std::optional<ImportedTolerance> T1Reader::read_tolerance(const JsonNode& node, const ImportedArgument& output, const std::string& about) {
  const JsonNode* const method =
      member_of(node, {"ValidationMethod"}) != nullptr ? member_of(node, {"ValidationMethod"}) : of_reference("ValidationMethod");
  const JsonNode* const given =
      member_of(node, {"ValidationThreshold"}) != nullptr ? member_of(node, {"ValidationThreshold"}) : of_reference("ValidationThreshold");
  const std::string word = method == nullptr ? "SideBySideComparison"
                                             : known_word(*method, "\"ValidationMethod\" of " + about,
                                                          {"SideBySideComparison", "SideBySideRelativeComparison", "AbsoluteDifference"});
  const double threshold = given == nullptr ? kDefaultThreshold : given->number("\"ValidationThreshold\" of " + about);
  if (!(threshold >= 0)) spec::fail(given->position, fmt::format("\"ValidationThreshold\" of {} must not be negative", about));
  if (!spec::is_floating(output.type)) return std::nullopt;  // integers must be the same, whatever the threshold
  if (word == "SideBySideRelativeComparison") {
    note(Note::Kind::Changed, about, fmt::format("off by {} relative and {} absolute at most", threshold, kNoDifference));
    return ImportedTolerance{threshold, kNoDifference};
  }
  if (word == "AbsoluteDifference")
    note(Note::Kind::Changed, about, fmt::format("each element is off by {} at most, not the sum of all differences", threshold));
  return ImportedTolerance{0, threshold};
}

void T1Reader::read_reference_kernel() {
  const JsonNode* const node = of_reference("ReferenceKernel");
  if (node == nullptr) return;
  std::string why = "files of expected results are compared with";
  if (kernel_.reference.outputs.empty()) {
    const bool single = node->kind == JsonNode::Kind::Array && node->items.size() == 1;
    why = take_reference_kernel(single ? node->items.front() : *node);
    if (!why.empty()) kernel_.reference = {};
  }
  if (!why.empty()) note(Note::Kind::LeftOut, "\"ReferenceKernel\"", why);
}

std::string T1Reader::take_reference_kernel(const JsonNode& node) {
  const std::string about = "\"ReferenceKernel\"";
  if (node.kind == JsonNode::Kind::Array) return "there are several, and a template has one reference: name their launches in it";
  const bool short_name = member_of(node, {"KernelName"}) == nullptr && member_of(node, {"Name"}) != nullptr;
  const JsonNode& name = required_member(node, short_name ? "Name" : "KernelName", about, "name the __global__ function");
  const JsonNode* const file = member_of(node, {"KernelFile", "File"});
  if (file != nullptr && file->string("its file") != kernel_.kernel_file) {
    return fmt::format(
        "it is in '{}', not in the kernel's file: put that beside template.json and into \"sources\", and name the launch in "
        "\"reference\"",
        file->string("its file"));
  }
  WrittenKernelName written = read_kernel_name(name.string("its name"), name.position);
  const std::string arguments = launch_arguments(written.arguments, {}, name.position);
  kernel_.reference.kernel = written.function + (arguments.empty() ? "" : fmt::format("<{}>", arguments));
  std::string why;
  if (const JsonNode* const values = member_of(node, {"Parameters", "ParameterValues", "TuningParameters", "Configuration"}))
    why = take_reference_values(*values);
  if (why.empty()) why = take_reference_geometry(node);
  if (const JsonNode* const names = member_of(node, {"Arguments"}); names != nullptr && why.empty()) why = take_reference_arguments(*names);
  if (!why.empty()) return why;
  for (const ImportedArgument& argument : kernel_.arguments) {
    if (!is_written(argument)) continue;
    if (const auto tolerance = read_tolerance(node, argument, fmt::format("the result of '{}'", argument.name)))
      kernel_.reference.tolerances.insert_or_assign(argument.name, *tolerance);
  }
  tell_unread(
      node,
      {"KernelName", "Name", "KernelFile", "File", "Language", "Parameters", "ParameterValues", "TuningParameters", "Configuration",
       "GlobalSize", "LocalSize", "GlobalSizeType", "SharedMemory", "Arguments", "TargetName", "ValidationMethod", "ValidationThreshold"},
      about);
  return "";
}

std::string T1Reader::take_reference_values(const JsonNode& values) {
  std::vector<std::pair<std::string, const JsonNode*>> all;
  if (values.kind == JsonNode::Kind::Object) {
    for (const auto& member : values.members) all.emplace_back(member.key, &member.value);
  } else {
    for (const JsonNode& item : values.array("the values of its parameters")) {
      const JsonNode& name = required_member(item, "Name", "a parameter of the reference", "name it");
      all.emplace_back(name.string("a name"), &required_member(item, "Value", "a parameter of the reference", "give its value"));
    }
  }
  for (const auto& [name, value] : all) {
    const spec::Parameter* const found = parameter(name);
    if (found == nullptr) return fmt::format("it has a value for '{}', which is no parameter: define that in the kernel's file", name);
    const std::string standard = literal(found->values[found->default_index]);
    const std::string wanted = value->kind == JsonNode::Kind::Scalar ? literal(value->scalar) : value->describe();
    if (wanted != standard) {
      return fmt::format(
          "a reference is compiled with the parameters' defaults, and it wants {} = {} where the default is {}: make that the "
          "\"Default\"",
          name, wanted, standard);
    }
    kernel_.reference.at_default.push_back(name);
  }
  return "";
}

std::string T1Reader::take_reference_geometry(const JsonNode& node) {
  const JsonNode* const global = member_of(node, {"GlobalSize"});
  const JsonNode* const local = member_of(node, {"LocalSize"});
  if (global == nullptr || local == nullptr)
    return fmt::format("it lacks \"{}\": say how it is launched", global == nullptr ? "GlobalSize" : "LocalSize");
  if (const JsonNode* const shared = member_of(node, {"SharedMemory"});
      shared != nullptr && expression(*shared, "\"SharedMemory\"", Use::Number).text != "0")
    return "it takes dynamic shared memory: name its launch in \"reference\", with \"shared\"";
  ImportedReference& reference = kernel_.reference;
  reference.block = read_dimensions(*local, "\"LocalSize\" of the reference", Fraction::Kept);
  reference.grid = read_dimensions(*global, "\"GlobalSize\" of the reference", Fraction::RoundedUp);
  const JsonNode* const own = member_of(node, {"GlobalSizeType"});
  const JsonNode* const type = own != nullptr ? own : member_of(*specification_, {"GlobalSizeType"});
  const bool threads = type != nullptr && known_word(*type, "\"GlobalSizeType\"", {"CUDA", "OpenCL", "Vulkan"}) == "OpenCL";
  for (std::size_t i = 0; threads && i < reference.grid.size() && i < reference.block.size(); ++i) {
    if (reference.block[i] != "1") reference.grid[i] = fmt::format("ceil_div({}, {})", reference.grid[i], reference.block[i]);
  }
  for (auto* const dimensions : {&reference.grid, &reference.block}) {
    while (dimensions->size() > 1 && dimensions->back() == "1") dimensions->pop_back();
    for (const std::string& text : *dimensions) {
      if (const std::string name = tuned_in(text); !name.empty())
        return fmt::format("how it is launched depends on {}, which is tuned: give the number", name);
    }
  }
  return "";
}

std::string T1Reader::tuned_in(const std::string& expression) const {
  const auto parsed = spec::Expression::parse(expression);
  const auto& known = kernel_.reference.at_default;
  for (const std::string& name : parsed.variables()) {
    if (parameter(name) != nullptr && std::find(known.begin(), known.end(), name) == known.end()) return name;
  }
  return "";
}

std::string T1Reader::take_reference_arguments(const JsonNode& names) {
  for (const JsonNode& item : names.array("\"Arguments\" of the reference")) {
    const JsonNode* const named = item.is_string() ? &item : member_of(item, {"Name"});
    const std::string name = named == nullptr ? "" : named->string("a name");
    const auto at = std::find(argument_names_.begin(), argument_names_.end(), name);
    if (at == argument_names_.end())
      return fmt::format("its argument '{}' is none of the tuned kernel's{}", name, spec::hint(name, argument_names_));
    kernel_.reference.passes.push_back(kernel_.arguments[static_cast<std::size_t>(at - argument_names_.begin())].name);
  }
  return "";
}

}  // namespace attune::importing
