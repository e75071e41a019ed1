// Ladders whose run-offs lack time, on a made-up GPU whose run-offs take some.
#include <doctest/doctest.h>

#include <thread>

#include "db/database.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/session/made_up_gpu.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/variants/ladder_run.hpp"

namespace test_ladder_budget {

using namespace attune;
using test::MadeUpGpu;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kRunOff{800};  // two are more than the 1.5 s that each call has
constexpr int kFewEpochs = 5;

measure::Measurement measured(const std::string& text) {
  return test::works(text, 1000.0 / base::parse_json(text)["block_size"].get<double>(), 0.01);
}

/// Every run-off takes its time, so that sessions begin in different seconds. Where they have an end none begins past it, and all are cut
/// short after a few epochs.
class SlowGpu : public MadeUpGpu {
 public:
  explicit SlowGpu(int failing_run_off = 0) : MadeUpGpu(measured), failing_(failing_run_off) {}
  std::optional<session::RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists, const session::Race::Options& options,
                                                std::uint64_t seed) override {
    if (options.until && Clock::now() >= *options.until) return std::nullopt;
    std::this_thread::sleep_for(kRunOff);
    auto samples = MadeUpGpu::run_off(finalists, options, seed);
    if (static_cast<int>(run_offs.size()) == failing_) {
      session::RunOffSamples failed;
      failed.failed.push_back({samples->configurations.back(), measure::Outcome::WrongResult, "made up"});
      return failed;
    }
    if (options.until) samples->rounds_us.resize(kFewEpochs);
    return samples;
  }

 private:
  int failing_;  ///< the last configuration of this run-off, counted from 1
};

struct Ladders {
  session::LadderResult run(SlowGpu& gpu, const char* budget) {
    session::LadderRequest request;
    request.tune.problems = {test::small_problem(1000000)};
    request.tune.budget = session::Budget::parse(budget);
    return session::run_ladder(kernel, ladder, request, gpu, database, {}).problems.at(0);
  }

  test::TempFolder folder;
  spec::KernelTemplate kernel = spec::KernelTemplate::parse(test::small_template_json(), {{"double_it.cu", test::small_template_source()}},
                                                            "double_it/template.json");
  spec::VariantLadder ladder = spec::VariantLadder::parse(kernel, R"({"attune_ladder": 1, "summary": "s", "rungs": [
      {"name": "all", "why": "w", "where": "True"}, {"name": "small", "why": "w", "where": "block_size == 64"}]})",
                                                          "ladder.json");
  db::Database database = db::Database::open(folder / "ladder.db", db::OpenMode::ReadWrite);
};

}  // namespace

TEST_CASE_FIXTURE(Ladders, "a rung's fastest that fails beside the others leaves a best that ran off, however little time there is") {
  SlowGpu gpu(2);  // the first decides the best, the second compares the rungs
  const auto result = run(gpu, "1s");
  CHECK(result.ran_off);
  CHECK(gpu.run_offs.size() == 4);
  const auto rows = database.best({});
  REQUIRE(rows.size() == 1);
  CHECK(base::parse_json(rows.front().detail_json).at("rounds") == kFewEpochs);
}

TEST_CASE_FIXTURE(Ladders, "rungs that were compared by few epochs, for lack of time, are compared anew by a later ladder") {
  SlowGpu first, later, last;
  const auto hasty = run(first, "1s");
  CHECK(hasty.ran_off);
  CHECK(hasty.cut_short);
  const auto patient = run(later, "100%");
  CHECK(patient.tuned.measured == 0);
  CHECK(patient.ran_off);
  CHECK_FALSE(patient.cut_short);
  CHECK(later.run_offs.size() == 2);
  const auto same = run(last, "100%");
  CHECK(same.ran_off);
  CHECK(last.run_offs.empty());
}

}  // namespace test_ladder_budget
