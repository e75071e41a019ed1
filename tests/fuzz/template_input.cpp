#include "tests/fuzz/template_input.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace attune::test {
namespace {

constexpr std::string_view kMark = "\n@@ ";

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("failed reading " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TemplateInput TemplateInput::read(const std::string& text) {
  TemplateInput input;
  std::string* file = &input.spec;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t mark = std::min(text.find(kMark, at), text.size());
    file->assign(text, at, mark - at);
    if (mark == text.size()) break;
    const std::size_t name = mark + kMark.size();
    const std::size_t end = std::min(text.find('\n', name), text.size());
    file = &input.files[text.substr(name, end - name)];
    at = end + 1;
  }
  return input;
}

std::vector<std::string> template_inputs(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> specs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() == "template.json") specs.push_back(entry.path());
  }
  std::sort(specs.begin(), specs.end());
  if (specs.empty()) throw std::runtime_error("there is no template below " + root.string());
  std::vector<std::string> inputs;
  for (const auto& spec : specs) {
    std::string text = bytes_of(spec);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(spec.parent_path())) {
      if (entry.is_regular_file() && entry.path() != spec) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) text += std::string(kMark) + file.filename().string() + "\n" + bytes_of(file);
    inputs.push_back(std::move(text));
  }
  return inputs;
}

}  // namespace attune::test
