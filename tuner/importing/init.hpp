#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/importing/element_layout.hpp"
#include "tuner/importing/import.hpp"

namespace attune::importing {

/// A guess, to be confirmed by somebody.
struct Question {
  std::string about;     ///< "the buffer 'x'"
  std::string text;      ///< "its number of elements"
  std::string proposed;  ///< the guess
  /// What is wrong with an answer; empty: nothing.
  std::function<std::string(const std::string&)> fault;
};
/// The answer, which is the proposed one or one without a fault.
using Ask = std::function<std::string(const Question&)>;

/// A struct of a source, of which somebody asks.
struct StructQuestion {
  const std::map<std::string, std::string>& files;  ///< the source and what it includes
  const std::string& file;                          ///< the source among them
  const std::vector<std::string>& namespaces;       ///< around the kernel that names it, the outermost first
  const std::string& type;
};
/// Its bytes and what its address is a multiple of, which only a compiler knows; nothing where there is no such type.
using StructLayout = std::function<std::optional<ElementLayout>(const StructQuestion&)>;

struct InitRequest {
  std::filesystem::path file;       ///< a CUDA source
  std::string kernel;               ///< empty: the only one in it
  Ask ask;                          ///< empty: every guess stands
  StructLayout struct_layout = {};  ///< empty: structs are refused
  std::string reference = {};       ///< a plain kernel of the file that computes the same; empty: results are not checked
};

struct InitialTemplate {
  ImportedTemplate made;
  std::string shared_bytes;  ///< static shared memory of a block, an expression of parameters; empty: not known
};

/// Makes a template of a CUDA source. It is one that attune reads; whether its kernel compiles is the caller's to try (settle).
/// Throws: UsageError (no such file, several kernels, nothing to tune), SpecError with the place in the source and a remedy.
[[nodiscard]] InitialTemplate init_template(const InitRequest& request);

/// Compares what the source says of shared memory with what the compiler used for the default configuration; where they differ, the
/// constraint goes.
void settle_shared_bytes(InitialTemplate& initial, int compiled_bytes);

/// Buffers in constant memory are variables of the compiled code, by their own names: one in a namespace has another there. Those that it
/// lacks go, and are to decide.
void settle_constants(InitialTemplate& initial, const std::string& cubin);

}  // namespace attune::importing
