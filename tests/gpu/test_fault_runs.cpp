// Faults of whole tuning runs: the real `attune tune` on templates written here, into a real database.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "db/database.hpp"
#include "tests/gpu/lab.hpp"
#include "tests/support/command.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"

namespace test_fault_runs {

using namespace attune;
using nlohmann::json;

namespace {

constexpr const char* kMarkName = "ATTUNE_TEST_RUN";

/// `attune` in a world of its own: HOME, XDG folders, database and templates in a temporary folder.
struct Runs {
  test::TempFolder folder;
  std::string database = (folder / "tune.db").string();
  std::string mark = folder.path().filename().string();  ///< in the environment of the command and of its workers
  std::map<std::string, std::string> environment{{"HOME", (folder / "home").string()},
                                                 {"XDG_DATA_HOME", (folder / "data").string()},
                                                 {"XDG_CACHE_HOME", (folder / "cache").string()},
                                                 {"ATTUNE_DB", database},
                                                 {"ATTUNE_TEMPLATES", ""},
                                                 {"ATTUNE_SHIPPED_DB", (folder / "no-shipped.db").string()},
                                                 {kMarkName, mark}};

  /// Writes a template's folder and returns its path.
  [[nodiscard]] std::string write_template(const json& spec, const std::string& source) const {
    const auto path = folder / spec.at("name").get<std::string>();
    std::filesystem::create_directories(path);
    std::ofstream(path / "template.json") << base::dump_json(spec, 1);
    std::ofstream(path / "kernel.cu") << source;
    return path.string();
  }
  [[nodiscard]] static std::vector<std::string> words(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{test::attune_executable().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  [[nodiscard]] test::CommandResult attune(const std::vector<std::string>& arguments) const {
    return test::run(words(arguments), environment);
  }
  [[nodiscard]] int start(const std::vector<std::string>& arguments) const { return test::start(words(arguments), environment); }

  /// By the value of one parameter.
  [[nodiscard]] std::map<int, db::RecordRow> records(const char* parameter) const {
    std::map<int, db::RecordRow> found;
    for (auto& row : db::Database::open(database, db::OpenMode::ReadOnly).records({}))
      found.emplace(base::parse_json(row.configuration).at(parameter).get<int>(), std::move(row));
    return found;
  }
};

/// Values of a parameter: 0 to count - 1.
json numbers(int count) {
  json values = json::array();
  for (int i = 0; i < count; ++i) values.push_back(i);
  return values;
}

/// A copy of n floats by blocks of 256, checked against a plain kernel.
json copy_template(const std::string& name, const json& parameters, const std::string& grid) {
  const json arguments = {"in", "out", "n"};
  return {{"attune", 1},
          {"name", name},
          {"sources", {"kernel.cu"}},
          {"problem", {{"n", {{"size", {{"min", 1}}}}}}},
          {"parameters", parameters},
          {"buffers", {{"in", {{"type", "f32"}, {"count", "n"}}}, {"out", {{"type", "f32"}, {"count", "n"}, {"output", true}}}}},
          {"launches", {{{"kernel", "copy"}, {"grid", grid}, {"block", 256}, {"args", arguments}}}},
          {"reference", {{"launches", {{{"kernel", "copy_plainly"}, {"grid", "ceil_div(n, 256)"}, {"block", 256}, {"args", arguments}}}}}},
          {"work", {{"bytes", "8 * n"}}}};
}

/// The two kernels of `copy_template`; `body` runs in front of the tuned one's copying.
std::string copy_source(const std::string& body) {
  return fmt::format(R"text(
extern "C" __global__ void copy_plainly(const float* in, float* out, long long n) {{
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = in[i];
}}
extern "C" __global__ void copy(const float* in, float* out, long long n) {{
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  float added = 0;
{}
  if (i < n) out[i] = in[i] + added;
}}
)text",
                     body);
}

/// Waits for something that happens in another process. A minute is far more than any of it takes.
bool wait_until(const std::function<bool()>& happened) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// What `look` sees in the database, or `otherwise` while there is none yet.
template <class Look, class Value>
Value in_database(const std::string& path, Look look, Value otherwise) {
  try {
    return look(db::Database::open(path, db::OpenMode::ReadOnly));
  } catch (const DatabaseError&) {
    return otherwise;
  }
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Processes whose environment holds the mark, with their command lines.
std::map<int, std::string> marked_processes(const std::string& mark) {
  std::map<int, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (contents(entry.path() / "environ").find(std::string(kMarkName) + "=" + mark) == std::string::npos) continue;
    found.emplace(std::stoi(name), contents(entry.path() / "cmdline"));
  }
  return found;
}

/// Gone, or dead and only waiting for somebody to ask how it ended. The name in the file is in brackets and may hold
/// any character; the state follows the last of them.
bool is_gone(int pid) {
  const std::string stat = contents(fmt::format("/proc/{}/stat", pid));
  const std::size_t bracket = stat.rfind(')');
  return bracket == std::string::npos || stat.at(bracket + 2) == 'Z' || stat.at(bracket + 2) == 'X';
}

}  // namespace

TEST_CASE("a space with a tenth of crashing, hanging and wrong configurations is tuned to its end") {
  const std::map<int, std::string> planted{{7, "compile_failed"}, {17, "wrong_result"}, {27, "crashed"},        {37, "timed_out"},
                                           {47, "crashed"},       {57, "wrong_result"}, {63, "exceeds_limits"}, {71, "crashed"}};
  constexpr int kSpace = 80;
  const Runs runs;
  const auto path = runs.write_template(
      copy_template("shaky", {{"id", {{"values", numbers(kSpace)}, {"default", 0}}}}, "ceil_div(n, 256) * (id != 63)"), copy_source(R"text(
#if ATTUNE_ID == 7
#error planted
#elif ATTUNE_ID == 17
  added = i == n / 2 ? 1.0f : 0.0f;
#elif ATTUNE_ID == 27
  *(float*)(0x10ll + (n << 60)) = 1;
#elif ATTUNE_ID == 37
  while (((volatile const float*)in)[0] != 123456789.0f) {}
#elif ATTUNE_ID == 47
  asm volatile("trap;");
#elif ATTUNE_ID == 57
  if (i == 0) out[n] = 1;
#elif ATTUNE_ID == 71
  if (i == 0) assert(in[0] == 123456789.0f);
#endif
  float seen = 0;
  for (int k = 0; k < ATTUNE_ID % 4 * 20; ++k) seen = ((volatile const float*)in)[(i + k) % n];  // some are slower
  if (seen == 123456789.0f) return;
)text"));
  const auto result = runs.attune({"tune", path, "--n", "65536", "--json"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);

  const auto records = runs.records("id");
  CHECK(records.size() == kSpace);
  for (const auto& [id, record] : records) {
    CAPTURE(id);
    INFO(record.detail_json);
    const auto fault = planted.find(id);
    CHECK(record.outcome == (fault == planted.end() ? "ok" : fault->second));
    CHECK(record.verified == (fault == planted.end()));
    CHECK((record.median_us > 0) == (fault == planted.end()));
    if (fault != planted.end()) CHECK(base::parse_json(record.detail_json).at("detail") != "");
  }
  const auto database = db::Database::open(runs.database, db::OpenMode::ReadOnly);
  const auto best = database.best({});
  REQUIRE(best.size() == 1);
  CHECK_FALSE(planted.contains(base::parse_json(best[0].configuration).at("id").get<int>()));
  CHECK(database.in_flight().empty());

  const auto report = runs.attune({"report", "shaky", "--format", "json"});
  REQUIRE(report.exit_code == 0);
  const json told = base::parse_json(report.out);
  std::map<std::string, int> kinds;
  for (const auto& failure : told.at("series").at(0).at("problems").at(0).at("failures"))
    kinds[failure.at("outcome")] = failure.at("count");
  CHECK(kinds ==
        std::map<std::string, int>{{"crashed", 3}, {"wrong_result", 2}, {"compile_failed", 1}, {"timed_out", 1}, {"exceeds_limits", 1}});
}

TEST_CASE("workers die with their parent, also one whose kernel never ends, and the next run measures") {
  const Runs runs;
  const auto path = runs.write_template(copy_template("stuck", {{"id", {{"values", numbers(2)}, {"default", 0}}}}, "ceil_div(n, 256)"),
                                        copy_source("  while (((volatile const float*)in)[0] != 123456789.0f + ATTUNE_ID) {}\n"));
  const int parent = runs.start({"tune", path, "--n", "65536"});
  const bool on_the_gpu = wait_until([&] {
    return in_database(
        runs.database, [](const auto& database) { return !database.in_flight().empty(); }, false);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the kernel itself starts a little later
  auto workers = marked_processes(runs.mark);
  CHECK(workers.erase(parent) == 1);
  ::kill(parent, SIGKILL);
  CHECK(test::wait_for(parent) == 128 + SIGKILL);
  CHECK(on_the_gpu);
  std::map<std::string, int> kinds;
  for (const auto& [pid, command_line] : workers) {
    for (const char* kind : {"worker-gpu", "worker-compile"}) kinds[kind] += command_line.find(kind) != std::string::npos;
    CAPTURE(command_line);
    CHECK(wait_until([pid = pid] { return is_gone(pid); }));
  }
  CHECK(kinds["worker-gpu"] == 1);
  CHECK(kinds["worker-compile"] >= 1);
  CHECK(marked_processes(runs.mark).empty());
  const auto good =
      runs.write_template(copy_template("good", {{"id", {{"values", numbers(2)}, {"default", 0}}}}, "ceil_div(n, 256)"), copy_source(""));
  CHECK(runs.attune({"tune", good, "--n", "65536"}).exit_code == 0);
}

TEST_CASE("Ctrl-C ends a run on the GPU with 130, keeps its records, and the same command measures only the rest") {
  constexpr int kSpace = 256;
  const Runs runs;
  // Bound to the launch: one cubin for all, so that measuring is all that takes time.
  const json idle_blocks = {{"values", numbers(kSpace)}, {"default", 0}, {"bind", "launch"}};
  const auto path =
      runs.write_template(copy_template("quick", {{"idle_blocks", idle_blocks}}, "ceil_div(n, 256) + idle_blocks"), copy_source(""));
  const std::vector<std::string> tune{"tune", path, "--n", "65536"};
  const int pid = runs.start(tune);
  CHECK(wait_until([&] {
    return in_database(
        runs.database, [](const auto& database) { return database.info().records >= 5; }, false);
  }));
  ::kill(pid, SIGINT);
  CHECK(test::wait_for(pid) == 130);
  CHECK(wait_until([&] { return marked_processes(runs.mark).empty(); }));
  const auto kept = runs.records("idle_blocks");
  CHECK(kept.size() >= 5);
  CHECK(kept.size() < kSpace);

  const auto again = runs.attune(tune);
  INFO(again.err);
  CHECK(again.exit_code == 0);
  const auto complete = runs.records("idle_blocks");
  CHECK(complete.size() == kSpace);
  for (const auto& [blocks, record] : complete) {
    CAPTURE(blocks);
    CHECK(record.outcome == "ok");
    const auto before = kept.find(blocks);
    if (before == kept.end()) continue;
    CHECK(record.recorded_at == before->second.recorded_at);
    CHECK(record.median_us == before->second.median_us);
  }
}

}  // namespace test_fault_runs
