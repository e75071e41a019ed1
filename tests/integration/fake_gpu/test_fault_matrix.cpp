// Every way a configuration can fail, through the real executable: its outcome, its reason, and nobody else blamed.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace test_fault_matrix {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;
using test::replaced;

namespace {

constexpr std::size_t kGood = 4 * 3 * 4;

struct Expected {
  const char* outcome;
  const char* reason;  ///< occurs in the stored sentence
};

const std::map<std::string, Expected>& expectations() {
  static const std::map<std::string, Expected> expected = {
      {"illegal_address", {"crashed", "CUDA_ERROR_ILLEGAL_ADDRESS"}},
      {"misaligned_address", {"crashed", "CUDA_ERROR_MISALIGNED_ADDRESS"}},
      {"trap", {"crashed", "CUDA_ERROR_LAUNCH_FAILED"}},
      {"assert", {"crashed", "CUDA_ERROR_ASSERT"}},
      {"stack_overflow", {"crashed", "CUDA_ERROR_HARDWARE_STACK_ERROR"}},
      {"process_killed", {"crashed", "SIGKILL"}},
      {"endless_loop", {"timed_out", "no answer within"}},
      {"out_of_resources", {"exceeds_limits", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}},
      {"wrong_result", {"wrong_result", "1 of 1000 elements of output \"out\" are wrong; the first is element 333"}},
      {"partial_write", {"wrong_result", "500 of 1000 elements of output \"out\" are wrong; the first is element 500"}},
      {"out_of_bounds_write", {"wrong_result", "wrote past the end of buffer \"out\""}},
      {"input_write", {"wrong_result", "wrote to input \"in\""}},
  };
  return expected;
}

void check_good_ones(const std::vector<db::RecordRow>& records) {
  std::size_t good = 0;
  for (const auto& record : records) {
    if (test::configuration_of(record)["fault"] != "none") continue;
    CAPTURE(record.configuration);
    CAPTURE(record.detail_json);
    CHECK(record.outcome == "ok");
    CHECK(record.verified);
    ++good;
  }
  CHECK(good == kGood);
}

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "every fault is recorded with its outcome and cause, and no good configuration is blamed") {
  const auto result = attune(tune_words("matrix"));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const auto stored = records();
  CHECK(stored.size() == kGood + expectations().size());
  std::size_t failed = 0;
  for (const auto& record : stored) {
    const std::string fault = test::configuration_of(record)["fault"];
    if (fault == "none") continue;
    ++failed;
    CAPTURE(fault);
    const auto& expected = expectations().at(fault);
    const std::string detail = test::detail_of(record);
    CAPTURE(detail);
    CHECK(record.outcome == expected.outcome);
    CHECK(detail.find(expected.reason) != std::string::npos);
    CHECK_FALSE(record.verified);
  }
  CHECK(failed == expectations().size());
  check_good_ones(stored);
  CHECK(processes("worker").empty());
}

TEST_CASE_FIXTURE(FakeGpu, "a space where every fifth crashes, hangs or is wrong completes, and the report counts failures by kind") {
  REQUIRE(attune(tune_words("many", {"--strategy", "random", "--seed", "3"})).exit_code == 0);
  std::map<std::string, std::uint64_t> outcomes;
  for (const auto& record : records()) ++outcomes[record.outcome];
  // constraints of the template: 2 block sizes x 3 items crash and as many are wrong; one hangs
  CHECK(outcomes == std::map<std::string, std::uint64_t>{{"ok", kGood}, {"crashed", 6}, {"wrong_result", 6}, {"timed_out", 1}});
  check_good_ones(records());
  const auto reported = attune({"report", "synthetic", "--format", "json"});
  REQUIRE(reported.exit_code == 0);
  const json problem =
      base::parse_json(reported.out)["devices"].empty() ? json() : base::parse_json(reported.out)["series"][0]["problems"][0];
  CHECK(problem["outcomes"] == json(outcomes));
  std::map<std::string, std::uint64_t> kinds;
  for (const auto& failure : problem["failures"]) kinds[failure["outcome"]] += failure["count"].get<std::uint64_t>();
  outcomes.erase("ok");
  CHECK(kinds == outcomes);
}

