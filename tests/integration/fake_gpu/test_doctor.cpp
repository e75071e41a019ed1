// attune doctor: what it finds fine and wrong, on machines that lack one thing each.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/skip.hpp"
#include "tuner/base/json.hpp"

namespace test_doctor {

using namespace attune;
using nlohmann::json;

namespace {

struct Patient : test::FakeGpu {
  Patient() { settings = {{"devices", json::array({json::object()})}}; }

  [[nodiscard]] json told(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"doctor", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = attune(words);
    code = result.exit_code;
    INFO(result.out);
    INFO(result.err);
    return base::parse_json(result.out);
  }

  /// A command of this name, found before the machine's own.
  void stand_in(const std::string& name, const std::string& body) {
    const auto bin = folder / "bin";
    std::filesystem::create_directories(bin);
    std::ofstream(bin / name) << "#!/bin/sh\n" << body;
    ::chmod((bin / name).c_str(), 0755);
    environment["PATH"] = bin.string() + ":/usr/bin:/bin";
  }

  void tune() { REQUIRE(attune(tune_words("none", {"--budget", "3", "--strategy", "random"})).exit_code == 0); }

  int code = 0;
};

/// The texts of the findings of one area and state: "driver", "wrong".
std::string texts_of(const json& told, const std::string& area, const std::string& state) {
  std::string texts;
  for (const auto& finding : told["findings"]) {
    if (finding["area"] == area && finding["state"] == state) texts += finding["text"].get<std::string>() + "\n";
  }
  return texts;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE_FIXTURE(Patient, "on a machine with a driver, NVRTC and no database yet nothing is wrong, and no database is made") {
  const json found = told();
  CHECK(code == 0);
  CHECK(found["wrong"] == 0);
  for (const char* area : {"driver", "GPU 0", "compiler", "database", "folders", "limits"}) {
    CAPTURE(area);
    CHECK_FALSE(texts_of(found, area, "fine").empty());
  }
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(Patient,
                  "a driver and an NVRTC that are not there are wrong, each says what mends it, and the rest is looked at all the same") {
  settings["devices"] = json::array();
  environment["ATTUNE_NVRTC"] = (folder / "libnvrtc.so").string();
  const json found = told();
  CHECK(code == 4);
  CHECK(found["wrong"] == 2);
  for (const auto& finding : found["findings"]) {
    if (finding["state"] == "wrong") CHECK_FALSE(finding["mend"].get<std::string>().empty());
  }
  CHECK_FALSE(texts_of(found, "driver", "wrong").empty());
  CHECK_FALSE(texts_of(found, "compiler", "wrong").empty());
  CHECK_FALSE(texts_of(found, "limits", "fine").empty());
}

TEST_CASE_FIXTURE(Patient, "NVRTC's builtins are those that lie beside it, in whatever folder that is") {
  namespace fs = std::filesystem;
  const std::string told_at = texts_of(told(), "compiler", "fine");
  const std::size_t at = told_at.find(" at /") + 4;
  const fs::path library = told_at.substr(at, told_at.find('\n', at) - at);
  REQUIRE(fs::exists(library));
  fs::path builtins;
  for (const auto& entry : fs::directory_iterator(library.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libnvrtc-builtins.so.") && name.find('.', 21) != std::string::npos) builtins = entry.path();
  }
  REQUIRE_FALSE(builtins.empty());
  for (const auto& file : {library, builtins}) fs::copy_file(file, folder / file.filename().string());
  environment["ATTUNE_NVRTC"] = (folder / library.filename().string()).string();
  environment["LD_DEBUG"] = "files";  // the loader names every library that it initialises, in a file for each process
  environment["LD_DEBUG_OUTPUT"] = (folder / "loader").string();
  static_cast<void>(told());
  CHECK(code == 0);
  const std::string beside = "calling init: " + (folder / builtins.filename().string()).string();
  int from_beside = 0, all = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (!entry.path().filename().string().starts_with("loader.")) continue;
    const std::string text = bytes_of(entry.path().string());
    for (std::size_t line = text.find("calling init: "); line != std::string::npos; line = text.find("calling init: ", line + 1)) {
      if (!text.substr(line, text.find('\n', line) - line).ends_with("/" + builtins.filename().string())) continue;
      ++all;
      from_beside += text.compare(line, beside.size(), beside) == 0 ? 1 : 0;
    }
  }
  CHECK(all > 0);
  CHECK(from_beside == all);
}

TEST_CASE_FIXTURE(Patient, "what nvidia-smi tells of a device is noted: no persistence, other programs; memory errors are wrong") {
  const std::string uuid = base::parse_json(attune({"devices", "--json"}).out)["here"][0]["uuid"];
  stand_in("nvidia-smi", "case \"$1\" in\n  --query-gpu=*) echo '" + uuid + ", Disabled, Disabled, Default, 1980, 3' ;;\n" +
                             "  --query-compute-apps=*) echo '" + uuid + ", 4711, /home/somebody/train' ;;\nesac\n");
  const json found = told();
  CHECK(code == 4);
  const std::string notes = texts_of(found, "GPU 0", "note");
  CAPTURE(notes);
  CHECK(has(notes, "persistence mode is off"));
  CHECK(has(notes, "4711 (train)"));
  CHECK(has(texts_of(found, "GPU 0", "wrong"), "3 uncorrected memory errors"));
}

TEST_CASE_FIXTURE(Patient, "an nvidia-smi that fails or prints nonsense changes no verdict") {
  for (const char* body : {"exit 9\n", "echo 'No devices were found'\n", "head -c 3000000 /dev/zero | tr '\\0' ','\n"}) {
    CAPTURE(body);
    stand_in("nvidia-smi", body);
    const json found = told();
    CHECK(code == 0);
    CHECK(has(texts_of(found, "driver", "note"), "nvidia-smi tells nothing"));
  }
}

TEST_CASE_FIXTURE(Patient, "a tuned database is sound, and told how much of it is current; of an older driver it waits for renewal") {
  tune();
  environment["ATTUNE_TEMPLATES"] = ATTUNE_SOURCE_DIR "/tests/support/fake_templates";
  CHECK(has(texts_of(told({"--db", database}), "database", "fine"), "1 results: 1 problems of this kind of GPU are current"));
  settings["driver_version"] = 13010;
  const json found = told({"--db", database});
  CHECK(code == 0);
  CHECK(has(texts_of(found, "database", "note"), "1 problems are of another template, driver or compiler"));
}

TEST_CASE_FIXTURE(Patient, "a damaged database is wrong, and stays as it is") {
  tune();
  std::string bytes = bytes_of(database);
  REQUIRE(bytes.size() > 8192);
  for (std::size_t i = 4096; i < bytes.size(); i += 97) bytes[i] = static_cast<char>(~bytes[i]);
  std::ofstream(database, std::ios::binary) << bytes;
  const json found = told({"--db", database});
  CHECK(code == 4);
  CHECK_FALSE(texts_of(found, "database", "wrong").empty());
  CHECK(bytes_of(database) == bytes);
}

TEST_CASE_FIXTURE(Patient, "results that are dated later than this machine's clock are noted") {
  if (test::kSanitized) return test::skip("a sanitizer's library has to be the first that is loaded");
  environment["LD_PRELOAD"] = ATTUNE_SHIFTED_CLOCK;
  environment["ATTUNE_TEST_CLOCK"] = "63072000";
  tune();
  CHECK_FALSE(has(texts_of(told({"--db", database}), "database", "note"), "later than"));
  environment.erase("LD_PRELOAD");
  CHECK(has(texts_of(told({"--db", database}), "database", "note"), "later than this machine's clock"));
  CHECK(code == 0);
}

TEST_CASE_FIXTURE(Patient, "shared memory is told with its size, and a machine without /proc is examined like any other") {
  CHECK(has(texts_of(told(), "folders", "fine") + texts_of(told(), "folders", "note"), "shared memory"));
  const std::vector<std::string> without_proc = {"unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"};
  auto words = without_proc;
  words.emplace_back("true");
  if (test::run(words, environment).exit_code != 0) return test::skip("it takes the right to mount");
  words = without_proc;
  for (const char* word : {ATTUNE_EXECUTABLE, "doctor", "--json"}) words.emplace_back(word);
  const auto result = run_program(words);
  CAPTURE(result.err);
  const json found = base::parse_json(result.out);
  CHECK(has(texts_of(found, "folders", "note"), "/proc is not mounted"));
  CHECK_FALSE(texts_of(found, "limits", "fine").empty());
}

// Sanitizers have a shadow memory that is larger than any limit.
TEST_CASE_FIXTURE(Patient, "under a limit of address space that cannot be raised a worker compiles all the same, and the clock is told" *
                               doctest::skip(test::kSanitized)) {
  // As batch systems set it, and less than a worker would ask for.
  const auto result = run_program({"sh", "-c", "ulimit -v 8000000 && exec \"$@\"", "sh", ATTUNE_EXECUTABLE, "doctor", "--json"});
  CAPTURE(result.err);
  const json found = base::parse_json(result.out);
  CHECK(texts_of(found, "compiler", "wrong").empty());
  CHECK(has(texts_of(found, "limits", "note"), "8192000000"));
  CHECK(has(texts_of(found, "time", "fine"), "UTC"));
}

TEST_CASE_FIXTURE(Patient, "a driver that does not start under a limit of address space is mended by more of it, not by another driver" *
                               doctest::skip(test::kSanitized)) {
  environment["LD_LIBRARY_PATH"] = (folder / "nothing").string();
  const auto mend_of_driver = [&](const std::string& limit) {
    const auto result = run_program({"sh", "-c", "ulimit -v " + limit + " && exec \"$@\"", "sh", ATTUNE_EXECUTABLE, "doctor", "--json"});
    const json told = base::parse_json(result.out);
    for (const auto& finding : told["findings"]) {
      if (finding["area"] == "driver" && finding["state"] == "wrong") return finding["mend"].get<std::string>();
    }
    return std::string("nothing is wrong");
  };
  CHECK(has(mend_of_driver("8000000"), "ulimit -v unlimited"));
  CHECK_FALSE(has(mend_of_driver("unlimited"), "ulimit"));
}

TEST_CASE_FIXTURE(Patient, "no modes are to be changed of what belongs to others") {
  // Root may write everything; access(2) asks for the real user.
  std::vector<std::string> words;
  if (::geteuid() == 0) words = {"setpriv", "--reuid=65534", "--clear-groups"};
  for (const char* word : {ATTUNE_EXECUTABLE, "doctor", "--json", "--db", "/etc/passwd"}) words.emplace_back(word);
  const auto result = run_program(words);
  if (result.exit_code == 126 || result.exit_code == 127) return test::skip("the build's folder is closed to that user");
  CAPTURE(result.err);
  CHECK(result.exit_code == 4);
  const json found = base::parse_json(result.out);
  CHECK(has(texts_of(found, "database", "wrong"), "/etc/passwd cannot be written by this user"));
  for (const auto& finding : found["findings"]) CHECK_FALSE(has(finding.dump(), "chmod"));
}

TEST_CASE_FIXTURE(Patient, "a file that is no database, and folders that cannot be used, are wrong") {
  const std::string text = (folder / "text").string();
  std::ofstream(text) << "just text\n";
  environment["XDG_CACHE_HOME"] = "/proc/no/folder";
  const json found = told({"--db", text});
  CHECK(code == 4);
  CHECK_FALSE(texts_of(found, "database", "wrong").empty());
  CHECK(has(texts_of(found, "folders", "wrong"), "/proc/no/folder/attune"));
  CHECK(bytes_of(text) == "just text\n");
}

}  // namespace test_doctor
