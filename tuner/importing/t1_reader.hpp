#pragma once
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/importing/condition_guard.hpp"
#include "tuner/importing/imported_kernel.hpp"
#include "tuner/importing/python_translation.hpp"
#include "tuner/spec/json_document.hpp"

namespace attune::importing {

/// Reads a T1 file, the autotuning community's description of a kernel to be tuned, as the schema 1.0.0 has it and as Kernel Tuner, KTT and
/// BAT write it. Members that are not read are told in notes, whatever they are. `name`: of the template; empty: the file's.
/// Throws: SpecError with file, line, column and a remedy.
/// Source: https://github.com/odgaard/TuningSchema, version 1.0.0, and the files of those tuners.
[[nodiscard]] ImportedKernel read_t1(const std::string& text, const std::string& path, const std::string& name);

/// That nothing checks the results.
[[nodiscard]] Note unverified_note();

/// A file of data that the T1 file names.
struct FoundData {
  std::string name;                  ///< its path in the T1 file's folder and in the template's
  std::optional<ImportedData> data;  ///< none: the template does not take it
  std::string why_not = {};          ///< "there is no file 'a.npy' beside this one"
};

/// One instance reads one file; its parts are in t1_space.cpp, t1_geometry.cpp, t1_arguments.cpp, t1_fill.cpp, t1_reference.cpp,
/// t1_answers.cpp and t1_rest.cpp.
class T1Reader {
 public:
  explicit T1Reader(const spec::JsonNode& root) : root_(root) {}
  [[nodiscard]] ImportedKernel run(const std::string& name);

 private:
  // t1_space.cpp
  void read_parameters(const spec::JsonNode& space);
  spec::Parameter read_parameter(const spec::JsonNode& node);
  void read_default(spec::Parameter& parameter, const spec::JsonNode& node);
  std::vector<spec::Value> read_values(const spec::JsonNode& node, const std::string& name, const std::string& type);
  void read_conditions(const spec::JsonNode& holder);
  void read_condition(const spec::JsonNode& node);
  void check_named_parameters(const spec::JsonNode& list) const;

  // t1_geometry.cpp
  enum class Fraction { Kept, RoundedUp };  ///< of a dimension that `/` divides
  void read_problem_size();
  void add_problem_size(const std::string& name, const spec::JsonNode& node);
  void add_problem_size(const std::string& name, std::int64_t value, const spec::SourcePosition& position);
  void read_geometry();
  void fix_sizes();
  [[nodiscard]] std::vector<std::string> read_dimensions(const spec::JsonNode& node, const std::string& what, Fraction fraction);
  [[nodiscard]] std::vector<std::string> default_block() const;
  [[nodiscard]] std::vector<std::string> divided_problem();
  [[nodiscard]] std::string divisor_of(std::size_t dimension);
  [[nodiscard]] std::vector<std::string> grid_of(const spec::JsonNode& node, const std::vector<std::string>& block);
  [[nodiscard]] bool counts_threads();

  // t1_arguments.cpp
  [[nodiscard]] const spec::JsonNode& arguments_node() const;
  void read_arguments();
  void read_argument(const spec::JsonNode& node);
  void read_vector(const spec::JsonNode& node, ImportedArgument& argument);
  void read_access(const spec::JsonNode& node, ImportedArgument& argument);
  void read_scalar(const spec::JsonNode& node, ImportedArgument& argument);
  std::string read_count(const spec::JsonNode& node, int lanes);
  std::string argument_name(const spec::JsonNode& node);

  // t1_fill.cpp
  void read_fill(const spec::JsonNode& node, ImportedArgument& argument);
  void fill_with_number(const spec::JsonNode& node, ImportedArgument& argument);
  /// `word`: "BinaryRaw", or one of those that no template has.
  void fill_from_source(const spec::JsonNode& node, ImportedArgument& argument, const std::string& word);
  /// Why the argument cannot be filled with the places of its elements; empty: it can.
  [[nodiscard]] std::string why_no_index(const spec::JsonNode& node, const ImportedArgument& argument) const;
  /// Looks at a file beside this one that is to be the argument's elements.
  [[nodiscard]] FoundData find_data(const std::string& source, const ImportedArgument& argument) const;
  /// Requires: `found` has data.
  void fill_with(const FoundData& found, ImportedArgument& argument, const std::string& what);

