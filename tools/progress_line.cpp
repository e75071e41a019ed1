#include "tools/progress_line.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace {

using namespace std::chrono_literals;

constexpr auto kRewriteEvery = 100ms;
constexpr auto kPlainEvery = 10s;

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

ProgressLine::Style style(bool quiet) {
  if (::isatty(STDERR_FILENO) == 1 && !(quiet && ::isatty(STDOUT_FILENO) == 1)) return ProgressLine::Style::InPlace;
  return quiet ? ProgressLine::Style::None : ProgressLine::Style::Plain;
}

}  // namespace

std::string progress_text(const session::RunProgress::View& view) {
  std::string text;
  if (view.devices > 1) {
    text = fmt::format("[{}/{} problems] {} of {} devices busy", view.problems_done, view.problem_count, view.devices_busy, view.devices);
  } else {
    const std::size_t current = std::min(view.problem_count, view.problems_done + (view.problem ? 1 : 0));
    text = fmt::format("[{}/{}]", current, view.problem_count);
    if (view.problem) text += " " + describe(*view.problem);
    if (!view.part.empty()) text += ": " + view.part;
  }
  const double rate = view.configurations_per_s;
  if (!view.waits_for.empty())
    text += "  " + view.waits_for;
  else
    text += fmt::format("  {}/{} configurations  {:.{}f}/s", view.done, view.total, rate, rate < 9.95 ? 1 : 0);
  using Limit = session::RunProgress::Limit;
  if (view.limit != Limit::Unknown) text += fmt::format(" by {}", session::RunProgress::name(view.limit));
  if (view.limit == Limit::Compiling) text += fmt::format(" {:.1f}/s", view.compilations_per_s);
  if (view.budget_s)
    text += fmt::format("  {:.0f} % of {}", 100 * std::min(1.0, view.elapsed_s / *view.budget_s), duration(*view.budget_s));
  if (view.best_us > 0) text += fmt::format("  best {} us", format_us(view.best_us));
  if (view.failed > 0) text += fmt::format("  {} failed", view.failed);
  if (view.reused > 0) text += fmt::format("  {} known", view.reused);
  if (view.eta_s) text += "  ETA " + duration(*view.eta_s);
  return text;
}

std::string building_text(const std::string& what, const space::BuildProgress& progress) {
  return fmt::format("{}: building the search space  {:.1f} %  {} configurations", what, 100 * progress.share, progress.found);
}

ProgressLine::ProgressLine(bool quiet) : style_(style(quiet)) {}
ProgressLine::~ProgressLine() { clear(); }

bool ProgressLine::due() const {
  if (style_ == Style::None) return false;
  return Clock::now() - last_ >= (style_ == Style::InPlace ? Clock::duration(kRewriteEvery) : Clock::duration(kPlainEvery));
}

void ProgressLine::show(const session::RunProgress::View& view) {
  if (due()) show(progress_text(view));
}

void ProgressLine::show(const std::string& text) {
  if (!due()) return;
  last_ = Clock::now();
  std::string line = base::escape_line(text);
  if (style_ == Style::Plain) {
    base::tell("{}\n", line);
    return;
  }
  // A line that wraps could not be rewritten.
  line.resize(std::min(line.size(), terminal_columns() - 1));
  base::write_standard_error(fmt::format("\r{:<{}}", line, width_));
  width_ = line.size();
}

void ProgressLine::clear() {
  if (width_ == 0) return;
  base::write_standard_error(fmt::format("\r{:<{}}\r", "", width_));
  width_ = 0;
}

}  // namespace attune::tools
