#include "tuner/importing/cuda_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

enum class ScopeKind { Namespace, ExternC, Other };

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

ScopeKind scope_kind(const Tokens& tokens, std::size_t brace) {
  const Tokens before = slice(tokens, declaration_begin(tokens, brace), brace);
  if (contains_word(before, "namespace")) return ScopeKind::Namespace;
  return has_extern_c(before) && before.size() == 2 ? ScopeKind::ExternC : ScopeKind::Other;
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
  if (at >= tokens.size() || !tokens[at].is("{") || kernel.name.empty()) return at;
  const std::size_t end = closing(tokens, at);
  kernel.body = slice(tokens, at, end + 1);
  return end;
}

std::string names_of(const std::vector<SourceKernel>& kernels) {
  std::vector<std::string> names;
  for (const SourceKernel& kernel : kernels) names.push_back(kernel.name);
  return spec::joined(names);
}

}  // namespace

std::vector<SourceKernel> source_kernels(const std::string& code, const std::string& file) {
  const Tokens tokens = cuda_tokens(without_directives(code));
  std::vector<SourceKernel> kernels;
  std::vector<ScopeKind> scopes;
  Tokens outside;
  const auto inside = [&](ScopeKind kind) { return std::find(scopes.begin(), scopes.end(), kind) != scopes.end(); };
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].is("{")) scopes.push_back(scope_kind(tokens, at));
    if (tokens[at].is("}") && !scopes.empty()) scopes.pop_back();
    if (!inside(ScopeKind::Other)) outside.push_back(tokens[at]);
    if (!tokens[at].is("__global__")) continue;
    SourceKernel kernel;
    const Tokens before = slice(tokens, declaration_begin(tokens, at), at);
    kernel.is_template = contains_word(before, "template");
    kernel.in_namespace = inside(ScopeKind::Namespace);
    const std::size_t begin = at;
    std::size_t name_at = at;
    at = read_definition(tokens, at, kernel, name_at);
    if (kernel.body.empty()) continue;
    const Tokens head = slice(tokens, begin, name_at);
    if (has_extern_c(before) || inside(ScopeKind::ExternC) || has_extern_c(head))
      kernel.linkage = SourceKernel::Linkage::C;
    else if (contains_word(before, "static") || contains_word(head, "static"))
      kernel.linkage = SourceKernel::Linkage::Static;
    kernel.position = position_in(code, tokens[name_at].offset, file);
    kernels.push_back(std::move(kernel));
  }
  for (SourceKernel& kernel : kernels) kernel.outside = outside;
  return kernels;
}

SourceKernel choose_kernel(const std::vector<SourceKernel>& kernels, const std::string& wanted, const std::string& file) {
  if (kernels.empty())
    throw SpecError(file, 0, 0, "no __global__ function with a body shows in it; name the .cu file that defines the kernel");
  const auto other = [&](const SourceKernel& one) {
    return one.name != kernels.front().name;
  };  // one may be written twice, for #if and #else
  if (wanted.empty() && std::any_of(kernels.begin(), kernels.end(), other))
    throw UsageError(fmt::format("failed choosing a kernel of {}: it has several; say --kernel with one of: {}", file, names_of(kernels)));
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const SourceKernel& one) { return wanted.empty() || one.name == wanted; });
  if (found == kernels.end())
    throw UsageError(fmt::format("failed choosing a kernel of {}: it has no kernel '{}'; there are: {}", file, wanted, names_of(kernels)));
  if (found->is_template)
    spec::fail(found->position,
               fmt::format("'{}' is a kernel template, which attune cannot launch by its name; write a kernel for one type beside it, "
                           "extern \"C\", that does the same",
                           found->name));
  if (found->in_namespace && found->linkage != SourceKernel::Linkage::C)
    spec::fail(found->position,
               fmt::format("'{}' is in a namespace, and attune launches kernels by their plain names; write extern \"C\" before its "
                           "__global__",
                           found->name));
  if (found->linkage == SourceKernel::Linkage::Static)
    spec::fail(found->position,
               fmt::format("'{}' is static, so that its name is not seen outside; write extern \"C\" in place of static", found->name));
  return *found;
}

}  // namespace attune::importing
