#include "tuner/spec/compiler_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

constexpr std::string_view kAllowedPlaces = "docs/template-format.md, \"Options\", lists those that may";

enum class Argument {
  None,
  Bool,
  Registers,  ///< a count of registers of a thread
  Percent,    ///< 0 to 101, as NVRTC takes it
  Language,   ///< not before C++17: CUDA's headers need it, and older ones have trigraphs, a second spelling of `#`
  CompileSpeed,
  Diagnostics,  ///< numbers with commas
  Definition,   ///< NAME or NAME=text
  Name,
  Assembler,  ///< one option of ptxas, see kAssembler
};

struct Rule {
  std::string_view name;        ///< "--fmad"
  std::string_view short_name;  ///< "-fmad"
  Argument argument;
};

/// Both spellings of each option; NVRTC takes no others, no abbreviations, and no value in a string of its own.
constexpr std::array<Rule, 27> kRules = {{
    Rule{"--use_fast_math", "-use_fast_math", Argument::None},
    Rule{"--fmad", "-fmad", Argument::Bool},
    Rule{"--ftz", "-ftz", Argument::Bool},
    Rule{"--prec-sqrt", "-prec-sqrt", Argument::Bool},
    Rule{"--prec-div", "-prec-div", Argument::Bool},
    Rule{"--extra-device-vectorization", "-extra-device-vectorization", Argument::None},
    Rule{"--restrict", "-restrict", Argument::None},
    Rule{"--maxrregcount", "-maxrregcount", Argument::Registers},
    Rule{"--jump-table-density", "-jtd", Argument::Percent},
    Rule{"--Ofast-compile", "-Ofc", Argument::CompileSpeed},
    Rule{"--ptxas-options", "-Xptxas", Argument::Assembler},
    Rule{"--device-stack-protector", "-device-stack-protector", Argument::Bool},
    Rule{"--std", "-std", Argument::Language},
    Rule{"--device-int128", "-device-int128", Argument::None},
    Rule{"--device-float128", "-device-float128", Argument::None},
    Rule{"--builtin-move-forward", "-builtin-move-forward", Argument::Bool},
    Rule{"--builtin-initializer-list", "-builtin-initializer-list", Argument::Bool},
    Rule{"--minimal", "-minimal", Argument::None},
    Rule{"--define-macro", "-D", Argument::Definition},
    Rule{"--undefine-macro", "-U", Argument::Name},
    Rule{"--disable-warnings", "-w", Argument::None},
    Rule{"--diag-error", "-diag-error", Argument::Diagnostics},
    Rule{"--diag-suppress", "-diag-suppress", Argument::Diagnostics},
    Rule{"--diag-warn", "-diag-warn", Argument::Diagnostics},
    Rule{"--display-error-number", "-err-no", Argument::None},
    Rule{"--no-display-error-number", "-no-err-no", Argument::None},
    Rule{"--brief-diagnostics", "-brief-diag", Argument::Bool},
}};

/// Options of ptxas, whole: it has others that name files.
constexpr std::array<std::string_view, 32> kAssembler = {"-O0",
                                                         "-O1",
                                                         "-O2",
                                                         "-O3",
                                                         "--opt-level=0",
                                                         "--opt-level=1",
                                                         "--opt-level=2",
                                                         "--opt-level=3",
                                                         "-dlcm=ca",
                                                         "-dlcm=cg",
                                                         "-dlcm=cs",
                                                         "-dlcm=lu",
                                                         "-dlcm=cv",
                                                         "--def-load-cache=ca",
                                                         "--def-load-cache=cg",
                                                         "--def-load-cache=cs",
                                                         "--def-load-cache=lu",
                                                         "--def-load-cache=cv",
                                                         "-dscm=wb",
                                                         "-dscm=cg",
                                                         "-dscm=cs",
                                                         "-dscm=wt",
                                                         "--def-store-cache=wb",
                                                         "--def-store-cache=cg",
                                                         "--def-store-cache=cs",
                                                         "--def-store-cache=wt",
                                                         "--allow-expensive-optimizations=true",
                                                         "--allow-expensive-optimizations=false",
                                                         "--disable-optimizer-constants",
                                                         "--warn-on-spills",
                                                         "--warn-on-local-memory-usage",
                                                         "-v"};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
/// No backslash and no '#': a value is one line of plain tokens.
constexpr std::string_view kMacroText = " .+-*/%()<>=!&|^~?:;,'\"[]{}";

