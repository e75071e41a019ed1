#include "tools/problem_arguments.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/session/source/recording.hpp"

namespace attune::tools {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

std::string axis_name(const spec::KernelTemplate& kernel, const std::string& option) {
  const auto sizes = kernel.size_names();
  if (kernel.axis(option) != nullptr) return option;
  if (option == "size" && sizes.size() == 1) return sizes.front();
  std::vector<std::string> known;
  for (const auto& axis : kernel.problem) known.push_back(axis.name);
  if (sizes.size() == 1) known.push_back("size");
  const std::string suggestion = base::closest(option, known);
  throw UsageError(fmt::format("unknown argument --{}{}; template \"{}\" takes --{}", option,
                               suggestion.empty() ? "" : fmt::format(" (did you mean --{}?)", suggestion), kernel.name,
                               fmt::join(known, ", --")));
}

std::map<std::string, std::string> pair_up(const spec::KernelTemplate& kernel, const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--")) {
      throw UsageError(fmt::format("unexpected argument \"{}\"; a problem is given as --<axis> <value>, for example --size 2^20", word));
    }
    const std::size_t equals = word.find('=');
    const std::string name = axis_name(kernel, word.substr(2, equals == std::string::npos ? equals : equals - 2));
    std::string value;
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      throw UsageError(fmt::format("--{} needs a value", word.substr(2)));
    }
    if (!values.emplace(name, value).second) throw UsageError(fmt::format("--{} is given twice", name));
  }
  return values;
}

std::string standard(const spec::ProblemAxis& axis) { return axis.default_value.empty() ? axis.values.front() : axis.default_value; }

/// Several types or choices may be given; a comma in code is the code's.
std::vector<std::string> words_of(const spec::ProblemAxis& axis, const std::string& given) {
  return axis.kind == spec::AxisKind::Code ? std::vector{given} : split(given, ',');
}

/// More than anybody tunes: each is a session of its own, and makes a list of this length in the memory.
constexpr std::size_t kMostProblems = 1'000'000;

/// One axis with what was given for it.
struct GivenAxis {
  const spec::ProblemAxis* axis = nullptr;
  std::vector<std::string> words;
  std::vector<std::int64_t> sizes;

  [[nodiscard]] std::size_t count() const { return axis->kind == spec::AxisKind::Size ? sizes.size() : words.size(); }
};

/// Throws: UsageError when the combinations are too many, before any of them is made.
void check_count(const std::vector<GivenAxis>& axes) {
  std::uint64_t count = 1;
  bool overflows = false;
  std::string product;
  for (const auto& given : axes) {
    overflows = overflows || __builtin_mul_overflow(count, static_cast<std::uint64_t>(given.count()), &count);
    product += fmt::format("{}{} of {}", product.empty() ? "" : " x ", given.count(), given.axis->name);
  }
  if (!overflows && count <= kMostProblems) return;
  const std::string told = overflows ? "more than 2^64" : fmt::to_string(count);
  throw UsageError(fmt::format("the arguments name {} problems ({}); at most {} are taken at once: give fewer values, or several commands",
                               told, product, kMostProblems));
}

/// Reads a JSON object a line.
std::vector<spec::Problem> listed_problems(const spec::KernelTemplate& kernel, const std::string& file) {
  const bool standard_input = file == "-";
  std::istringstream lines(standard_input ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : base::read_file(file));
  std::vector<spec::Problem> problems;
  std::set<std::string> known;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      auto problem = spec::canonical(kernel, spec::problem_from_text(line));
      spec::validate(kernel, problem);
      if (known.insert(spec::to_text(problem)).second) problems.push_back(std::move(problem));
    } catch (const Error& error) {
      throw UsageError(fmt::format("{}:{}: {}", standard_input ? "standard input" : file, number, error.what()));
    }
    if (problems.size() > kMostProblems)
      throw UsageError(fmt::format("{} names more than {} problems; give several commands", file, kMostProblems));
  }
  return problems;
}

std::vector<spec::Problem> recorded_problems(const spec::KernelTemplate& kernel, const std::string& file) {
  const auto recording = session::Recording::load(file);
  if (recording.template_name != kernel.name)
    throw UsageError(fmt::format("{} is a recording of {}, not of {}", file, recording.template_name, kernel.name));
  std::vector<spec::Problem> problems;
  for (const auto& recorded : recording.problems) {
    problems.push_back(spec::canonical(kernel, recorded.problem));
    spec::validate(kernel, problems.back());
  }
  return problems;
}

