#include "tuner/compile/ptxas_log.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "tuner/compile/compiler.hpp"

namespace attune::compile {
namespace {

/// The lines of a text, without their ends.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// What stands between two markers.
std::optional<std::string_view> between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t begin = line.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin + before.size());
  const std::size_t end = line.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

/// The number in front of `unit`: number_before("Used 12 registers", " registers") is 12.
std::optional<int> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, number);
  if (error != std::errc{} || stop != line.data() + end) return std::nullopt;
  return number;
}

constexpr std::string_view kProperties = "Function properties for ";

}  // namespace

std::vector<KernelResources> parse_ptxas_log(const std::string& log) {
  std::vector<KernelResources> kernels;
  std::string_view properties_of;  // the function whose stack and spills come next: device functions have them as well
  for_each_line(log, [&](std::string_view line) {
    if (const auto name = between(line, "Compiling entry function '", "' for '")) {
      kernels.push_back({});
      kernels.back().kernel = *name;
    } else if (const std::size_t at = line.find(kProperties); at != std::string_view::npos) {
      properties_of = line.substr(at + kProperties.size());
    } else if (kernels.empty()) {
      return;
    } else if (const auto stack = number_before(line, " bytes stack frame")) {
      if (properties_of != kernels.back().kernel) return;
      kernels.back().stack_bytes = *stack;
      kernels.back().spill_store_bytes = number_before(line, " bytes spill stores").value_or(0);
      kernels.back().spill_load_bytes = number_before(line, " bytes spill loads").value_or(0);
    } else if (const auto registers = number_before(line, " registers")) {
      kernels.back().registers = *registers;
      kernels.back().static_shared_bytes = number_before(line, " bytes smem").value_or(0);
    }
  });
  return kernels;
}

std::string without_ptxas_figures(const std::string& log) {
  std::string rest;
  for_each_line(log, [&rest](std::string_view line) {
    const bool info = line.starts_with("ptxas info");
    const bool figures = line.find(" bytes stack frame, ") != std::string_view::npos;
    if (!info && !figures) rest.append(line).push_back('\n');
  });
  return rest;
}

std::string clean_log(std::string log) {
  std::erase(log, '\0');
  while (!log.empty() && log.back() == '\n') log.pop_back();
  return log.empty() ? log : log + '\n';
}

}  // namespace attune::compile
