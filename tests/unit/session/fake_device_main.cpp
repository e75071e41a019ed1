// A device process without a device: the real loop over a replay of made-up measurements. What a problem is called
// decides what happens to it (fake_device.hpp). Also a parent that tunes over such processes, to be killed by a test.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "attune/error.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/unit/session/fake_device.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/process.hpp"
#include "tuner/session/fleet/device_fleet.hpp"
#include "tuner/session/source/replay_backend.hpp"

namespace {

using namespace attune;

std::filesystem::path test_folder() { return std::getenv("ATTUNE_TEST_FOLDER"); }

session::Recording made_up(const spec::KernelTemplate& kernel, int ordinal) {
  std::vector<spec::Problem> problems;
  for (const auto n : test::kFakeSizes) problems.push_back(test::small_problem(n));
  auto recording = test::synthetic_recording(kernel, problems, [](const std::string&, std::uint64_t i) {
    return i == 5 ? 0.0 : 10.0 + static_cast<double>((i * 7) % 11);  // one wrong result in every space
  });
  recording.device.name = fmt::format("Fake GPU {}", ordinal);
  if (ordinal >= test::kOtherKind) recording.device.sm_count += 1;
  return recording;
}

class FakeDevice : public session::ReplayBackend {
 public:
  FakeDevice(int ordinal, const spec::KernelTemplate& kernel) : ReplayBackend(made_up(kernel, ordinal), "made-up.json", kernel) {}

  void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) override {
    n_ = problem.sizes.at("n");
    submitted_ = 0;
    if (n_ == test::kRefused) throw EnvironmentError("needs 99 bytes, 7 are free");
    if (n_ == test::kSpawns) spawn_and_wait();
    ReplayBackend::prepare(kernel, problem);
  }
  /// One at a time, so that a death or a stop comes after some are stored and before all are.
  [[nodiscard]] bool wants_more() const override { return in_flight() == 0; }
  void submit(const spec::Configuration& configuration) override {
    ReplayBackend::submit(configuration);
    if (++submitted_ != 4) return;
    if (n_ == test::kDies) ::_exit(9);
    const auto marker = test_folder() / "died-once";
    if (n_ == test::kDiesOnce && !std::filesystem::exists(marker)) {
      std::ofstream(marker) << "seen";
      ::_exit(9);
    }
  }
  [[nodiscard]] std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) override {
    if (n_ == test::kSlow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return ReplayBackend::collect(timeout);
  }
  [[nodiscard]] double read_ceiling_bytes_per_s() override { return 1e12; }
  [[nodiscard]] std::vector<std::string> take_warnings() override { return {"this machine is made up"}; }

 private:
  [[noreturn]] static void spawn_and_wait() {
    const base::WorkerProcess grandchild(base::own_executable(), {"sleep"});
    const auto partial = test_folder() / "pids.partial";
    std::ofstream(partial) << ::getpid() << " " << grandchild.pid() << "\n";
    std::filesystem::rename(partial, test_folder() / "pids");
    for (;;) ::pause();
  }

  std::int64_t n_ = 0;
  int submitted_ = 0;
};

session::DeviceHooks hooks() {
  session::DeviceHooks hooks;
  hooks.device_count = [] { return 3; };
  hooks.open = [](const session::DeviceSettings& settings, const spec::KernelTemplate& kernel, const measure::Policy&) {
    if (settings.ordinal == test::kNotThere) throw EnvironmentError("failed selecting device 7: there are 3");
    if (settings.ordinal == test::kDeadOnArrival) ::_exit(3);
    return std::make_unique<FakeDevice>(settings.ordinal, kernel);
  };
  return hooks;
}

/// Tunes until it is killed.
int parent() {
  const auto kernel = test::small_template();
  session::TuneRequest request;
  request.problems = {test::small_problem(test::kSpawns)};
  const auto path = test_folder() / "tune.db";
  const auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  session::DeviceFleet fleet(kernel, request, {base::own_executable(), path, {session::DeviceSettings{}}});
  (void)fleet.run(database, {});
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  if (what == "parent") return parent();
  if (what == "sleep") {
    const auto channel = base::enter_worker();
    for (;;) ::pause();
  }
  return session::device_process_main(hooks());
}
