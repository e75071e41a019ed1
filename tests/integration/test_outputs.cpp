// What the outputs of commands are written onto: links, pipes, devices, descriptors, databases, full disks.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/conditions.hpp"
#include "tuner/base/json.hpp"

namespace test_outputs {

using namespace attune;
using namespace std::chrono_literals;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A tuned database, and every command that writes an output (`record` needs a GPU: fake_gpu tests it).
struct Outputs : Cli {
  using Words = std::vector<std::string>;
  struct Writer {
    const char* name;
    Words words;
    std::string begin;  ///< of what it writes
  };
  std::string rows = (folder / "rows.jsonl").string();

  Outputs() {
    REQUIRE(attune(tune_words()).exit_code == 0);
    fs::create_directories(kernel);
    write("double_it/ladder.json", R"({"attune_ladder": 1, "rungs": [{"name": "all", "why": "all of it", "where": "waves >= 1"}]})");
  }

  [[nodiscard]] std::vector<Writer> writers(const std::string& output) const {
    return {{"report", {"report", "double_it", "--format", "json", "--output", output}, "{"},
            {"report html", {"report", "double_it", "--output", output}, "<!DOCTYPE html>"},
            {"export", {"db", "export", output}, "{"},
            {"header", {"export", "--header", kernel, "--output", output}, "// The tuned configurations"}};
  }
  [[nodiscard]] test::CommandResult shell(const std::string& command) const { return test::run({"sh", "-c", command}, environment); }
  [[nodiscard]] static std::string quoted(const Words& words) {
    std::string text = "'" ATTUNE_EXECUTABLE "'";
    for (const auto& word : words) text += " '" + word + "'";
    return text;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  }
  [[nodiscard]] bool is_pipe(const std::string& name) const { return fs::is_fifo(fs::symlink_status(folder / name)); }
};

}  // namespace

TEST_CASE_FIXTURE(Outputs, "a link stays a link and its target is written; a pipe and /dev/null stay what they are") {
  fs::create_directory(folder / "far");
  write("far/file", "old");
  fs::create_symlink("far/file", folder / "link");
  fs::create_symlink("far/new", folder / "dangling");
  fs::create_symlink("/dev/null", folder / "null");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const Writer& writer : writers("")) {
    CAPTURE(writer.name);
    const auto onto = [&](const std::string& name) {
      auto words = writer.words;
      words.back() = (folder / name).string();
      return words;
    };
    CHECK(attune(onto("link")).exit_code == 0);
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(read("far/file").starts_with(writer.begin));
    fs::remove(folder / "far/new");
    CHECK(attune(onto("dangling")).exit_code == 0);
    CHECK(fs::is_symlink(folder / "dangling"));
    CHECK(read("far/new").starts_with(writer.begin));
    CHECK(attune(onto("null")).exit_code == 0);
    CHECK(fs::is_symlink(folder / "null"));
    const auto piped = shell("cat '" + (folder / "pipe").string() + "' & " + quoted(onto("pipe")) + " >/dev/null && wait");
    CHECK(piped.exit_code == 0);
    CHECK(piped.out.starts_with(writer.begin));
    CHECK(is_pipe("pipe"));
  }
}

TEST_CASE_FIXTURE(Outputs, "standard output has several names, each gives the bytes of - alone, and nothing else mixes in") {
  for (const Writer& plain : writers("-")) {
    CAPTURE(plain.name);
    const auto straight = attune(plain.words);
    REQUIRE(straight.exit_code == 0);
    for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
      CAPTURE(name);
      auto words = plain.words;
      words.back() = name;
      const auto named = attune(words);
      CHECK(named.exit_code == 0);
      CHECK(named.out.substr(0, 10) == straight.out.substr(0, 10));
      CHECK(named.out.substr(named.out.size() - 10) == straight.out.substr(straight.out.size() - 10));
      CHECK_FALSE(mentions(named.out, "Wrote"));
      // Redirected into a file with something in it: at its place, behind what is there.
      const auto appended = shell("{ echo first; " + quoted(words) + "; echo last; } > '" + (folder / "all").string() + "'");
      CHECK(appended.exit_code == 0);
      CHECK(read("all").starts_with("first\n" + plain.begin));
      CHECK(read("all").ends_with("\nlast\n"));
    }
  }
  const auto third =
      shell(quoted({"report", "double_it", "--format", "json", "--output", "/dev/fd/3"}) + " 3> '" + (folder / "third").string() + "'");
  CHECK(third.exit_code == 0);
  CHECK(base::parse_json(read("third")).is_object());
  CHECK(mentions(third.out, "Wrote /dev/fd/3"));
}

