#include "tools/version_text.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "attune_build/content_hash.hpp"
#include "attune_build/version.hpp"
#include "db/database.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

std::string version_text() {
  ::unsetenv("ATTUNE_TEMPLATES");  // the shipped ones alone; the process ends after this
  const spec::TemplateLibrary library;
  std::string templates;
  for (const auto& name : library.names())
    templates += fmt::format("{}{} {}", templates.empty() ? "" : ", ", name, library.find(name).content_hash.substr(0, 12));
  return fmt::format("attune {} (content {})\nbuilt with CUDA {}, SQLite {}; database schema {}\ntemplates: {}", build::kVersion,
                     build::kContentHash, build::kToolkit, db::sqlite_version(), db::Database::kSchemaVersion, templates);
}

}  // namespace attune::tools
