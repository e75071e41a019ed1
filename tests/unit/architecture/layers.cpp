#include "tests/unit/architecture/layers.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace attune::test {

namespace {

constexpr int kMaximumLines = 350;

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

/// What each layer may include besides itself, tuner/base and attune/error.hpp: the arrows of docs/architecture.md. tools/ may include
/// everything; of templates/, templates/include is what device and host code share.
const std::map<std::string, std::set<std::string>>& allowed() {
  static const std::map<std::string, std::set<std::string>> layers = {
      {"tuner/include", {}},
      {"tuner/base", {}},
      {"tuner/spec", {}},
      {"tuner/importing", {"tuner/spec"}},
      {"db", {}},
      {"tuner/gpu", {"tuner/spec"}},
      {"tuner/compile", {"tuner/spec"}},
      {"tuner/space", {"tuner/spec"}},
      {"tuner/measure", {"tuner/spec"}},
      {"tuner/verify", {"tuner/gpu", "tuner/spec", "templates/include"}},
      {"tuner/worker", {"tuner/gpu", "tuner/measure", "tuner/spec", "tuner/verify"}},
      {"tuner/search", {"tuner/space"}},
      {"tuner/session/source", {"tuner/measure", "tuner/compile", "tuner/spec", "tuner/verify"}},
      {"tuner/session/tune", {"tuner/session/source", "db", "tuner/search", "tuner/measure", "tuner/space", "tuner/spec"}},
      {"tuner/session/variants", {"tuner/session/tune", "tuner/session/source", "db", "tuner/measure", "tuner/space", "tuner/spec"}},
      {"tuner/session/fleet",
       {"tuner/session/tune", "tuner/session/source", "db", "tuner/search", "tuner/measure", "tuner/space", "tuner/spec"}},
      {"tuner/simulate", {"tuner/session/source", "tuner/search", "tuner/space", "tuner/spec"}},
      {"tuner/report", {"db", "tuner/search", "tuner/space", "tuner/spec"}},
      {"tuner/runtime", {"db", "tuner/compile", "tuner/gpu", "tuner/spec"}},
  };
  return layers;
}

/// The layers that must not see CUDA: what they do has to work, and to be understood, without it.
bool without_cuda(const std::string& layer) {
  static const std::set<std::string> layers = {
      "db",           "tools",        "tuner/include", "tuner/base",     "tuner/spec",   "tuner/importing", "tuner/space",
      "tuner/search", "tuner/report", "tuner/measure", "tuner/simulate", "tuner/verify", "tuner/worker"};
  return layers.count(layer) != 0 || starts_with(layer, "tuner/session/");
}

/// "tuner/spec" of "tuner/spec/value.hpp", "tuner/session/tune" of "tuner/session/tune/store.hpp", "db" of "db/records.hpp",
/// "templates/include" of "templates/include/attune/bits.cuh" and "templates" of what else is there; nothing for paths outside the tree.
std::optional<std::string> layer_of(const std::string& path) {
  for (const std::string folder : {"db", "tools", "tests", "bench", "examples", "templates/include", "templates"}) {
    if (starts_with(path, folder + "/")) return folder;
  }
  if (!starts_with(path, "tuner/")) return std::nullopt;
  const std::string layer = path.substr(0, path.find('/', 6));
  const std::string room = path.substr(0, path.rfind('/'));
  return allowed().contains(room) ? room : layer;
}

struct Include {
  std::string name;
  bool quoted = false;
};

std::optional<Include> include_of(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return std::nullopt;
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos || line.compare(at, 7, "include") != 0) return std::nullopt;
  const std::size_t begin = line.find_first_of("\"<", at + 7);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = line.find(line[begin] == '<' ? '>' : '"', begin + 1);
  if (end == std::string::npos) return std::nullopt;
  return Include{line.substr(begin + 1, end - begin - 1), line[begin] == '"'};
}

bool is_cuda_header(const std::string& name) {
  return starts_with(name, "cuda") || starts_with(name, "nvrtc") || starts_with(name, "cub/");
}

/// What is wrong with this include in this layer; empty when nothing is.
std::string judge(const std::string& layer, const Include& include) {
  if (is_cuda_header(include.name)) {
    return without_cuda(layer) ? "<" + include.name + ">: " + layer + " knows no CUDA" : "";
  }
  if (!include.quoted) return "";
  if (include.name == "attune/error.hpp" || starts_with(include.name, "attune_build/")) return "";
  if (starts_with(include.name, "attune/")) {
    const bool may = layer == "tuner/runtime" || layer == "tools" || layer == "tuner/include";
    return may ? "" : "\"" + include.name + "\" is for tuner/runtime, tools/ and programs; " + layer + " lies below it";
  }
  const auto target = layer_of(include.name);
  if (!target) return "\"" + include.name + "\" is not written from the repository root";
  if (*target == layer || (*target == "tuner/base" && layer != "tuner/include")) return "";
  if (layer == "tools" ? starts_with(*target, "tuner/") || *target == "db" : allowed().at(layer).count(*target) != 0) return "";
  return "\"" + include.name + "\" points against the arrows: " + layer + " may not know " + *target;
}

/// Which layers a file includes.
void note_arrows(const std::string& path, const std::string& text, std::map<std::string, std::set<std::string>>& used) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto include = include_of(line);
    if (!include || !include->quoted) continue;
    const auto layer = layer_of(path), target = layer_of(include->name);
    if (layer && target) used[*layer].insert(*target);
  }
}

}  // namespace

Breaches check_file(const std::string& path, const std::string& text) {
  Breaches breaches;
  const auto layer = layer_of(path);
  if (!layer || (*layer != "tools" && allowed().count(*layer) == 0)) {
    return {path + ":1: no layer is known for this folder; add it to tests/unit/architecture/layers.cpp"};
  }
  std::istringstream lines(text);
  std::string line;
  int number = 0;
  while (std::getline(lines, line)) {
    ++number;
    const auto include = include_of(line);
    if (!include) continue;
    const std::string wrong = judge(*layer, *include);
    if (!wrong.empty()) breaches.push_back(path + ":" + std::to_string(number) + ": " + wrong);
  }
  if (number > kMaximumLines) {
    breaches.push_back(path + ":" + std::to_string(number) + ": over " + std::to_string(kMaximumLines) + " lines; split it");
  }
  return breaches;
}

Breaches check_tree(const std::filesystem::path& root) {
  std::vector<std::string> paths;
  for (const char* folder : {"tuner", "db", "tools"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".cu" && extension != ".cuh" && extension != ".js") continue;
      paths.push_back(std::filesystem::relative(entry.path(), root).generic_string());
    }
  }
  std::sort(paths.begin(), paths.end());
  Breaches breaches;
  std::map<std::string, std::set<std::string>> used;
  for (const std::string& path : paths) {
    std::ifstream file(root / path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const Breaches found = check_file(path, text.str());
    breaches.insert(breaches.end(), found.begin(), found.end());
    note_arrows(path, text.str(), used);
  }
  for (const auto& [layer, targets] : allowed()) {
    for (const std::string& target : targets) {
      if (!used[layer].contains(target))
        breaches.push_back("nothing in " + layer + " includes " + target + ": take this arrow out of tests/unit/architecture/layers.cpp");
    }
  }
  return breaches;
}

}  // namespace attune::test