TEST_CASE_FIXTURE(Outputs, "a descriptor that the command was not given is none of its outputs: its own database least of all") {
  const std::string before = read("tune.db");
  for (int fd = 3; fd < 12; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) continue;  // somebody gave it to these tests
    CAPTURE(fd);
    for (const Writer& writer : writers("/dev/fd/" + std::to_string(fd))) {
      const auto refused = attune(writer.words);
      CHECK(refused.exit_code == 2);
      CHECK(mentions(refused.err, "was not given to this program"));
    }
  }
  CHECK(read("tune.db") == before);
  // Given, and the database itself.
  const auto given = shell(quoted({"report", "double_it", "--output", "/dev/fd/3"}) + " 3<> '" + database + "'");
  CHECK(given.exit_code == 2);
  CHECK(mentions(given.err, "it is a database"));
  CHECK(read("tune.db") == before);
}

TEST_CASE_FIXTURE(Outputs, "no output takes the place of a database or of a name that one uses, by any spelling") {
  const std::string before = read("tune.db");
  fs::create_directory_symlink(folder.path(), folder / "way");
  fs::create_directory(folder / "sub");
  fs::create_symlink("tune.db", folder / "link");
  fs::create_symlink("tune.db.lock", folder / "lock_link");
  fs::create_symlink("tune.db-journal", folder / "dangling");
  fs::create_hard_link(database, folder / "hard");
  fs::copy_file(database, folder / "other.db");
  std::vector<std::string> names = {"tune.db", "link", "hard", "other.db", "lock_link", "dangling", "way/tune.db"};
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock", ".suspect", ".salvaged", ".salvaged-wal", ".salvaged.lock"}) {
    names.push_back(std::string("tune.db") + suffix);
    names.push_back(std::string("way/tune.db") + suffix);
    names.push_back(std::string("./sub/../tune.db") + suffix);
  }
  for (const std::string& name : names) {
    auto all = writers((folder / name).string());
    auto words = tune_words();
    words[0] = "ladder";
    words.insert(words.end(), {"--html", (folder / name).string()});
    all.push_back({"ladder", words, ""});
    all.push_back({"record", {"record", kernel, "--T", "f32", "--size", "1000", "--output", (folder / name).string()}, ""});
    for (const Writer& writer : all) {
      CAPTURE(name);
      CAPTURE(writer.name);
      const auto refused = attune(writer.words);
      CAPTURE(refused.err);
      CHECK(refused.exit_code == 2);
      CHECK(mentions(refused.err, "name another file"));
    }
  }
  CHECK(read("tune.db") == before);
  CHECK(read("other.db") == before);
  CHECK_FALSE(fs::exists(database + "-journal"));
}

TEST_CASE_FIXTURE(Outputs, "what cannot be written is exit code 4 for every command, with path and reason, and nothing is left") {
  REQUIRE(attune({"db", "export", rows}).exit_code == 0);
  fs::create_directory(folder / "closed");
  fs::permissions(folder.path(), fs::perms(0777));
  fs::permissions(folder / "closed", fs::perms(0555));
  const std::string old(100, 'o');
  write("old", old);
  const std::size_t before = files();
  for (const char* where : {"/dev/full", "none/file", "loop", "closed/file"}) {
    CAPTURE(where);
    if (where == std::string("loop")) fs::create_symlink("loop", folder / "loop");
    const std::string path = where[0] == '/' ? where : (folder / where).string();
    for (const Writer& writer : writers(path)) {
      CAPTURE(writer.name);
      if (where == std::string("closed/file") && ::geteuid() == 0) continue;  // root may; the unit tests take its right away
      const auto failed = attune(writer.words);
      CHECK(failed.exit_code == 4);
      CHECK(mentions(failed.err, path));
      CHECK(mentions(failed.err, " returned E"));
    }
  }
  fs::remove(folder / "loop");
  {
    const test::FileSizeLimit limit(1000);
    for (const Writer& writer : writers((folder / "old").string())) {
      CAPTURE(writer.name);
      const auto full = attune(writer.words);
      CHECK(full.exit_code == 4);
      CHECK(mentions(full.err, "EFBIG"));
    }
    CHECK(shell(quoted({"report", "double_it", "--format", "md"}) + " > '" + (folder / "old").string() + ".2'").exit_code == 4);
  }
  fs::remove(folder / "old.2");
  CHECK(read("old") == old);
  CHECK(files() == before);
  fs::permissions(folder / "closed", fs::perms(0755));
}

TEST_CASE_FIXTURE(Outputs, "a folder is a wrong argument for every output") {
  fs::create_directory(folder / "place");
  for (const Writer& writer : writers((folder / "place").string())) {
    const auto refused = attune(writer.words);
    CHECK(refused.exit_code == 2);
    CHECK(mentions(refused.err, "it is a folder"));
  }
}

