#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/cuda_macros.hpp"
#include "tuner/importing/init.hpp"
#include "tuner/importing/kernel_usage.hpp"

namespace attune::importing {

/// What a kernel template takes.
struct TemplateParameter {
  std::string name, own_name;  ///< the source's, and what the template calls it
  bool is_type = false, is_bool = false;
  Tokens fallback;         ///< its default; none: it has none
  std::size_t offset = 0;  ///< of the name in the source
};

/// A template in the making: what the source says, and what has been made of it. The steps follow each other.
struct InitDraft {
  SourceKernel source;
  std::vector<KernelArgument> arguments;
  KernelUsage usage;
  std::vector<SourceName> names;
  std::vector<TemplateParameter> template_parameters;
  TypeArguments types;
  StructLayouts structs;
  Ask ask;

  ImportedKernel kernel;
  std::set<std::string> sizes;                                 ///< names of arguments, macros and constants that are sizes
  std::vector<std::string> size_order;                         ///< the same, as the template has them
  std::map<std::string, std::string> size_names;               ///< of one of them: what the template calls it
  std::map<std::string, std::string> expressions;              ///< what a name of the source is in expressions
  std::vector<std::string> left_macros;                        ///< why a macro that looks tunable is none of the parameters
  std::vector<std::string> per_block;                          ///< what a block covers of each axis of the grid
  std::vector<std::pair<std::string, SourceName>> own_guards;  ///< files and their macros that count as Guarded, since the copy guards them
  std::string shared_bytes;
  bool is_reference = false;  ///< a plain kernel, of which nothing is tuned

  void note(Note::Kind kind, const std::string& about, const std::string& text) { kernel.notes.push_back({kind, about, text}); }
  /// The guess, or what was answered in its place.
  [[nodiscard]] std::string guess(const Question& question) const { return ask ? ask(question) : question.proposed; }
};

/// Before all else: what is for the host has no place in the copy of the source. Requires: the kernel's file.
void leave_out_host_code(InitDraft& draft, std::map<std::string, std::string>& files);
/// Macros that the source defines whatever stands before them, and that are numbers of a block for certain, count as if they were
/// behind #ifndef. `reference`: may be null.
void choose_guards(InitDraft& draft, const std::map<std::string, std::string>& files, const SourceKernel* reference,
                   const std::filesystem::path& folder);
/// Puts them there in the copy, where they have become parameters. Lines keep their numbers by #line.
void write_guards(InitDraft& draft, std::map<std::string, std::string>& files);
/// Types of a kernel template become types of the problem; its numbers are names like macros. Throws: SpecError for what attune cannot
/// give.
void draft_template(InitDraft& draft, const std::string& code);
/// One of its numbers becomes a parameter. Throws: SpecError as draft_parameters does.
void draft_template_value(InitDraft& draft, const SourceName& name);
/// What the launch writes behind the kernel's name, when all else is known.
void draft_template_arguments(InitDraft& draft);
/// Macros become parameters. Throws: SpecError for an answer that is no list of numbers.
void draft_parameters(InitDraft& draft);
/// Integers that bound indices become sizes of the problem.
void draft_sizes(InitDraft& draft);
/// Threads of a block and blocks of the grid; they may add parameters. Throws: UsageError where nothing is left to tune.
void draft_geometry(InitDraft& draft);
/// Buffers and scalars.
void draft_arguments(InitDraft& draft);
/// Variables in constant memory that the kernel reads are buffers, behind all arguments.
void draft_constants(InitDraft& draft, const std::map<std::string, std::string>& files);
/// What results are compared with: the kernel of that name, where there is one. Throws: UsageError, SpecError.
void draft_reference(InitDraft& draft, const std::vector<SourceKernel>& kernels, const std::string& name, const std::string& code);
/// How many terms an element of the plain kernel's outputs sums, where that is many. Requires: the arguments of `draft`.
void draft_terms(InitDraft& draft, const InitDraft& plain);
/// Conditions on threads and on shared memory.
void draft_constraints(InitDraft& draft);

/// What is wrong with an expression; empty: nothing, as far as it shows by itself.
[[nodiscard]] std::string expression_fault(const std::string& text);
/// The answer to which values are tried; empty: none.
[[nodiscard]] std::vector<std::int64_t> ask_for_values(const InitDraft& draft, const std::string& about,
                                                       const std::vector<std::int64_t>& proposed);
/// Whether the macro is one that becomes a parameter, by its name and place.
[[nodiscard]] bool becomes_macro(const SourceName& name);
/// Words of expressions cannot be names: `ending` makes them others.
[[nodiscard]] std::string name_in_expressions(const std::string& name, const char* ending);
[[nodiscard]] spec::Parameter number_parameter(const std::string& name, const std::vector<std::int64_t>& values, std::int64_t given);

}  // namespace attune::importing
