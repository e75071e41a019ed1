// Of T1Reader: which kernel, its options, and what a template does not say.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tuner/importing/kernel_name.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/compiler_options.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/name_table.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;

/// Words of a command line: options that stand in one string, with blanks between them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(' '); at != std::string::npos; at = text.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string budget_of(const JsonNode& node) {
  const JsonNode* const type = member_of(node, {"Type"});
  const JsonNode* const value = member_of(node, {"BudgetValue", "Value"});
  if (type == nullptr || value == nullptr || !type->is_string() || value->kind != JsonNode::Kind::Scalar || value->is_string() ||
      value->is_bool())
    return {};
  const double amount = value->number("the value of a budget");
  const std::string& word = type->string("the type of a budget");
  if (word == "ConfigurationCount") return fmt::format("{:.0f}", amount);
  if (word == "ConfigurationFraction") return fmt::format("{:g}%", 100 * amount);
  return word == "TuningDuration" ? fmt::format("{:g}s", amount) : std::string();
}

}  // namespace

void T1Reader::read_kernel() {
  const JsonNode* const language = member_of(*specification_, {"Language"});
  if (language != nullptr) {
    const std::string word = known_word(*language, "\"Language\"", {"CUDA", "OpenCL", "Vulkan", "HIP", "CUPY", "Cupy", "NVCUDA", "PyCUDA"});
    if (word == "OpenCL" || word == "Vulkan" || word == "HIP")
      spec::fail(language->position,
                 fmt::format("the kernel is written in {}, and attune tunes CUDA kernels; import the file of its CUDA version", word));
  }
  const JsonNode& name = required_member(*specification_, "KernelName", "\"KernelSpecification\"", "name the __global__ function");
  kernel_.kernel_position = name.position;
  WrittenKernelName written = read_kernel_name(name.string("\"KernelName\""), name.position);
  kernel_.kernel = std::move(written.function);
  in_brackets_ = std::move(written.arguments);
  const JsonNode* const file = member_of(*specification_, {"KernelFile"});
  if (file == nullptr) return;
  kernel_.kernel_file = file->string("\"KernelFile\"");
  kernel_.kernel_file_position = file->position;
  if (kernel_.kernel_file.ends_with(".cl") && language == nullptr)
    spec::fail(file->position, "the kernel's file is OpenCL's, and attune tunes CUDA kernels; import the file of its CUDA version");
}

void T1Reader::read_template_arguments() {
  const JsonNode* place = member_of(*specification_, {"KernelName"});
  if (const JsonNode* const types = member_of(*specification_, {"KernelTypeNames"}); types != nullptr) {
    const auto& items = types->array("\"KernelTypeNames\"");
    if (!in_brackets_.empty() && !items.empty()) {
      note(Note::Kind::LeftOut, "\"KernelTypeNames\"", "\"KernelName\" has its template arguments in brackets");
    } else if (!items.empty()) {
      place = types;
      for (const JsonNode& item : items) in_brackets_.push_back(item.string("a type"));
    }
  }
  std::vector<std::string> parameters;
  for (const spec::Parameter& parameter : names_.parameters) parameters.push_back(parameter.name);
  kernel_.template_arguments = launch_arguments(in_brackets_, parameters, place->position);
}

std::string T1Reader::template_name() const {
  const JsonNode* const general = member_of(root_, {"General"});
  for (const JsonNode* const holder : {general, specification_}) {
    if (holder == nullptr) continue;
    const JsonNode* const name = member_of(*holder, {"BenchmarkName"});
    if (name != nullptr && name->is_string() && !name->string("").empty()) return as_identifier(name->string(""));
  }
  return as_identifier(kernel_.kernel);
}

