#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/json_document.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/name_table.hpp"

namespace attune::spec {

/// Turns template.json's tree into a KernelTemplate and refuses what contradicts itself. One instance, one template.
/// template_problem.cpp reads problem and types; template_parser.cpp parameters, constraints, lets and sources; template_options.cpp the
/// options; kernel_name.cpp the names of kernels; template_buffers.cpp buffers and scalars; template_launches.cpp launches and work;
/// template_setup.cpp setup and check; template_metrics.cpp metrics and objective; template_reference.cpp the reference.
/// reference_parser.cpp reads a reference.json with the same methods.
class TemplateParser {
 public:
  explicit TemplateParser(const JsonNode& root) : root_(root) {}
  [[nodiscard]] KernelTemplate run(const std::map<std::string, std::string>& files);

 protected:
  void read_head(const ObjectReader& top);
  void read_problem(const JsonNode& node);
  /// An array beside template.json, of which the line that stands for it is among the files. Throws: SpecError.
  [[nodiscard]] DataUse read_data(const JsonNode& node, const std::string& what);
  void read_size_of_file(ProblemAxis& axis, const ObjectReader& reader);
  [[nodiscard]] ProblemAxis read_axis(const JsonNode::Member& member);
  void read_size(ProblemAxis& axis, const JsonNode& node);
  void read_default(ProblemAxis& axis, const ObjectReader& reader, const JsonNode& node);
  void read_stand_in(ProblemAxis& axis, const JsonNode& node);
  /// After the type aliases, which its arguments may name.
  void read_code(ProblemAxis& axis, const JsonNode& node);
  void read_types(const JsonNode& node);
  [[nodiscard]] KernelTemplate::TypeAlias read_alias(const JsonNode::Member& member);
  void read_parameters(const JsonNode& node);
  /// The index of a value among the parameter's. Throws: SpecError when it is none.
  [[nodiscard]] static std::size_t index_of(const Parameter& parameter, const JsonNode& node);
  [[nodiscard]] Parameter read_parameter(const JsonNode::Member& member);
  void read_specialised(Parameter& parameter, const JsonNode& node);
  [[nodiscard]] std::vector<Value> read_values(const JsonNode& node, const std::string& what);
  void check_macros() const;
  void read_constraints(const JsonNode& node);
  /// Reads the text of defaults.json.
  void read_defaults(const std::string& text);
  void read_lets(const JsonNode& node);
  void read_sources(const JsonNode& node, const std::map<std::string, std::string>& files);
  void read_options(const JsonNode& node);
  [[nodiscard]] OptionSpec read_option(const JsonNode& node) const;
  void check_option(const OptionSpec& option) const;

  void read_buffers(const JsonNode& node);
  /// An element type, a vector of one ("f32x4"), or a struct of so many bytes.
  void read_buffer_type(const JsonNode& node, BufferSpec& buffer, const std::string& what) const;
  [[nodiscard]] BufferSpec read_buffer(const JsonNode::Member& member);
  void read_buffer_role(const ObjectReader& reader, const JsonNode& node, BufferSpec& buffer);
  /// "output", "compare" and "prepared".
  void read_output_role(const ObjectReader& reader, BufferSpec& buffer);
  void check_prepared(const ObjectReader& reader, const JsonNode& node, const BufferSpec& buffer) const;
  void read_fill(const JsonNode& node, BufferSpec& buffer, const std::string& what);
  /// A number, or an expression of sizes; what it comes to is checked for each problem (buffer_fill.hpp).
  [[nodiscard]] Expression read_fill_number(const JsonNode& node, const std::string& what) const;
  void read_buffer_memory(const ObjectReader& reader, BufferSpec& buffer);
  void read_scalars(const JsonNode& node);
  [[nodiscard]] Expression read_scalar_value(const JsonNode& node, const ScalarSpec& scalar) const;
  [[nodiscard]] std::vector<StepSpec> read_steps(const JsonNode& node, const std::string& what);
  /// "setup" and "check", behind the launches, and whether every buffer is written and read by those that it is for.
  void read_untimed(const ObjectReader& top);
  void check_untimed(BufferSpec& buffer) const;
  /// What steps of a kind may name, set and be.
  void check_use(const BufferSpec& buffer, const SourcePosition& position) const;
  void check_memset(const BufferSpec& buffer, const SourcePosition& position) const;
  void check_dependent(const SourcePosition& position) const;
  [[nodiscard]] MemsetSpec read_memset(const JsonNode& node);
  [[nodiscard]] LaunchSpec read_launch(const JsonNode& node);
  void read_kernel_name(const JsonNode& node, LaunchSpec& launch);
  [[nodiscard]] TemplateArgument read_template_argument(const std::string& text, const SourcePosition& position);
  /// Adds to the bytes of expressions. Throws: SpecError when they are too many.
  void count_expression(std::size_t bytes, const SourcePosition& position) const;
  void read_launch_extras(const ObjectReader& reader, LaunchSpec& launch);
  void read_cluster(const JsonNode& node, LaunchSpec& launch);
  [[nodiscard]] Repeat read_repeat(const JsonNode& node);
  [[nodiscard]] ArgumentSpec read_argument(const JsonNode& node);
  void read_reference(const JsonNode& node, const std::map<std::string, std::string>& files);
  /// Files that outputs must be.
  void read_expected(const JsonNode& node, const JsonNode& reference);
  void read_tolerances(const JsonNode& node);
  void read_defined(const ObjectReader& reader, const std::map<std::string, std::string>& files);
  /// `launches`: null: it has none.
  void check_left(const JsonNode& node, const JsonNode* launches) const;
  void read_work(const JsonNode& node);
  void read_metrics(const ObjectReader& top);
  void read_objective(const JsonNode& node);

