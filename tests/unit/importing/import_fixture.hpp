#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "attune/error.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/t1_files.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/importing/import.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::importing::test {

using attune::test::replaced;

/// A T1 file with its kernel in a folder of their own.
struct T1Folder {
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  [[nodiscard]] ImportedTemplate import(const std::string& text, const std::string& name = "") const {
    write("t1.json", text);
    return import_t1({folder / "t1.json", {}, name});
  }

  attune::test::TempFolder folder;
};

/// A folder that has the kernel sources of all four dialects.
struct Dialects : T1Folder {
  Dialects() {
    write("scale.cu", attune::test::kSchemaSource);
    write("blur.cu", attune::test::kKernelTunerSource);
    write("sum.cu", attune::test::kKttSource);
    write("combine.cu", attune::test::kBatSource);
    write("operators.cuh", attune::test::kBatHeader);
  }
};

inline spec::KernelTemplate parsed(const ImportedTemplate& made) {
  auto sources = made.files;
  sources.erase("template.json");
  for (const auto& [name, data] : made.kernel.data) sources.emplace(name, spec::to_text(data.file));
  return spec::KernelTemplate::parse(made.files.at("template.json"), sources, "made/template.json");
}

/// The only problem that an imported template has.
inline spec::Problem problem_of(const spec::KernelTemplate& kernel) {
  spec::Problem problem;
  for (const auto& axis : kernel.problem) problem.sizes[axis.name] = axis.min;
  return problem;
}

inline std::uint64_t space_size(const ImportedTemplate& made) {
  const auto kernel = parsed(made);
  return space::SearchSpace::build(kernel, problem_of(kernel), spec::DeviceInfo::of_architecture("sm_90")).size();
}

/// Whether a note about this says that.
inline bool has_note(const ImportedTemplate& made, Note::Kind kind, const std::string& about, const std::string& text) {
  for (const Note& note : made.kernel.notes) {
    if (note.kind == kind && note.about.find(about) != std::string::npos && note.text.find(text) != std::string::npos) return true;
  }
  return false;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace attune::importing::test