bool consists_of(std::string_view text, std::initializer_list<std::string_view> sets) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::any_of(sets.begin(), sets.end(), [&](std::string_view set) { return set.find(c) != std::string_view::npos; });
  });
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_number(std::string_view text, int least, int most) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && consists_of(text, {kDigits}) && number >= least &&
         number <= most;
}

bool is_macro(std::string_view name) {
  return !name.empty() && consists_of(name, {kLetters, kDigits}) && kDigits.find(name.front()) == std::string_view::npos;
}

bool is_definition(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  return is_macro(text.substr(0, equals)) && consists_of(value, {kLetters, kDigits, kMacroText}) && !holds(value, "/*") &&
         !holds(value, "//") && !holds(value, "??") && !holds(value, "__has_");
}

bool are_diagnostics(std::string_view text) {
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!is_number(text.substr(0, comma), 1, 99999)) return false;
    if (comma == text.size()) return true;
    text.remove_prefix(comma + 1);
  }
}

/// What the value has to be, for messages.
std::string_view wanted(Argument argument) {
  switch (argument) {
    case Argument::None:
      return "no value";
    case Argument::Bool:
      return "=true or =false";
    case Argument::Registers:
      return "= and a number from 1 to 255";
    case Argument::Percent:
      return "= and a number from 0 to 101";
    case Argument::Language:
      return "=c++17 or =c++20";
    case Argument::CompileSpeed:
      return "=0, =min, =mid or =max";
    case Argument::Diagnostics:
      return "= and numbers with commas";
    case Argument::Definition:
      return "a macro's name, and behind '=' one line of plain text without comments, '\\' and '#'";
    case Argument::Name:
      return "a macro's name";
    case Argument::Assembler:
      break;
  }
  return "= and one of ptxas' options -O0 to -O3, -dlcm=..., -dscm=..., --allow-expensive-optimizations=..., "
         "--disable-optimizer-constants, --warn-on-spills, --warn-on-local-memory-usage and -v";
}

bool fits(Argument argument, std::string_view value) {
  const auto one_of = [value](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), value) != words.end();
  };
  switch (argument) {
    case Argument::None:
      return false;  // asked for options with a value only
    case Argument::Bool:
      return one_of({"true", "false"});
    case Argument::Registers:
      return is_number(value, 1, 255);
    case Argument::Percent:
      return is_number(value, 0, 101);
    case Argument::Language:
      return one_of({"c++17", "c++20"});
    case Argument::CompileSpeed:
      return one_of({"0", "min", "mid", "max"});
    case Argument::Diagnostics:
      return are_diagnostics(value);
    case Argument::Definition:
      return is_definition(value);
    case Argument::Name:
      return is_macro(value);
    case Argument::Assembler:
      return std::find(kAssembler.begin(), kAssembler.end(), value) != kAssembler.end();
  }
  return false;
}

/// The rule of the option and where its value begins; none when it is not among them.
const Rule* find_rule(std::string_view option, std::size_t& value_at) {
  for (const Rule& rule : kRules) {
    // -DNAME and -UNAME have no '=' before the value; "-D" alone stands before it.
    const bool glued = (rule.short_name == "-D" || rule.short_name == "-U") && option.starts_with(rule.short_name);
    const std::size_t end = glued ? rule.short_name.size() : std::min(option.find('='), option.size());
    const std::string_view name = option.substr(0, end);
    if (name != rule.name && name != rule.short_name) continue;
    value_at = glued ? end : std::min(end + 1, option.size());
    return &rule;
  }
  return nullptr;
}

}  // namespace

std::string why_no_option(std::string_view option) {
  if (option.size() > kMostOptionBytes) return fmt::format("is longer than {} bytes", kMostOptionBytes);
  if (!option.starts_with('-')) return "does not begin with '-'";
  if (option.starts_with("-arch") || option.starts_with("--gpu-architecture")) {
    return "is attune's own: the device tuned for decides; remove it";
  }
  std::size_t value_at = 0;
  const Rule* const rule = find_rule(option, value_at);
  if (rule == nullptr) {
    std::vector<std::string> known;
    for (const Rule& candidate : kRules) known.emplace_back(candidate.name);
    const std::string_view name = option.substr(0, option.find('='));
    return fmt::format("may not be given by a template, as it may read or write files or is not known{}; {}", suggestion(name, known),
                       kAllowedPlaces);
  }
  const bool bare = value_at == option.size() && !option.ends_with('=');
  const bool good = rule->argument == Argument::None ? bare : fits(rule->argument, option.substr(value_at));
  return good ? ""
              : fmt::format("needs {} behind {}; {}", wanted(rule->argument), option.substr(0, option.find('=')).substr(0, 40),
                            kAllowedPlaces);
}

}  // namespace attune::spec