/// Every problem so far combined with every value of one more axis.
std::vector<spec::Problem> combine(std::vector<spec::Problem> problems, const GivenAxis& given) {
  std::vector<spec::Problem> combined;
  combined.reserve(problems.size() * given.count());
  for (auto& problem : problems) {
    for (std::size_t i = 0; i < given.count(); ++i) {
      if (given.axis->kind == spec::AxisKind::Size)
        problem.sizes[given.axis->name] = given.sizes[i];
      else
        problem.choices[given.axis->name] = given.words[i];
      combined.push_back(problem);
    }
  }
  return combined;
}

}  // namespace

std::vector<spec::Problem> problems_from_arguments(const spec::KernelTemplate& kernel, const std::vector<std::string>& arguments,
                                                   const std::map<std::string, std::string>& defaults) {
  auto values = pair_up(kernel, arguments);
  values.insert(defaults.begin(), defaults.end());
  std::vector<GivenAxis> axes;
  for (const bool sizes : {false, true}) {
    for (const auto& axis : kernel.problem) {
      if ((axis.kind == spec::AxisKind::Size) != sizes) continue;
      const auto given = values.find(axis.name);
      if (sizes) {
        if (given == values.end() && !axis.default_size) {
          throw UsageError(
              fmt::format("which {}? give --{} a value or a range, for example --{} 2^10..2^28:x4", axis.name, axis.name, axis.name));
        }
        axes.push_back({&axis, {}, given == values.end() ? std::vector{*axis.default_size} : base::parse_counts(given->second)});
        if (given == values.end()) continue;
        if (const std::string note = base::doubling_note(given->second); !note.empty())
          base::tell_message(fmt::format("--{} {}", axis.name, note));
      } else {
        if (given == values.end() && axis.values.size() != 1 && axis.default_value.empty()) {
          throw UsageError(fmt::format("which {}? give --{} one of {}", axis.name, axis.name, fmt::join(axis.values, ", ")));
        }
        axes.push_back({&axis, given == values.end() ? std::vector{standard(axis)} : words_of(axis, given->second), {}});
      }
    }
  }
  check_count(axes);
  std::vector<spec::Problem> problems(1);
  for (const auto& given : axes) problems = combine(std::move(problems), given);
  for (auto& problem : problems) {
    problem = spec::canonical(kernel, std::move(problem));
    spec::validate(kernel, problem);
  }
  return problems;
}

std::vector<spec::Problem> problems_of(const spec::KernelTemplate& kernel, const std::string& file,
                                       const std::vector<std::string>& arguments, const std::map<std::string, std::string>& defaults) {
  if (file.empty()) return problems_from_arguments(kernel, arguments, defaults);
  if (!arguments.empty()) throw UsageError(fmt::format("--problems names the problems: \"{}\" has no place beside it", arguments.front()));
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();  // what cannot be reached is told by who opens it
  if (file != "-" && (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::directory)) {
    throw UsageError(fmt::format("--problems names {}, which {}; name a file with a JSON object a line, or a recording; -: standard input",
                                 file, kind == std::filesystem::file_type::directory ? "is a folder" : "is not there"));
  }
  auto problems = file.ends_with(".json.zst") || file.ends_with(".json") ? recorded_problems(kernel, file) : listed_problems(kernel, file);
  if (problems.empty())
    throw UsageError(fmt::format("{} names no problem: it has a JSON object a line, for example {{\"n\": 1000}}",
                                 file == "-" ? "standard input" : file));
  return problems;
}

spec::Problem problem_of_size(const spec::KernelTemplate& kernel, std::int64_t size) {
  spec::Problem problem;
  for (const auto& axis : kernel.problem) {
    if (axis.kind == spec::AxisKind::Size)
      problem.sizes[axis.name] = axis.default_size.value_or(std::clamp(size, axis.min, axis.max));
    else
      problem.choices[axis.name] = standard(axis);
  }
  return spec::canonical(kernel, std::move(problem));
}

std::string describe(const spec::Problem& problem) {
  std::string text;
  for (const auto& [name, value] : problem.choices) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  for (const auto& [name, size] : problem.sizes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, base::format_count(size));
  return base::escape_line(text);
}

}  // namespace attune::tools
