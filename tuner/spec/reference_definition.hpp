#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// What an input holds that no kernel of the reference fills. Named by data_values_names, in this order.
enum class DataValues {
  SmallIntegers,  ///< which add up exactly in any order
  Random,         ///< floating types between -1 and 1, integers of any bits
  Uniform,        ///< the same, but integers small
  Zeros,
  Ones,
  AllBits,  ///< every bit is set: NaN of floating types
};

/// As reference.json calls them: "small_integers", ...
[[nodiscard]] const std::vector<std::string>& data_values_names();

/// The data of one verification.
struct DataSetSpec {
  std::string name;
  DataValues values = DataValues::Uniform;
  std::string alters;                   ///< the data set that it differs from in a few elements; empty: none, its inputs are filled
  bool asked_only = false;              ///< whether the asked case alone is verified with it
  std::optional<Expression> condition;  ///< of the problems that have it; none: all
  std::string when;                     ///< ends a sentence about what is wrong: "when every sample is of the first bin"
};

/// A kernel that attune launches on as many threads as it likes, behind arguments of attune's own (attune/reference.cuh).
struct ReferenceKernel {
  LaunchSpec launch;  ///< its geometry means nothing
};

/// How elements are planted into the data sets, one after the other.
struct PlantSpec {
  std::string into;
  ReferenceKernel kernel;
  std::optional<Expression> row;          ///< elements of a row of the buffer, each with edges of its own; none: it is one row
  std::map<std::string, bool> data_sets;  ///< name, and whether what was planted stays: from the last position to the first
};

/// An input or output of a reference, found in the template by its order.
struct RoleSpec {
  std::string name;
  std::string type;                                       ///< an axis of the reference or an element type; empty: any
  std::optional<Expression> count;                        ///< of its elements; none: any
  std::pair<std::string, std::string> only_for;           ///< the template has the buffer if its axis offers that value; empty: always
  std::optional<Expression> condition;                    ///< whether it is read for a problem
  std::optional<ReferenceKernel> fill;                    ///< inputs only; launch.condition: else it holds the DataValues
  std::vector<Expression> guards;                         ///< inputs only: two elements that stand around it; none: its type's extremes
  std::vector<std::pair<std::string, Expression>> shape;  ///< outputs only: what an index is called, the outermost first
  bool values = false;                                    ///< outputs only: what is expected are values of its type, not intervals
};

/// A scalar of the template, which lets and arguments know as a number.
struct ReferenceScalar {
  std::string name;
  std::pair<std::string, std::string> only_for;  ///< as of RoleSpec
};

/// What is right: reference.json and its source. docs/references.md is its manual.
struct ReferenceDefinition {
  std::string name;
  bool compiled_once = false;  ///< its code gets types and choices as numbers and serves every problem; else they are macros
  /// The reference as a template without parameters: its axes, lets, sources, buffers (inputs, outputs, workspaces) and the launches
  /// that compute what is expected. Behind its own axes stand what attune adds: `data`, `group`, and of every input and output X
  /// `X_type` and `X_count`.
  KernelTemplate form;
  std::size_t own_axes = 0;
  std::vector<RoleSpec> inputs;
  std::vector<RoleSpec> outputs;
  std::vector<ReferenceScalar> scalars;
  /// Workspaces whose contents planting and altered data sets read. Behind each stands another, base_name, that is the same one of the
  /// data set that is altered.
  std::vector<std::string> kept;
  std::vector<DataSetSpec> data_sets;
  std::optional<Expression> groups;  ///< kinds of data that a problem is timed on, one for each group of windows; none: 1
  std::optional<PlantSpec> plant;
  std::string altered;  ///< the input whose elements alter changes
  std::optional<ReferenceKernel> alter;
  std::map<std::string, std::string> alone;  ///< sizes that are no factor of the number of elements, and what a case of another is called
  std::map<std::string, std::vector<std::string>> leaves;  ///< values of axes that it does not know
  struct Refusal {
    Expression condition;
    std::string needs;
  };
  std::vector<Refusal> refuses;

  /// The position of a data set in `data_sets`. Requires: it is there.
  [[nodiscard]] std::size_t data_set(const std::string& name) const;

  /// `files`: file names to bytes, as KernelTemplate::parse takes them; `path` is what errors name.
  /// Throws: SpecError with file, line, column and remedy.
  [[nodiscard]] static ReferenceDefinition parse(const std::string& text, const std::map<std::string, std::string>& files,
                                                 const std::string& path);
};

/// What the workspace of the data set that is altered is called.
[[nodiscard]] inline std::string base_name(const std::string& workspace) { return workspace + ".base"; }

/// The name of its file.
inline constexpr const char* kReferenceFile = "reference.json";

/// A reference that is built in, read once. Throws: SpecError at `position` for a name that is not known.
[[nodiscard]] std::shared_ptr<const ReferenceDefinition> shipped_reference(const std::string& name, const SourcePosition& position);
[[nodiscard]] std::vector<std::string> shipped_reference_names();

}  // namespace attune::spec
