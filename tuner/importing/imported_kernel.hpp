#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tuner/spec/data_file.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::importing {

/// One line about the import: what became of something that the file says.
struct Note {
  enum class Kind {
    Taken,    ///< the template says the same
    Changed,  ///< the template says it in another way, or nearly
    Guessed,  ///< the template says what the source suggests
    LeftOut,  ///< the template does not say it
    Decide,   ///< somebody has to decide; it is a comment of template.json too
  } kind = Kind::Taken;
  std::string about;  ///< "\"Budget\"", "the argument 'out'"
  std::string text;   ///< one sentence without a full stop
};

/// "1 condition", "2 conditions".
[[nodiscard]] inline std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// A size of the problem. A T1 file describes one problem, so that it has one value there.
struct ImportedSize {
  std::string name;
  std::int64_t value = 1;
  std::int64_t most = 0;    ///< what it may be from `value` on; 0: nothing else
  std::string remark = {};  ///< a comment of template.json
};

/// What a kernel takes, in the kernel's order. Every expression is of attune's language.
struct ImportedArgument {
  enum class Role {
    Input,
    Output,
    Both,           ///< an output that holds data before the call
    Scalar,         ///< passed by value
    Size,           ///< the size of this name, passed by value
    Computed,       ///< a number that depends on parameters: a let, passed by value
    DynamicShared,  ///< no argument: bytes of dynamic shared memory
  } role = Role::Input;
  std::string name;
  spec::ElementType type = spec::ElementType::F32;
  int struct_bytes = 0;                   ///< of a struct of the source's own, which begins at multiples of `align_bytes`; 0: it is `type`
  std::string type_axis = {};             ///< the type axis that the type is; empty: it is always `type`
  std::string count = "1";                ///< elements; of DynamicShared bytes
  std::string value;                      ///< Scalar: a number or an expression; Computed: an expression
  spec::Fill fill = spec::Fill::Uniform;  ///< Uniform, Zeros, Ones, Index or Constant
  std::string fill_value = {};            ///< Constant: the number
  std::string fill_file = {};             ///< the file of the template's folder that fills it instead; empty: none
  bool constant_memory = false;           ///< the __constant__ variable of this name, which is no argument
  bool perhaps_passed = false;            ///< of one in constant memory: the kernel may take it as well, or instead (fit_to_source)
  int align_bytes = 0;
  std::string remark;  ///< a comment of template.json
};

[[nodiscard]] inline bool is_written(const ImportedArgument& argument) {
  return argument.role == ImportedArgument::Role::Output || argument.role == ImportedArgument::Role::Both;
}

/// Whether it stands in the kernel's list.
[[nodiscard]] inline bool is_passed(const ImportedArgument& argument) {
  return argument.role != ImportedArgument::Role::DynamicShared && !argument.constant_memory;
}

/// How far off an output may be, in the words of template.json.
struct ImportedTolerance {
  double relative = 0, absolute = 0;
  [[nodiscard]] bool operator==(const ImportedTolerance&) const = default;
};

/// What results are compared with: a launch of a plain kernel, or files.
struct ImportedReference {
  std::string kernel;  ///< with its template arguments, as a launch writes it; empty: there is none
  std::vector<std::string> grid, block;
  std::vector<ImportedArgument> arguments;
  std::string terms = {}, terms_remark = {};        ///< how many an element sums, and a comment of template.json; empty: few
  std::map<std::string, std::string> outputs = {};  ///< files of the template's folder that these outputs must be; empty: there are none
  std::map<std::string, ImportedTolerance> tolerances = {};  ///< by outputs; of others attune's own
  // Of a kernel that a file names, until fit_reference has looked at the source.
  std::vector<std::string> passes = {};      ///< arguments in its order; empty: those of the tuned kernel
  std::vector<std::string> at_default = {};  ///< parameters that it may use, since it wants their defaults, which it is compiled with
};

/// An array that the template's folder gets beside its sources.
struct ImportedData {
  std::filesystem::path from;  ///< it is copied as it is
  spec::DataFile file;         ///< what is in it
};

/// A kernel to be tuned as a file of another tuner describes it, whichever tuner that is. Expressions are of attune's language and have
/// been read by its parser.
struct ImportedKernel {
  std::string name;                     ///< of the template
  std::string origin;                   ///< the file, for comments
  std::string kernel;                   ///< the function, with its namespaces
  std::string template_arguments = {};  ///< of a kernel template, as a launch writes them; empty: none
  spec::SourcePosition kernel_position;
  std::string kernel_file;  ///< as the file names it
  spec::SourcePosition kernel_file_position;
  std::vector<spec::Parameter> parameters;
  std::vector<std::string> without_default = {};  ///< parameters for which the file states no default: the first value is it
  std::vector<std::string> constraints;
  std::vector<ImportedSize> sizes;
  std::vector<std::pair<std::string, std::string>> lets;
  std::vector<ImportedArgument> arguments;
  std::vector<std::string> grid, block;  ///< one to three each
  std::string shared_bytes;              ///< empty: none
  std::vector<std::string> options;
  ImportedReference reference;
  std::map<std::string, ImportedData> data = {};  ///< by their paths in the template's folder
  bool by_kernel_tuner = false;                   ///< it may count on what Kernel Tuner defines besides the parameters
  std::string origin_text;                        ///< the first comment of template.json; empty: that of a T1 file
  std::map<std::string, std::string> remarks;     ///< comments of template.json: of parameters by name, "launch" and "reference"
  std::string before;                             ///< what stands before the kernel's file, in a file of its own; empty: nothing
  std::vector<std::pair<std::string, std::vector<std::string>>> types;  ///< type axes and the element types that each can be
  bool has_macros = true;  ///< parameters are macros of their own names; else attune's prefix keeps them apart from the source's names
  std::vector<Note> notes;
};

}  // namespace attune::importing
