#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attune::test {

/// A template's folder as one text, so that it can be mutated as one: each file behind a line "@@ name". What stands before the
/// first such line is template.json.
struct TemplateInput {
  std::string spec;
  std::map<std::string, std::string> files;

  [[nodiscard]] static TemplateInput read(const std::string& text);
};

/// The folders of templates below `root`, each as one text.
[[nodiscard]] std::vector<std::string> template_inputs(const std::filesystem::path& root);

}  // namespace attune::test
