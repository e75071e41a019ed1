#include "tuner/importing/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tuner/importing/cuda_macros.hpp"
#include "tuner/importing/cuda_tokens.hpp"
#include "tuner/importing/element_layout.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/kernel_name_parts.hpp"

namespace attune::importing {
namespace {

/// "float" is f32; what is no element type of attune's, float4, stays a type of C++.
std::string type_argument(const std::string& text) {
  const auto element = spec::find_cuda_type(text);
  return element ? spec::name(*element) : fmt::format("'{}'", text);
}

/// Whether all words of an expression are known: others would be types or enumerators.
bool are_parameters(const Tokens& tokens, const std::vector<std::string>& parameters) {
  return std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return !token.is_word() || std::find(parameters.begin(), parameters.end(), token.text) != parameters.end();
  });
}

std::string launch_argument(const std::string& text, const std::vector<std::string>& parameters, const spec::SourcePosition& position) {
  if (text == "true" || text == "false") return text;
  const Tokens tokens = cuda_tokens(text);
  const bool words =
      std::all_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.is_word() || token.is("::") || token.is("*"); });
  if (!are_parameters(tokens, parameters)) {
    if (words) return type_argument(text);
    spec::fail(position, fmt::format("the template argument '{}' is neither a type nor an expression of parameters and numbers; write one "
                                     "of these, or give the kernel a function of its own",
                                     text));
  }
  std::map<std::string, std::string> same;
  for (const std::string& parameter : parameters) same[parameter] = parameter;
  const auto expression = whole_expression(tokens, same);
  if (!expression)
    spec::fail(position, fmt::format("the template argument '{}' is no expression that attune has; write it with + - * / %", text));
  return *expression;
}

}  // namespace

WrittenKernelName read_kernel_name(const std::string& text, const spec::SourcePosition& position) {
  WrittenKernelName name;
  spec::KernelNameParts parts = spec::cut_kernel_name(text, position, "gemm<float, 64>");
  name.function = std::move(parts.function);
  if (!parts.list) return name;
  for (const Tokens& part : split_template_list(cuda_tokens(*parts.list), 0)) {
    if (part.empty()) spec::fail(position, fmt::format("the kernel '{}' has an empty template argument; give each a value", text));
    name.arguments.push_back(text_of(*parts.list, part));
  }
  return name;
}

std::string launch_arguments(const std::vector<std::string>& arguments, const std::vector<std::string>& parameters,
                             const spec::SourcePosition& position) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : ", ") + launch_argument(argument, parameters, position);
  return text;
}

}  // namespace attune::importing
