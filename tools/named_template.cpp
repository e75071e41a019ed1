#include "tools/named_template.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "attune/error.hpp"

namespace attune::tools {
namespace {

/// Whether the library, which knows no such name, would know the word as a path.
bool is_folder_here(const std::string& word) {
  std::error_code ignored;  // what cannot be looked into is no folder to name
  return !word.empty() && word.find('/') == std::string::npos &&
         std::filesystem::is_regular_file(std::filesystem::path(word) / "template.json", ignored);
}

}  // namespace

spec::KernelTemplate named_template(const spec::TemplateLibrary& library, const std::string& word) {
  if (word == "." || word == "..") return library.find(word + "/");
  try {
    return library.find(word);
  } catch (const UsageError& error) {
    if (!is_folder_here(word)) throw;
    throw UsageError(fmt::format("{}: ./{} is a folder with one: write ./{}", error.what(), word, word));
  }
}

}  // namespace attune::tools