  // t1_reference.cpp
  void read_reference();
  /// A member that stands beside the kernel or in the file itself; null: neither.
  [[nodiscard]] const spec::JsonNode* of_reference(std::string_view key) const;
  void read_expected();
  /// Adds the file that an output must be and how far off it may be, or tells why there is none.
  void find_expected(const spec::JsonNode& node, std::map<std::string, FoundData>& wanted,
                     std::map<std::string, ImportedTolerance>& tolerances);
  void read_reference_kernel();
  /// Makes a kernel of the same file the reference, as far as the file tells; why it can be none, or empty.
  [[nodiscard]] std::string take_reference_kernel(const spec::JsonNode& node);
  [[nodiscard]] std::string take_reference_values(const spec::JsonNode& values);
  [[nodiscard]] std::string take_reference_geometry(const spec::JsonNode& node);
  /// A parameter in the expression whose default is not what the reference wants; empty: none.
  [[nodiscard]] std::string tuned_in(const std::string& expression) const;
  [[nodiscard]] std::string take_reference_arguments(const spec::JsonNode& names);
  /// How KTT compares the output; none: bit by bit.
  [[nodiscard]] std::optional<ImportedTolerance> read_tolerance(const spec::JsonNode& node, const ImportedArgument& output,
                                                                const std::string& about);

  // t1_answers.cpp
  void read_answers();
  /// Makes files the reference. Requires: all of them have data.
  void compare_with(const std::map<std::string, FoundData>& wanted, const std::map<std::size_t, FoundData>& fills);
  /// Adds the file that an output must be, or tells why there is none.
  void find_answer(const spec::JsonNode& node, std::map<std::string, FoundData>& wanted);
  /// Adds the files of arguments that are filled with random numbers so far, by their places; names those that have none.
  [[nodiscard]] std::string find_inputs(std::map<std::size_t, FoundData>& fills) const;

  // t1_rest.cpp
  void read_kernel();
  /// Reads the arguments of a kernel template. Requires: the tunable parameters are read, since an argument may be one of them.
  void read_template_arguments();
  void read_options();
  void read_budget();
  void tell_unread(const spec::JsonNode& node, const std::vector<std::string_view>& read, const std::string& place);
  void tell_rest();
  [[nodiscard]] std::string template_name() const;

  /// A number, or an expression in a string. Throws: SpecError.
  [[nodiscard]] Translation expression(const spec::JsonNode& node, const std::string& what, Use use) const;
  void note(Note::Kind kind, std::string about, std::string text) { kernel_.notes.push_back({kind, std::move(about), std::move(text)}); }
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> sizes() const;
  [[nodiscard]] const spec::Parameter* parameter(std::string_view name) const;
  [[nodiscard]] bool is_taken(const std::string& name) const;
  /// The name, or one like it that nothing has and that expressions may use.
  [[nodiscard]] std::string free_name(const std::string& wanted) const;

  const spec::JsonNode& root_;
  const spec::JsonNode* specification_ = nullptr;
  KnownNames names_;
  ConditionGuard guard_;
  ImportedKernel kernel_;
  std::vector<std::string> in_brackets_;     ///< arguments of a kernel template, as the file writes them
  std::vector<std::string> argument_names_;  ///< as the file has them
};

/// The first of these members that is there and not null.
[[nodiscard]] const spec::JsonNode* member_of(const spec::JsonNode& node, std::initializer_list<std::string_view> keys);
/// Whether it says yes: 1, true and "true" all occur. Null: no.
[[nodiscard]] bool is_set(const spec::JsonNode* node);
/// Throws: SpecError at the object with the remedy when there is none.
[[nodiscard]] const spec::JsonNode& required_member(const spec::JsonNode& node, std::string_view key, const std::string& what,
                                                    const std::string& remedy);
/// One of these words, in whatever case its letters are. Throws: SpecError naming the closest.
[[nodiscard]] std::string known_word(const spec::JsonNode& node, const std::string& what, const std::vector<std::string>& words);
/// A number in attune's expressions; a truth value is 0 or 1.
[[nodiscard]] std::string literal(const spec::Value& value);
/// Letters, digits and '_' of a text, so that it is a C identifier.
[[nodiscard]] std::string as_identifier(const std::string& text);

}  // namespace attune::importing
