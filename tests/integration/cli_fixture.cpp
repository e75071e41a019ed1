#include "tests/integration/cli_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tuner/base/json.hpp"

namespace attune::test {

Cli::Cli()
    : database((folder / "tune.db").string()),
      kernel((folder / "double_it").string()),
      recording((folder / "synthetic.json.zst").string()) {
  environment = {{"HOME", (folder / "home").string()},
                 {"XDG_DATA_HOME", (folder / "data").string()},
                 {"XDG_CACHE_HOME", (folder / "cache").string()},
                 {"ATTUNE_DB", database},
                 {"ATTUNE_TEMPLATES", ""},
                 {"ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").string()}};
  std::filesystem::create_directories(kernel);
  write("double_it/template.json", small_template_json());
  write("double_it/double_it.cu", small_template_source());
  const auto made = synthetic_recording(small_template(), {small_problem(1000), small_problem(100000)},
                                        [](const std::string&, std::uint64_t i) { return 5.0 + static_cast<double>((i * 7) % 11); });
  made.save(recording);
  space_size = made.problems[0].space_size;
}

CommandResult Cli::attune(std::vector<std::string> words) const { return attune(std::move(words), {}); }

CommandResult Cli::attune(std::vector<std::string> words, std::map<std::string, std::string> more) const {
  words.insert(words.begin(), ATTUNE_EXECUTABLE);
  more.insert(environment.begin(), environment.end());
  return run(words, more);
}

std::vector<std::string> Cli::tune_words(const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"tune", kernel, "--T", "f32", "--size", "1000,100000", "--replay", recording};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void Cli::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories((folder.path() / name).parent_path());
  std::ofstream(folder / name, std::ios::binary) << text;
}

std::string Cli::read(const std::string& name) const {
  std::ifstream file(folder / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) {
    lines.push_back(base::parse_json(text.substr(start, end - start)));
  }
  return lines;
}

}  // namespace attune::test
