#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

/// Problems out of the arguments CLI11 left over: `--<axis> value` or `--<axis>=value` for every axis of the template;
/// `--size` stands for the size axis of a template that has exactly one. A value may be a comma list, a size also a
/// range ("2^10..2^28:x4"); the result is every combination, sizes ascending and varying fastest.
/// A type or choice axis that is not given has its value of `defaults`, or must have exactly one.
/// Throws: UsageError (unknown argument, with a suggestion; missing axis; value not allowed).
[[nodiscard]] std::vector<spec::Problem> problems_from_arguments(const spec::KernelTemplate& kernel,
                                                                 const std::vector<std::string>& arguments,
                                                                 const std::map<std::string, std::string>& defaults = {});

/// What `--problems` names, or else problems_from_arguments. The file is a recording (*.json, *.json.zst), or has a JSON object a line,
/// every axis with its value (a choice with a default may be left out); empty lines and what is there twice do not count. "-": standard
/// input. Throws: UsageError (arguments beside a file; a problem that is not of the template, with its line), EnvironmentError (what cannot
/// be read), SpecError (a malformed recording).
[[nodiscard]] std::vector<spec::Problem> problems_of(const spec::KernelTemplate& kernel, const std::string& file,
                                                     const std::vector<std::string>& arguments,
                                                     const std::map<std::string, std::string>& defaults = {});

/// A problem for where the caller names none: every axis at its default, else at its first type or choice, or at `size`, within its bounds.
[[nodiscard]] spec::Problem problem_of_size(const spec::KernelTemplate& kernel, std::int64_t size);

/// "reduce T=f32 op=sum n=2^20", for people.
[[nodiscard]] std::string describe(const spec::Problem& problem);

}  // namespace attune::tools
