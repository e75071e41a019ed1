#include "tuner/importing/cuda_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "attune/error.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

struct OpenScope {
  enum class Kind { Namespace, Unnamed, ExternC, Other } kind = Kind::Other;
  std::vector<std::string> names;  ///< of "namespace a::b" two
};

/// [[maybe_unused]] and the like say nothing of what is launched.
Tokens without_attributes(const Tokens& tokens) {
  Tokens left;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].is("[") && at + 1 < tokens.size() && tokens[at + 1].is("["))
      at = closing(tokens, at);
    else
      left.push_back(tokens[at]);
  }
  return left;
}

/// Where the declaration that holds the token begins.
std::size_t declaration_begin(const Tokens& tokens, std::size_t at) {
  while (at > 0 && !tokens[at - 1].is(";") && !tokens[at - 1].is("}") && !tokens[at - 1].is("{")) --at;
  return at;
}

bool has_extern_c(const Tokens& before) {
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    if (before[i].is("extern") && before[i + 1].text == "\"C\"") return true;
  }
  return false;
}

OpenScope scope_of(const Tokens& tokens, std::size_t brace) {
  const Tokens before = slice(tokens, declaration_begin(tokens, brace), brace);
  if (!contains_word(before, "namespace")) {
    const bool extern_c = has_extern_c(before) && before.size() == 2;
    return {extern_c ? OpenScope::Kind::ExternC : OpenScope::Kind::Other, {}};
  }
  OpenScope scope{OpenScope::Kind::Namespace, {}};
  for (const Token& token : before) {
    if (token.is_word() && !token.is("namespace") && !token.is("inline")) scope.names.push_back(token.text);
  }
  if (scope.names.empty()) scope.kind = OpenScope::Kind::Unnamed;
  return scope;
}

/// Of "template <typename T, int TILE = 32>", which stands before a function.
std::vector<Tokens> template_parameters_of(const Tokens& before) {
  const auto word = std::find_if(before.begin(), before.end(), [](const Token& token) { return token.is("template"); });
  const auto open = static_cast<std::size_t>(word - before.begin()) + 1;
  if (open >= before.size() || !before[open].is("<")) return {};
  return split_template_list(before, open + 1);
}

/// Reads what follows __global__; `name_at` is the token that names the kernel. The end of what was read, that of the body where there is
/// one.
std::size_t read_definition(const Tokens& tokens, std::size_t at, SourceKernel& kernel, std::size_t& name_at) {
  for (++at; at + 1 < tokens.size() && !tokens[at].is(";") && !tokens[at].is("{"); ++at) {
    if (!tokens[at].is_word() || !tokens[at + 1].is("(")) continue;
    const std::size_t end = closing(tokens, at + 1);
    if (tokens[at].is("__launch_bounds__")) {
      const auto parts = split_at_commas(slice(tokens, at + 2, end));
      if (!parts.empty()) kernel.launch_bounds = parts.front();
    } else if (kernel.name.empty() && !tokens[at].is("__attribute__") && !tokens[at].is("__declspec")) {
      kernel.name = tokens[at].text;
      name_at = at;
      kernel.arguments = slice(tokens, at + 2, end);
    }
    at = end;
  }
  if (at >= tokens.size() || !tokens[at].is("{")) return at;
  const std::size_t end = closing(tokens, at);
  if (!kernel.name.empty()) kernel.body = slice(tokens, at, end + 1);  // else it specialises a template
  return end;
}

std::string names_of(const std::vector<SourceKernel>& kernels) {
  std::vector<std::string> names;
  for (const SourceKernel& kernel : kernels) names.push_back(qualified_name(kernel));
  return spec::joined(names);
}

}  // namespace

std::string qualified_name(const SourceKernel& kernel) {
  std::string name;
  if (kernel.linkage != SourceKernel::Linkage::C) {
    for (const std::string& one : kernel.namespaces) name += one + "::";
  }
  return name + kernel.name;
}

std::vector<SourceKernel> kernels_called(const std::vector<SourceKernel>& kernels, const std::string& name) {
  const std::string plain = name.starts_with("::") ? name.substr(2) : name;
  std::vector<SourceKernel> called;
  const auto take = [&](auto&& is_it) { std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(called), is_it); };
  take([&](const SourceKernel& one) { return qualified_name(one) == plain; });
  if (called.empty() && plain == name)
    take([&](const SourceKernel& one) { return one.name == name || qualified_name(one).ends_with("::" + name); });
  return called;
}