TEST_CASE_FIXTURE(Outputs, "an output that waits for a pipe's reader ends with 130 at the first signal") {
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const Writer& writer : writers((folder / "pipe").string())) {
    for (const int signal : {SIGINT, SIGTERM}) {
      CAPTURE(writer.name);
      auto words = writer.words;
      words.insert(words.begin(), ATTUNE_EXECUTABLE);
      const int pid = test::start(words, environment);
      // Handlers are in place when it waits, and before that a signal ends it by itself: either way it ends.
      std::this_thread::sleep_for(500ms);
      ::kill(pid, signal);
      const auto ended = test::wait_for(pid, 20s);
      REQUIRE(ended.has_value());
      CHECK((*ended == 130 || *ended == 128 + signal));
    }
  }
  CHECK(is_pipe("pipe"));
}

TEST_CASE_FIXTURE(Outputs, "a reader that leaves is exit code 4, with a word, and no death by a signal") {
  // Head leaves after a line; the report is larger than a pipe.
  for (const Writer& writer : writers("-")) {
    if (writer.name != std::string("report html")) continue;
    const auto left = shell("{ " + quoted(writer.words) + "; echo $? >&2; } | head -c 1 >/dev/null");
    CHECK(mentions(left.err, "EPIPE"));
    CHECK(left.err.ends_with("\n4\n"));
  }
}

TEST_CASE_FIXTURE(Outputs, "killing a command while it writes leaves no file of its own") {
  const auto others = [&] {
    std::size_t count = 0;  // a killed reader leaves the log of its database
    for (const auto& entry : fs::directory_iterator(folder.path()))
      count += entry.path().filename().string().starts_with("tune.db") ? 0 : 1;
    return count;
  };
  const std::size_t before = others();
  for (int i = 0; i < 20; ++i) {
    const int pid = test::start({ATTUNE_EXECUTABLE, "report", "double_it", "--output", (folder / "page.html").string()}, environment);
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * i));
    ::kill(pid, i % 2 == 0 ? SIGKILL : SIGINT);
    static_cast<void>(test::wait_for(pid));
    fs::remove(folder / "page.html");
    CHECK(others() == before);
  }
}

TEST_CASE_FIXTURE(Cli, "a layer is written through links and into pipes, into no database that is tuned into, and beside nobody's folder") {
  // A layer needs a built-in template: its smallest recording is in the source tree.
  const std::string recording_of_template = std::string(ATTUNE_SOURCE_DIR) + "/templates/reduce/recordings/h200_f32_sum_cold.json.zst";
  const auto build = [&](const std::string& output) { return attune({"layer", recording_of_template, "--output", output}); };
  fs::create_directory(folder / "layer.db.making");
  write("layer.db.making/mine", "somebody's");
  fs::create_symlink("layer.db", folder / "link");
  const auto built = build((folder / "link").string());
  CAPTURE(built.err);
  REQUIRE(built.exit_code == 0);
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read("layer.db").starts_with("SQLite format 3"));
  CHECK(read("layer.db.making/mine") == "somebody's");
  CHECK(build((folder / "layer.db").string()).exit_code == 0);  // an older layer is replaced
  CHECK(build("/dev/full").exit_code == 4);
  CHECK(fs::is_character_file("/dev/full"));
  REQUIRE(attune(tune_words()).exit_code == 0);
  const std::string before = read("tune.db");
  const auto refused = build(database);
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, "a database"));
  CHECK(read("tune.db") == before);
}

TEST_CASE_FIXTURE(
    Cli, "a layer replaces no database that is tuned into on a network file system, whose header is a layer's, nor any of others") {
  const std::string recording_of_template = std::string(ATTUNE_SOURCE_DIR) + "/templates/reduce/recordings/h200_f32_sum_cold.json.zst";
  const auto build = [&](const std::string& name) {
    return attune({"layer", recording_of_template, "--output", (folder / name).string()});
  };
  REQUIRE(attune(tune_words()).exit_code == 0);
  // As its writers leave it where write-ahead logs do not work.
  SQLite::Database(database, SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = DELETE");
  REQUIRE(read("tune.db").at(18) == 1);
  REQUIRE_FALSE(fs::exists(database + "-wal"));
  const std::string before = read("tune.db");
  CHECK(fs::exists(database + ".lock"));
  const auto locked = build("tune.db");
  CHECK(locked.exit_code == 2);
  CHECK(mentions(locked.err, "tune.db.lock' beside it"));
  // A copy has no lock file.
  write("copy.db", before);
  const auto copied = build("copy.db");
  CHECK(copied.exit_code == 2);
  CHECK(mentions(copied.err, "sessions of tuning"));
  CHECK(read("copy.db") == before);
  CHECK(read("tune.db") == before);
  // With neither there is nothing in it that a layer does not have.
  SQLite::Database(folder / "copy.db", SQLite::OPEN_READWRITE).exec("DELETE FROM sessions");
  CHECK(build("copy.db").exit_code == 0);
  CHECK(read("copy.db") != before);
  SQLite::Database(folder / "others.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')");
  const std::string others = read("others.db");
  const auto refused = build("others.db");
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, "name another file"));
  CHECK(read("others.db") == others);
}

}  // namespace test_outputs
