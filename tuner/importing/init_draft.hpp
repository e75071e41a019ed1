#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/cuda_macros.hpp"
#include "tuner/importing/init.hpp"
#include "tuner/importing/kernel_usage.hpp"

namespace attune::importing {

/// A template in the making: what the source says, and what has been made of it. The steps follow each other.
struct InitDraft {
  SourceKernel source;
  std::vector<KernelArgument> arguments;
  KernelUsage usage;
  std::vector<SourceName> names;
  Ask ask;

  ImportedKernel kernel;
  std::set<std::string> sizes;                     ///< names of arguments, macros and constants that are sizes
  std::vector<std::string> size_order;             ///< the same, as the template has them
  std::map<std::string, std::string> size_names;   ///< of one of them: what the template calls it
  std::map<std::string, std::string> expressions;  ///< what a name of the source is in expressions
  std::vector<std::string> left_macros;            ///< why a macro that looks tunable is none of the parameters
  std::vector<std::string> per_block;              ///< what a block covers of each axis of the grid
  std::string shared_bytes;

  void note(Note::Kind kind, const std::string& about, const std::string& text) { kernel.notes.push_back({kind, about, text}); }
  /// The guess, or what was answered in its place.
  [[nodiscard]] std::string guess(const Question& question) const { return ask ? ask(question) : question.proposed; }
};

/// Macros become parameters. Throws: SpecError for an answer that is no list of numbers.
void draft_parameters(InitDraft& draft);
/// Integers that bound indices become sizes of the problem.
void draft_sizes(InitDraft& draft);
/// Threads of a block and blocks of the grid; they may add parameters. Throws: UsageError where nothing is left to tune.
void draft_geometry(InitDraft& draft);
/// Buffers and scalars.
void draft_arguments(InitDraft& draft);
/// Conditions on threads and on shared memory.
void draft_constraints(InitDraft& draft);

/// What is wrong with an expression; empty: nothing, as far as it shows by itself.
[[nodiscard]] std::string expression_fault(const std::string& text);
[[nodiscard]] spec::Parameter number_parameter(const std::string& name, const std::vector<std::int64_t>& values, std::int64_t given);

}  // namespace attune::importing