namespace {

/// The template of these tests in a folder of its own, so that its source may be changed.
struct OwnSource : FakeGpu {
  OwnSource() { std::filesystem::copy(ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic", folder / "synthetic"); }
  /// Tunes it: the third of its configurations that has four items ends so, with this in each of their records, and the rest is measured.
  void fails_with_four_items(const std::string& outcome, const std::string& detail) {
    auto words = tune_words("none");
    words[1] = (folder / "synthetic").string();
    CHECK(attune(words).exit_code == 0);
    std::map<std::string, std::size_t> outcomes;
    for (const auto& record : records()) {
      ++outcomes[record.outcome];
      if (record.outcome != "ok") CHECK(test::detail_of(record).find(detail) != std::string::npos);
    }
    CHECK(outcomes == std::map<std::string, std::size_t>{{"ok", kGood * 2 / 3}, {outcome, kGood / 3}});
  }

  std::string path = folder / "synthetic" / "synthetic.cu";
};

}  // namespace

TEST_CASE_FIXTURE(OwnSource, "a configuration that does not compile is recorded with the compiler's words, and the rest is measured") {
  std::ofstream(path, std::ios::app) << "#if ATTUNE_ITEMS == 4\n#error four items are too many\n#endif\n";
  fails_with_four_items("compile_failed", "four items are too many");
}

TEST_CASE_FIXTURE(OwnSource, "a block larger than its kernel's bounds is decided from the code, and nothing of it is launched") {
  const std::string declared = "__launch_bounds__(ATTUNE_BLOCK_SIZE)";
  const std::string source = replaced(base::read_file(path), declared, "__launch_bounds__(ATTUNE_ITEMS == 4 ? 32 : ATTUNE_BLOCK_SIZE)");
  std::ofstream(path) << source;
  fails_with_four_items("exceeds_limits", "its __launch_bounds__ allow 32");
}

TEST_CASE_FIXTURE(OwnSource,
                  "a configuration whose code has two kernels of the launched name is recorded with both, and the rest is measured") {
  std::ofstream(path, std::ios::app) << "#if ATTUNE_ITEMS == 4\n__global__ void synthetic(int* x) { x[0] = 1; }\n#endif\n";
  const std::string declared = "extern \"C\" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)";
  const std::string source = replaced(base::read_file(path), declared, "LINKAGE __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)");
  std::ofstream(path) << "#if ATTUNE_ITEMS == 4\n#define LINKAGE\n#else\n#define LINKAGE extern \"C\"\n#endif\n" << source;
  fails_with_four_items("launch_failed", "several functions of that name are compiled");
}

TEST_CASE_FIXTURE(FakeGpu, "a baseline that takes longer than a fast problem's deadline is not blamed for it") {
  settings["faults"] = json::array({{{"kernel", "synthetic"}, {"launch", 0}, {"stall_ms", 3000}}});
  const auto result = attune(tune_words("none", {"--budget", "4"}));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  const auto stored = records();
  CHECK(stored.size() == 4);
  for (const auto& record : stored) {
    CAPTURE(test::detail_of(record));
    CHECK(record.outcome == "ok");
  }
}

TEST_CASE_FIXTURE(FakeGpu, "a worker that dies again and again through no configuration's fault costs no configuration its record") {
  // In one of attune's own kernels, every few verifications: a fresh worker counts anew.
  settings["faults"] = json::array({{{"kernel", "attune_check_guard"}, {"launch", 100}, {"fault", "illegal_address"}}});
  const auto result = attune(tune_words("none"));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_good_ones(records());
}

namespace {

/// The synthetic template with other times.
struct OtherTimes : FakeGpu {
  void replace(const std::string& what, const std::string& by) {
    const std::string source = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/synthetic/";
    if (text.empty()) text = base::read_file(source + "template.json");
    text = replaced(text, what, by);
    std::filesystem::create_directory(folder / "synthetic");
    test::write_bytes(folder / "synthetic/template.json", text);
    test::write_bytes(folder / "synthetic/synthetic.cu", base::read_file(source + "synthetic.cu"));
  }
  [[nodiscard]] std::vector<std::string> words(const std::string& faults = "matrix") const {
    auto all = tune_words(faults);
    all[1] = (folder / "synthetic").string();
    return all;
  }

