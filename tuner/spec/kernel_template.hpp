#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/spec/data_file.hpp"
#include "tuner/spec/expression.hpp"
#include "tuner/spec/value.hpp"

namespace attune::spec {

enum class AxisKind { Type, Choice, Size, Code };

/// One named part of a problem: an element type, a choice, a size, or an expression of CUDA C++ that the caller gives.
struct ProblemAxis {
  std::string name;
  AxisKind kind = AxisKind::Size;
  std::vector<std::string> values;  ///< allowed types or choices; empty for sizes and code
  std::int64_t min = 1;             ///< sizes only
  std::int64_t max = std::int64_t{1} << 48;
  std::string default_value = {};  ///< of a problem that does not name the axis, as canonical ones do not; empty: it must; not of sizes
  std::optional<std::int64_t> default_size =
      {};                     ///< sizes only: of a problem that does not name it; canonical ones do; where `min` is `max`, that
  std::string stand_in = {};  ///< types and choices: the value whose results serve where there are none of another; empty: none
  std::string returns = {};   ///< code only: the type of the expression
  std::vector<std::pair<std::string, std::string>> arguments = {};  ///< code only: names and types in it
};

enum class Binding { Source, Launch };  ///< Launch: never a macro; configurations that differ only there share a cubin.

struct Parameter {
  std::string name;
  std::vector<Value> values;
  std::size_t default_index = 0;
  Binding binding = Binding::Source;
  /// A switch only: where it is true, these sizes are macros of the source, and the code serves no others.
  std::vector<std::string> specialises = {};
};

/// A condition on parameters, sizes, types, choices and device.*; configurations that fail it are not in the space.
struct Constraint {
  Expression expression;
};

/// How tuning fills a buffer. Uniform: (-1, 1) or small integers; Index: 0, 1, ...; Permutation: those in another order; Range: random
/// numbers from one bound up to another; Offsets: where rows begin that divide so many elements; Constant: a number.
enum class Fill { Uniform, Integers, Zeros, Ones, Index, Permutation, Range, Offsets, Constant };
enum class WorkspaceInit { None, ZeroOnce, ZeroEach };
enum class Memory { Global, Constant };

/// Where the template names an array in a file.
struct DataUse {
  std::string file;
  SourcePosition position;
};

struct BufferSpec {
  std::string name;
  std::string type;  ///< a type axis ("T"), a `types` alias, or an element type ("f32")
  Expression count;  ///< of vectors or structs of `lanes` elements each
  int lanes = 1;
  Fill fill = Fill::Uniform;
  std::vector<Expression> fill_bounds;  ///< Range: from, and below; Offsets: how many elements are divided; Constant: the number
  SourcePosition fill_position;         ///< of what the template says of it
  std::optional<DataUse> data;          ///< of an input: what it is filled with instead
  bool input = false;                   ///< filled before the call (default for buffers neither output nor workspace)
  bool output = false;
  bool workspace = false;
  bool prepared = false;    ///< none of these: `setup` writes it from inputs, and launches read it
  bool compared = true;     ///< of an output: with the right answer; else `check` makes of it what is
  bool of_check = false;    ///< of an output: `check` writes it, and no launch
  bool untimed = false;     ///< `setup` or `check` names it and no launch does, so that no program passes it
  bool may_change = false;  ///< of a pure input: what the kernel leaves in it is nobody's concern
  WorkspaceInit init = WorkspaceInit::None;
  Memory memory = Memory::Global;
  int align_bytes = 0;  ///< promised alignment; 0: only the element's own
};

/// A run-time argument that is no buffer and no size; `value` is what tuning passes (resolve_scalar of launch_plan.hpp).
struct ScalarSpec {
  std::string name;
  std::string type;
  Expression value;  ///< over axes and aliases
};

/// One kernel argument: a buffer, a scalar, a size, a `let` or a launch-bound parameter.
/// Sizes and lets pass as 64-bit integers unless `type` says otherwise ({"n": "u32"}).
struct ArgumentSpec {
  std::string name;
  std::optional<ElementType> type;
  SourcePosition position;
};

struct Repeat {
  Expression count;
  std::string index;  ///< name of the loop index inside this launch's expressions
};

/// An argument of a kernel template: a type axis, a `types` alias or an element type by its name, or a number, a truth value, or a type of
/// C++ in quotes.
using TemplateArgument = std::variant<std::string, Expression>;

struct LaunchSpec {
  std::string kernel;  ///< of a template its name alone
  std::vector<TemplateArgument> template_arguments;
  SourcePosition kernel_position;
  std::optional<Expression> condition;
  std::vector<Expression> grid;                 ///< one to three
  std::vector<Expression> block;                ///< one to three
  std::vector<Expression> cluster;              ///< none, or one to three
  std::optional<Expression> cluster_condition;  ///< without it wherever there are any
  std::optional<Expression> shared_bytes;
  bool cooperative = false;
  /// Where it holds, the launch may start while the step before it still runs; its kernel waits by griddepcontrol.wait.
  std::optional<Expression> dependent;
  std::vector<ArgumentSpec> arguments;
  std::optional<Repeat> repeat;
};

/// An initialisation step: sets every byte of a buffer.
struct MemsetSpec {
  std::string buffer;
  int byte = 0;
  std::optional<Expression> condition;
};

using StepSpec = std::variant<LaunchSpec, MemsetSpec>;

struct SourceSpec {
  std::string file;
  std::optional<Expression> condition;
};

/// An option for NVRTC. `{name}` in its text stands for a parameter of the source, a type or a choice (launch_plan.hpp's compiler_options).
struct OptionSpec {
  std::string text;
  std::optional<Expression> condition = {};
  SourcePosition position = {};
};

struct ReferenceDefinition;  // reference_definition.hpp

/// How far an output may be off what a plain kernel wrote: |got - wanted| <= relative * (|wanted| + mean of |wanted|) + absolute, where the
/// first is of floating types only. Where a file says what is wanted and `relative` is given, the mean is left out: numpy.allclose. A share
/// of the elements may be anything.
struct Tolerance {
  /// None: 64 units in the last place of the output's type (2 of one of 8 bits), times the square root of ReferenceSpec::terms, which
  /// errors of rounding grow with; but 0 where there is an `absolute`.
  std::optional<double> relative = std::nullopt;
  double absolute = 0;
  double mismatches = 0;  ///< a share, below 1
};

/// What a result is checked against. Defined: a reference.json, one that is built in or the template's own, which says what it needs of a
/// template and which values of its axes it leaves to launches of the template.
/// Kernel: launches of a plain kernel in the same sources that writes the same outputs. Files: arrays that outputs must be. None: records
/// are unverified.
struct ReferenceSpec {
  enum class Kind { None, Defined, Kernel, Files } kind = Kind::None;
  std::shared_ptr<const ReferenceDefinition> definition = {};  ///< where it is Defined
  std::string builtin = {};                                    ///< the name of one that is built in
  std::map<std::string, std::string> files = {};               ///< of the template's own: file name -> bytes
  std::vector<int> inputs = {}, outputs = {};                  ///< Defined: the template's buffer for each of its own; -1: it has none
  std::vector<std::string> parameters = {};                    ///< Defined: those that the right answer depends on
  std::vector<StepSpec> steps = {};                  ///< Kernel: the reference; Defined: for the problems that it leaves, else empty
  std::map<std::string, DataUse> wanted = {};        ///< Files: by output; others may be anything
  Tolerance tolerance = {};                          ///< Kernel, Files: of every output that `tolerances` does not name
  std::map<std::string, Tolerance> tolerances = {};  ///< the same by output
  std::optional<Expression> terms = {};              ///< Kernel, Files: how many terms an element of an output sums
};

struct WorkSpec {
  std::optional<Expression> bytes;  ///< bytes that must move, for GB/s and the share of the ceiling
  std::optional<Expression> operations;
};

/// Computed of what was measured of a configuration: metrics.hpp.
struct MetricSpec {
  std::string name;
  Expression value;
  bool of_measured = false;  ///< by itself or through metrics
  bool of_power = false;     ///< likewise
};

/// What tuning is for where it is not the time: metrics.hpp.
struct ObjectiveSpec {
  Expression value;
  bool maximise = false;
  bool of_power = false;
  std::vector<std::size_t> parameters;  ///< that it names, by itself or through metrics and lets
};

/// A row of the table "defaults": the values that some parameters have by default where a condition holds.
struct DefaultRow {
  std::optional<Expression> condition;                        ///< none: it always holds
  std::vector<std::pair<std::size_t, std::uint16_t>> values;  ///< parameter, and which of its values
};

/// The table of defaults, beside template.json.
inline constexpr const char* kDefaultsFile = "defaults.json";
/// Whether a template's folder has something else than an array under this name: template.json itself, or one of the files beside it that
/// attune reads. `name`: in normal form, as included_file gives it.
[[nodiscard]] bool is_name_of_templates(std::string_view name);

/// A parameterised kernel as read from template.json; immutable after parsing. docs/template-format.md is its manual.
struct KernelTemplate {
  int format = 1;
  std::string name;
  std::string summary;
  std::string macro_prefix = "ATTUNE_";
  std::vector<SourceSpec> sources;
  std::map<std::string, std::string>
      files;  ///< file name -> bytes: every source, what they include, and for `data` the line that stands for it
  std::map<std::string, DataFile> data;  ///< by file name, beside template.json
  bool includes_files = false;           ///< whether any of them includes another
  std::vector<ProblemAxis> problem;      ///< in declaration order
  /// Types that follow from others: "types": {"A": {"by": "T", "map": {"i8": "i32"}, "else": "T"}}.
  struct TypeAlias {
    std::string name;
    std::string by;
    std::map<std::string, std::string> map;
    std::string otherwise;
  };
  std::vector<TypeAlias> types;
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;
  std::vector<DefaultRow> defaults;                      ///< of defaults.json; the first that holds counts
  std::vector<std::pair<std::string, Expression>> lets;  ///< in declaration order; a later one may use earlier ones
  std::vector<BufferSpec> buffers;
  std::vector<ScalarSpec> scalars;
  std::vector<StepSpec> steps;  ///< memsets and launches in order
  /// Untimed, and run by tuning alone: before launches, from inputs to prepared buffers; and after them, before outputs are compared.
  std::vector<StepSpec> setup, check;
  bool setup_is_shared = false;  ///< it names no parameter: the code of the default configuration runs it for all
  ReferenceSpec reference;
  WorkSpec work;
  std::vector<MetricSpec> metrics;         ///< in declaration order; a later one may use earlier ones
  std::optional<ObjectiveSpec> objective;  ///< nothing: the time
  std::vector<OptionSpec> options;         ///< further NVRTC options
  std::string spec_text;                   ///< template.json as read
  std::string spec_path;                   ///< for messages
  std::string defaults_text;               ///< defaults.json as found beside it; no part of the content hash: no time depends on it
  std::string ladder_text;                 ///< ladder.json as found beside it (VariantLadder); no part of the content hash
  std::string ladder_path;                 ///< for messages; empty: there is none
  std::string content_hash;                ///< content key of spec_text and every one of `files`; the record's key

