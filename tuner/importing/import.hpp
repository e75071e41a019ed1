#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "tuner/importing/imported_kernel.hpp"

namespace attune::importing {

struct ImportRequest {
  std::filesystem::path file;         ///< T1
  std::filesystem::path kernel_file;  ///< empty: the one that the file names, beside it or in the folder above
  std::string name;                   ///< of the template; empty: the file's
  std::string origin = {};            ///< what comments call the file; empty: its path
};

/// A template's folder, not written yet: `files`, and the arrays of `kernel.data`, which may be large and are copied.
struct ImportedTemplate {
  ImportedKernel kernel;
  std::map<std::string, std::string>
      files;  ///< by their paths in the folder: template.json, the kernel's file byte for byte, what it includes
};

/// Makes a template of a T1 file. It is one that attune reads (spec::KernelTemplate); whether its kernel compiles is not tried.
/// Throws: UsageError (no such file), SpecError with the place in the T1 file, or in the kernel's, and a remedy.
[[nodiscard]] ImportedTemplate import_t1(const ImportRequest& request);

}  // namespace attune::importing