  std::string text;
};

}  // namespace

TEST_CASE_FIXTURE(
    OtherTimes, "one whose calls take milliseconds where others take microseconds is let go after two, whatever verifying it would take") {
  // 0.3 s a call beside 20 us. Verified, they outlast the deadline of 2 s.
  replace("\"slowdown\": \"1 + ", "\"slowdown\": \"1 + 15000 * (fault in ['wrong_result', 'partial_write', 'out_of_bounds_write']) + ");
  settings["real_time"] = 1;
  const auto result = attune(words());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  std::map<std::string, db::RecordRow> record_of;
  for (const auto& record : records()) record_of[test::configuration_of(record)["fault"]] = record;
  for (const char* const slow : {"wrong_result", "partial_write"}) {  // nobody looked
    CAPTURE(slow);
    CHECK(record_of.at(slow).outcome == "ok");
    CHECK_FALSE(record_of.at(slow).verified);
    CHECK(record_of.at(slow).stage == "screened");
    CHECK(record_of.at(slow).samples == 1);
    CHECK(record_of.at(slow).median_us > 200000);
  }
  CHECK(record_of.at("out_of_bounds_write").outcome == "wrong_result");
  check_good_ones(records());
}

TEST_CASE_FIXTURE(OtherTimes, "who was let go is verified by a search of a part of the space that it is in") {
  replace("\"slowdown\": \"1 + ", "\"slowdown\": \"1 + 500 * (block_size == 64) + ");  // 10 ms
  auto all = words("none");
  REQUIRE(attune(all).exit_code == 0);
  const auto verified = [&] {
    std::size_t count = 0;
    for (const auto& record : records()) count += test::configuration_of(record)["block_size"] == 64 && record.verified ? 1 : 0;
    return count;
  };
  REQUIRE(verified() < kGood / 4);  // whoever came before there was a best
  all.insert(all.end(), {"--where", "block_size == 64"});
  const auto result = attune(all);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(verified() == kGood / 4);
}

TEST_CASE_FIXTURE(FakeGpu, "a first call that is slow for loading its code lets nobody go") {
  settings["loading_us"] = 5000;  // beside calls of 20 us
  const auto result = attune(tune_words("none"));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_good_ones(records());
}

TEST_CASE_FIXTURE(
    OtherTimes,
    "of kernels of milliseconds one that is behind after two calls is let go unverified, but not what it writes where it must not") {
  replace("int((20000 + n / 100) * slowdown)", "int(20000000 * slowdown)");
  replace("\"slowdown\": \"1 + ", "\"slowdown\": \"1 + 1.0 * (fault != 'none') + ");
  const auto result = attune(words());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const auto best = db::Database::open(database, db::OpenMode::ReadOnly).best({});
  REQUIRE(best.size() == 1);
  std::map<std::string, std::string> outcome_of;
  std::size_t unverified = 0;
  for (const auto& record : records()) {
    CAPTURE(record.configuration);
    outcome_of[test::configuration_of(record)["fault"]] = record.outcome;
    if (record.outcome != "ok" || record.verified) continue;
    ++unverified;
    CHECK(record.stage == "screened");
    CHECK(record.median_us > 1.1 * best.front().median_us);
    CHECK(record.samples == 1);
  }
  CHECK(unverified > 2);
  CHECK(outcome_of.at("out_of_bounds_write") == "wrong_result");
  CHECK(outcome_of.at("input_write") == "wrong_result");
  CHECK(outcome_of.at("wrong_result") == "ok");  // nobody looked: it is far too slow
  CHECK(base::parse_json(best.front().configuration)["fault"] == "none");
}

}  // namespace test_fault_matrix
