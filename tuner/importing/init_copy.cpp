// Of InitDraft: how the copy of the source differs from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "tuner/importing/host_code.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/importing/kernel_source.hpp"

namespace attune::importing {
namespace {

/// The line of that number, without its newline: where it begins, and where it ends.
std::pair<std::size_t, std::size_t> line_at(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int line = 1; line < number; ++line) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  return {begin, std::min(text.find('\n', begin), text.size())};
}

/// Whether lines can be put before and behind a definition: no comment begins before it or goes on behind it, and it is not continued.
bool stands_alone(const std::string& text, int number) {
  const auto [begin, end] = line_at(text, number);
  const std::string line = text.substr(begin, end - begin);
  const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  if (first == std::string::npos || line[first] != '#' || line[last] == '\\') return false;
  const std::size_t open = line.rfind("/*");
  return open == std::string::npos || line.find("*/", open) != std::string::npos;
}

/// Whether the kernel uses it as a number of threads, of elements of a block or of a thread. A name such as SIZE says less than its place.
bool is_block_size(const KernelUsage& usage, const SourceKernel& kernel, const std::string& name) {
  const NameLook look = look_of(name);
  if (usage.limits.contains(name)) return false;
  const bool in_kernel = contains_word(kernel.body, name) || contains_word(kernel.launch_bounds, name);
  if (look == NameLook::Threads || look == NameLook::Work || look == NameLook::Vector) return in_kernel;
  if (look != NameLook::Tile) return false;
  const auto in = [&](const Tokens& tokens) { return contains_word(tokens, name); };
  return in(kernel.launch_bounds) || std::any_of(usage.factors.begin(), usage.factors.end(), in) ||
         std::any_of(usage.shared.begin(), usage.shared.end(),
                     [&](const SharedArray& array) { return std::any_of(array.dimensions.begin(), array.dimensions.end(), in); });
}

bool undefines(const std::string& code, const std::string& name) {
  const Tokens tokens = cuda_tokens(code);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("undef") && tokens[i + 1].is(name)) return true;
  }
  return false;
}

bool is_small_literal(const SourceName& name) {
  constexpr std::int64_t kMostGiven = 4096;
  const bool digits = !name.value.empty() && name.value.find_first_not_of("0123456789") == std::string::npos;
  return digits && name.number && *name.number >= 1 && *name.number <= kMostGiven;
}

}  // namespace

void leave_out_host_code(InitDraft& draft, std::map<std::string, std::string>& files) {
  for (auto& [file, source] : files) {
    if (file.starts_with('<')) continue;  // attune's own headers have none
    DeviceCode code = without_host_code(source);
    if (code.left_out.empty()) continue;
    const bool main = file == draft.kernel.kernel_file;
    draft.note(Note::Kind::LeftOut, "code for the host",
               fmt::format("{}{}; blank lines stand in its place in the copy of the source", main ? "" : file + ": ",
                           fmt::join(code.left_out, ", ")));
    source = std::move(code.text);
  }
}

void choose_guards(InitDraft& draft, const std::map<std::string, std::string>& files, const SourceKernel* reference,
                   const std::filesystem::path& folder) {
  const auto& lists = draft.source.template_parameters;
  const bool has_numbers = std::any_of(lists.begin(), lists.end(),
                                       [](const Tokens& one) { return !one.empty() && !one[0].is("typename") && !one[0].is("class"); });
  if (has_numbers) return;  // these are what is tuned, and a macro may stand in their defaults
  std::set<std::string> numbers;
  for (const SourceName& name : draft.names) {
    if (name.number) numbers.insert(name.name);
  }
  const KernelUsage usage = kernel_usage(draft.source, {}, numbers);
  for (SourceName& name : draft.names) {
    if (name.kind != SourceName::Kind::Defined || name.conditions > 0 || !name.used || !is_small_literal(name)) continue;
    const auto same = [&](const SourceName& one) { return one.name == name.name; };
    if (std::count_if(draft.names.begin(), draft.names.end(), same) > 1 || !is_block_size(usage, draft.source, name.name)) continue;
    if (reference != nullptr && contains_word(reference->body, name.name)) continue;  // it would be tuned as well
    for (const auto& [file, source] : files) {
      if ((folder / file).string() != name.position.file || !stands_alone(source, name.position.line)) continue;
      if (undefines(without_comments(source), name.name)) continue;
      name.kind = SourceName::Kind::Guarded;
      draft.own_guards.emplace_back(file, name);
    }
  }
}

void write_guards(InitDraft& draft, std::map<std::string, std::string>& files) {
  // From the last to the first, so that lines before keep their numbers.
  std::sort(draft.own_guards.begin(), draft.own_guards.end(),
            [](const auto& a, const auto& b) { return a.second.position.line > b.second.position.line; });
  for (const auto& [file, name] : draft.own_guards) {
    const auto& all = draft.kernel.parameters;
    if (std::none_of(all.begin(), all.end(), [&, &wanted = name](const spec::Parameter& one) { return one.name == wanted.name; })) continue;
    std::string& text = files.at(file);
    const auto [begin, end] = line_at(text, name.position.line);
    const std::string line = text.substr(begin, end - begin);
    text.replace(begin, end - begin, fmt::format("#ifndef {}\n{}\n#endif\n#line {}", name.name, line, name.position.line + 1));
    draft.note(Note::Kind::Changed, fmt::format("the macro {}", name.name),
               fmt::format("{} defines it whatever stands before it; its copy does so between #ifndef {} and #endif", file, name.name));
  }
}

}  // namespace attune::importing