  [[nodiscard]] Expression read_expression(const JsonNode& node, const std::string& what, const Visibility& visibility) const;
  [[nodiscard]] std::vector<Expression> read_dimensions(const JsonNode& node, const std::string& what) const;
  [[nodiscard]] std::string read_type(const JsonNode& node, const std::string& what) const;
  [[nodiscard]] const BufferSpec* find_buffer(std::string_view name) const;

  enum class StepsOf { Launches, Setup, Check, Reference };

  const JsonNode& root_;
  const std::map<std::string, std::string>* files_ = nullptr;  ///< those of `run`
  KernelTemplate kernel_;
  StepsOf steps_of_ = StepsOf::Launches;      ///< what read_steps reads
  bool numbers_choices_ = false;              ///< of a reference: types and choices may be arguments, as their numbers
  mutable std::size_t expression_bytes_ = 0;  ///< read so far
  std::size_t list_work_ = 0;                 ///< of texts that list values; how many those are
  std::size_t listed_ = 0;
  mutable std::size_t option_work_ = 0;
  NameTable names_;
};

/// Whether it is a path inside the template's folder, without control characters: a line break in it would end the #line that names it, and
/// begin a directive of its own.
[[nodiscard]] bool is_safe_path(const std::string& file);

/// Throws: SpecError when a zero byte is in the file's name: it would end it for the operating system, and in messages.
void require_no_zero_byte(const std::string& file, const std::string& what, const SourcePosition& position);

/// The position in `words` of the string that `node` holds. Throws: SpecError listing them.
[[nodiscard]] std::size_t read_word(const JsonNode& node, const std::string& what, const std::vector<std::string>& words);

/// Strings of a list: not empty, no duplicates. Throws: SpecError.
[[nodiscard]] std::vector<std::string> read_words(const JsonNode& node, const std::string& what);

namespace visibility {
inline constexpr unsigned kChoices =
    static_cast<unsigned>(NameKind::TypeAxis) | static_cast<unsigned>(NameKind::ChoiceAxis) | static_cast<unsigned>(NameKind::TypeAlias);
inline constexpr unsigned kParameters = static_cast<unsigned>(NameKind::SourceParameter) | static_cast<unsigned>(NameKind::LaunchParameter);
inline constexpr Visibility kConstraint{"a constraint", kChoices | kParameters | static_cast<unsigned>(NameKind::Size),
                                        "types, choices, sizes, parameters and device.*"};
inline constexpr Visibility kLet{"a let", kConstraint.kinds | static_cast<unsigned>(NameKind::Let),
                                 "types, choices, sizes, parameters, device.* and earlier lets"};
inline constexpr Visibility kGeometry{"this expression", kLet.kinds | static_cast<unsigned>(NameKind::Index),
                                      "types, choices, sizes, parameters, device.*, lets and the launch's loop index"};
inline constexpr Visibility kMetric{"a metric",
                                    kLet.kinds | static_cast<unsigned>(NameKind::Measured) | static_cast<unsigned>(NameKind::Metric),
                                    "types, choices, sizes, parameters, device.*, lets, time_us, power_w, energy_mj and earlier metrics"};
inline constexpr Visibility kScalar{"a scalar's value", kChoices | static_cast<unsigned>(NameKind::Size), "types, choices and sizes",
                                    false};
inline constexpr Visibility kSource{"a source's condition", kChoices | static_cast<unsigned>(NameKind::SourceParameter),
                                    "types, choices, parameters that are not launch-bound, and device.*"};
inline constexpr Visibility kKernelName{"an argument of a kernel template",
                                        static_cast<unsigned>(NameKind::TypeAxis) | static_cast<unsigned>(NameKind::TypeAlias) |
                                            static_cast<unsigned>(NameKind::SourceParameter),
                                        "types and parameters that are not launch-bound", false};
inline constexpr Visibility kOptionCondition{"an option's condition", kSource.kinds, kSource.allowed};
inline constexpr Visibility kOption{"an option", kSource.kinds, "types, choices and parameters that are not launch-bound", false};
}  // namespace visibility

}  // namespace attune::spec
