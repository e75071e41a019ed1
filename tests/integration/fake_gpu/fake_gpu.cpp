#include "tests/integration/fake_gpu/fake_gpu.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/private_path.hpp"

namespace attune::test {
namespace {

/// In the build's folder, where attune would use one there; else one of this program's own.
const std::string& cache_folder() {
  static const TempFolder own;
  static const std::string folder = [] {
    std::error_code error;
    std::filesystem::create_directory(ATTUNE_TEST_CACHE, error);
    std::filesystem::permissions(ATTUNE_TEST_CACHE, std::filesystem::perms::owner_all, error);
    return base::why_not_trusted(ATTUNE_TEST_CACHE).empty() ? std::string(ATTUNE_TEST_CACHE) : own.path().string();
  }();
  return folder;
}

std::string library_path() {
  const char* const before = std::getenv("LD_LIBRARY_PATH");  // NVRTC may be found there
  return std::string(ATTUNE_FAKE_CUDA_FOLDER) + (before == nullptr ? "" : std::string(":") + before);
}

}  // namespace

FakeGpu::FakeGpu() : database((folder / "tune.db").string()), settings(nlohmann::json::object()) {
  environment = {{"HOME", (folder / "home").string()},
                 {"XDG_DATA_HOME", (folder / "data").string()},
                 {"XDG_CACHE_HOME", cache_folder()},
                 {"ATTUNE_DB", database},
                 {"ATTUNE_TEMPLATES", ""},
                 {"ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").string()},
                 {"LD_LIBRARY_PATH", library_path()}};
}

std::map<std::string, std::string> FakeGpu::full_environment() const {
  auto full = environment;
  full["ATTUNE_FAKE_CUDA"] = base::dump_json(settings);
  return full;
}

CommandResult FakeGpu::attune(std::vector<std::string> words) const {
  words.insert(words.begin(), ATTUNE_EXECUTABLE);
  return run(words, full_environment());
}

int FakeGpu::start(std::vector<std::string> words) const {
  words.insert(words.begin(), ATTUNE_EXECUTABLE);
  return test::start(words, full_environment(), output());
}

CommandResult FakeGpu::run_program(const std::vector<std::string>& words) const { return run(words, full_environment()); }

int FakeGpu::start_program(const std::vector<std::string>& words, const std::string& output_file) const {
  return test::start(words, full_environment(), output_file);
}

std::string FakeGpu::output() const { return (folder / "output").string(); }

std::vector<std::string> FakeGpu::tune_words(const std::string& faults, const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"tune",
                                    ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic",
                                    "--T",
                                    "i32",
                                    "--faults",
                                    faults,
                                    "--size",
                                    "1000",
                                    "--compile-workers",
                                    "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<db::RecordRow> FakeGpu::records() const {
  try {
    return db::Database::open(database, db::OpenMode::ReadOnly).records({});
  } catch (const DatabaseError&) {
    return {};  // not created yet
  }
}

bool FakeGpu::on_device() const {
  try {
    return !db::Database::open(database, db::OpenMode::ReadOnly).in_flight().empty();
  } catch (const DatabaseError&) {
    return false;
  }
}

std::vector<int> FakeGpu::processes(const std::string& word) const { return processes_with(folder.path().string(), word); }

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) {
    auto line = base::try_parse_json(text.substr(start, end - start));
    if (!line.is_discarded()) lines.push_back(std::move(line));
  }
  return lines;
}

nlohmann::json configuration_of(const db::RecordRow& record) { return base::parse_json(record.configuration); }

std::string detail_of(const db::RecordRow& record) { return base::parse_json(record.detail_json).value("detail", ""); }

}  // namespace attune::test