std::vector<SourceKernel> source_kernels(const std::string& code, const std::string& file) {
  const Tokens tokens = without_attributes(cuda_tokens(without_directives(code)));
  std::vector<SourceKernel> kernels;
  std::vector<OpenScope> scopes;
  Tokens outside;
  const auto inside = [&](OpenScope::Kind kind) {
    return std::any_of(scopes.begin(), scopes.end(), [&](const OpenScope& scope) { return scope.kind == kind; });
  };
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].is("{")) scopes.push_back(scope_of(tokens, at));
    if (tokens[at].is("}") && !scopes.empty()) scopes.pop_back();
    if (!inside(OpenScope::Kind::Other)) outside.push_back(tokens[at]);
    if (!tokens[at].is("__global__")) continue;
    SourceKernel kernel;
    const Tokens before = slice(tokens, declaration_begin(tokens, at), at);
    kernel.is_template = contains_word(before, "template");
    kernel.template_parameters = template_parameters_of(before);
    for (const OpenScope& scope : scopes) kernel.namespaces.insert(kernel.namespaces.end(), scope.names.begin(), scope.names.end());
    const std::size_t begin = at;
    std::size_t name_at = at;
    at = read_definition(tokens, at, kernel, name_at);
    if (kernel.body.empty()) continue;
    const Tokens head = slice(tokens, begin, name_at);
    if (has_extern_c(before) || inside(OpenScope::Kind::ExternC) || has_extern_c(head))
      kernel.linkage = SourceKernel::Linkage::C;
    else if (contains_word(before, "static") || contains_word(head, "static") || inside(OpenScope::Kind::Unnamed))
      kernel.linkage = SourceKernel::Linkage::Local;
    kernel.position = position_in(code, tokens[name_at].offset, file);
    kernels.push_back(std::move(kernel));
  }
  for (SourceKernel& kernel : kernels) kernel.outside = outside;
  return kernels;
}

int instantiation_line(const std::string& code, const std::string& name) {
  const Tokens tokens = cuda_tokens(without_directives(code));
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (!tokens[at].is("template") || tokens[at + 1].is("<")) continue;
    std::size_t end = at;
    while (end < tokens.size() && !tokens[end].is(";") && !tokens[end].is("{")) ++end;
    const Tokens declared = slice(tokens, at, end);
    if (contains_word(declared, "__global__") && contains_word(declared, name)) return position_in(code, tokens[at].offset, "").line;
  }
  return 0;
}

SourceKernel choose_kernel(const std::vector<SourceKernel>& kernels, const std::string& wanted, const std::string& file) {
  if (kernels.empty())
    throw SpecError(file, 0, 0, "no __global__ function with a body shows in it; name the .cu file that defines the kernel");
  const auto other = [&](const SourceKernel& one) {
    return qualified_name(one) != qualified_name(kernels.front());
  };  // one may be written twice, for #if and #else
  if (wanted.empty() && std::any_of(kernels.begin(), kernels.end(), other))
    throw UsageError(fmt::format("failed choosing a kernel of {}: it has several; say --kernel with one of: {}", file, names_of(kernels)));
  const auto called = wanted.empty() ? kernels : kernels_called(kernels, wanted);
  const auto found = called.begin();
  if (called.empty())
    throw UsageError(fmt::format("failed choosing a kernel of {}: it has no kernel '{}'; there are: {}", file, wanted, names_of(kernels)));
  if (std::any_of(called.begin(), called.end(), [&](const SourceKernel& one) { return qualified_name(one) != qualified_name(*found); }))
    throw UsageError(fmt::format("failed choosing a kernel of {}: several are called '{}'; say --kernel with one of: {}", file, wanted,
                                 names_of(called)));
  if (found->linkage == SourceKernel::Linkage::Local)
    spec::fail(found->position,
               fmt::format("'{}' is static or in an unnamed namespace, so that its name is not seen outside; take that away, or write "
                           "extern \"C\" in place of static",
                           found->name));
  return *found;
}

}  // namespace attune::importing