  /// Reads `folder`/template.json, its sources and what they include. Throws: SpecError with file, line, column and remedy.
  [[nodiscard]] static KernelTemplate load(const std::filesystem::path& folder);
  /// The same from memory; `path` is what errors name. `files` maps source names to bytes, and kDefaultsFile to the table of defaults if
  /// there is one.
  [[nodiscard]] static KernelTemplate parse(const std::string& spec_text, const std::map<std::string, std::string>& files,
                                            const std::string& path);

  /// What `parse` makes the same template of: `files`, the table of defaults and its own reference.
  [[nodiscard]] std::map<std::string, std::string> parts() const;

  [[nodiscard]] const ProblemAxis* axis(std::string_view name) const;
  [[nodiscard]] const Parameter* parameter(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> size_names() const;
};

/// One value index for each parameter, in the template's order. Comparable and hashable by its bytes.
struct Configuration {
  std::vector<std::uint16_t> index;
  bool operator==(const Configuration&) const = default;
  auto operator<=>(const Configuration&) const = default;
};

/// The parameters' own defaults; launch_plan.hpp has what is used for a problem.
[[nodiscard]] Configuration default_configuration(const KernelTemplate& kernel);
[[nodiscard]] const Value& value_of(const KernelTemplate& kernel, const Configuration& configuration, std::size_t parameter);
/// Whether there are right answers to compare with.
[[nodiscard]] inline bool has_reference(const KernelTemplate& kernel) { return kernel.reference.kind != ReferenceSpec::Kind::None; }
/// Whether tuning takes data from files, which are of one problem's sizes.
[[nodiscard]] bool uses_data_files(const KernelTemplate& kernel);
/// Where the template's file of this name lies. Requires: it was read from a folder.
[[nodiscard]] std::filesystem::path data_path(const KernelTemplate& kernel, const std::string& file);
/// Whether the configuration's code serves only the sizes that it was compiled for.
[[nodiscard]] bool is_specialised(const KernelTemplate& kernel, const Configuration& configuration);
/// The same without specialisation on sizes: what stands in for it at other sizes.
[[nodiscard]] Configuration for_any_size(const KernelTemplate& kernel, Configuration configuration);
/// {"block_size":256,...} in canonical form: sorted keys, no spaces. The configuration's key in the database.
[[nodiscard]] std::string to_text(const KernelTemplate& kernel, const Configuration& configuration);
/// Throws: UsageError naming an unknown or missing parameter, or a value that is not declared.
[[nodiscard]] Configuration configuration_from_text(const KernelTemplate& kernel, const std::string& json);

/// What is to be computed: a value for every axis.
struct Problem {
  std::map<std::string, std::string> choices;  ///< type, choice and code axes
  std::map<std::string, std::int64_t> sizes;
  bool operator==(const Problem&) const = default;
  auto operator<=>(const Problem&) const = default;
};

/// {"T":"f32","n":1024,"op":"sum"}: canonical; the problem's key in the database.
[[nodiscard]] std::string to_text(const Problem& problem);
/// The same without sizes: problems that differ only in size share a family, within which dispatch interpolates.
[[nodiscard]] std::string family_text(const Problem& problem);
/// What the problem says of a type, choice or code axis, or that axis' default; empty: there is no such axis.
[[nodiscard]] std::string choice_of(const KernelTemplate& kernel, const Problem& problem, const std::string& axis);
/// Whether the plain kernel of the template's reference computes the answer: always of Kernel references.
[[nodiscard]] bool asks_reference_kernel(const KernelTemplate& kernel, const Problem& problem);
[[nodiscard]] Problem problem_from_text(const std::string& json);
/// The one form of a problem: every size is in it, and a type, choice or code that stands at the default of its axis is left out, so that
/// the keys of old problems stay when a template's next version asks for more.
[[nodiscard]] Problem canonical(const KernelTemplate& kernel, Problem problem);
/// The problems whose results serve where this one's family has none, the nearest first: axes with a stand-in that are not at
/// it are replaced by it, the last declared first, then the one before as well, and so on. In canonical form.
[[nodiscard]] std::vector<Problem> related_problems(const KernelTemplate& kernel, Problem problem);
/// Every axis without a default present, every value allowed, in canonical form. Throws: UsageError naming the axis, what is
/// allowed and a suggestion.
void validate(const KernelTemplate& kernel, const Problem& problem);

/// Where templates are found: folders in order, then the ones built in. The first match wins.
class TemplateLibrary {
 public:
  /// `folders`: the user's; $ATTUNE_TEMPLATES (colon-separated) is appended.
  explicit TemplateLibrary(std::vector<std::filesystem::path> folders = {});
  /// `name`: a built-in name, a folder name inside a search folder, or a path to a folder.
  /// Throws: UsageError listing what is there (with a suggestion), SpecError when it is malformed.
  [[nodiscard]] KernelTemplate find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace attune::spec