void T1Reader::read_options() {
  const JsonNode* const node = member_of(*specification_, {"CompilerOptions"});
  if (node == nullptr) return;
  std::vector<std::string> options;
  if (node->is_string()) {
    options = words_of(node->string("\"CompilerOptions\""));
  } else {
    for (const JsonNode& item : node->array("\"CompilerOptions\""))
      for (std::string& word : words_of(item.string("an option"))) options.push_back(std::move(word));
  }
  for (const std::string& option : options) {
    const std::string about = fmt::format("the option '{}'", option);
    const bool older = option == "-std=c++11" || option == "--std=c++11" || option == "-std=c++14" || option == "--std=c++14";
    if (older) {
      note(Note::Kind::Changed, about, "the language is C++17, NVRTC's default, and CUDA's headers need it");
    } else if (option.size() == 3 && option.starts_with("-O")) {
      note(Note::Kind::LeftOut, about, "NVRTC optimises device code as it is");
    } else if (const std::string why = spec::why_no_option(option); !why.empty()) {
      note(Note::Kind::LeftOut, about, why);
    } else {
      kernel_.options.push_back(option);
    }
  }
}

void T1Reader::read_budget() {
  if (const JsonNode* const budget = member_of(root_, {"Budget"})) {
    const JsonNode one = *budget;
    const std::vector<JsonNode> limits = budget->kind == JsonNode::Kind::Array ? budget->items : std::vector<JsonNode>{one};
    std::string text;
    for (const JsonNode& limit : limits) {
      const std::string amount = limit.kind == JsonNode::Kind::Object ? budget_of(limit) : std::string();
      if (!amount.empty()) text += (text.empty() ? "" : ",") + amount;
    }
    note(Note::Kind::LeftOut, "\"Budget\"",
         text.empty() ? "a budget is an option of attune tune: --budget"
                      : fmt::format("a budget is an option of attune tune: --budget {}", text));
  }
  if (member_of(root_, {"Search"}) != nullptr)
    note(Note::Kind::LeftOut, "\"Search\"", "a strategy is an option of attune tune: --strategy");
}

void T1Reader::tell_unread(const JsonNode& node, const std::vector<std::string_view>& read, const std::string& place) {
  std::string rest;
  for (const auto& member : node.members) {
    const bool taken = std::find(read.begin(), read.end(), member.key) != read.end();
    if (!taken && member.value.kind != JsonNode::Kind::Null) rest += fmt::format("{}\"{}\"", rest.empty() ? "" : ", ", member.key);
  }
  if (!rest.empty()) note(Note::Kind::LeftOut, rest, fmt::format("nothing in a template says what {} says there", place));
}

void T1Reader::tell_rest() {
  tell_unread(root_,
              {"$schema",
               "ConfigurationSpace",
               "KernelSpecification",
               "General",
               "Budget",
               "Search",
               "Conditions",
               "Constraints",
               "Restrictions",
               "Arguments",
               "verification",
               "Verification",
               "ReferenceArguments",
               "ReferenceKernel",
               "ValidationMethod",
               "ValidationThreshold",
               "Tolerance",
               "Answer",
               "Atol",
               "Import"},
              "the file");
  tell_unread(*specification_, {"Language",        "KernelName",       "KernelFile",
                                "KernelTypeNames", "CompilerOptions",  "BenchmarkName",
                                "GlobalSizeType",  "LocalSize",        "GlobalSize",
                                "GridDivX",        "GridDivY",         "GridDivZ",
                                "ProblemSize",     "SharedMemory",     "Arguments",
                                "Conditions",      "Constraints",      "Restrictions",
                                "verification",    "Verification",     "ReferenceArguments",
                                "ReferenceKernel", "ValidationMethod", "ValidationThreshold",
                                "Tolerance",       "Answer",           "Atol"},
              "\"KernelSpecification\"");
  const auto& arguments = arguments_node().items;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    tell_unread(arguments[i],
                {"Name", "Type", "TypeSize", "MemoryType", "MemType", "AccessType", "Output", "Size", "FillType", "FillValue", "DataSource",
                 "DType", "Shape", "Fill", "Const", "Minimum", "Maximum"},
                fmt::format("the argument '{}'", argument_names_[i]));
}

}  // namespace attune::importing
