#pragma once
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace attune::test {

inline constexpr double kRunOff_s = 3;                 // of budgets below 15 s
inline constexpr double kMore_s = kSanitized ? 5 : 2;  // for starting, preparing and storing

/// The template `brief` with 2 x 200 configurations.
struct Costly : FakeGpu {
  Costly() {
    const std::string source = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/brief/";
    std::string waves = "[1";
    for (int wave = 2; wave <= 200; ++wave) waves += ", " + std::to_string(wave);
    text =
        replaced(base::read_file(source + "template.json"), "[1, 2, 4], \"default\": 1, \"bind\": \"launch\"", waves + "], \"default\": 1");
    code = base::read_file(source + "brief.cu");
    settings["devices"] = {{{"memory_bytes", 4000000000}}};
  }

  void write_template() const {
    std::filesystem::create_directory(folder / "brief");
    write_bytes(folder / "brief/template.json", text);
    write_bytes(folder / "brief/brief.cu", code);
  }
  /// Kernels of 40 ms and more, which really take that long.
  void make_slow_kernels(int fastest_ms = 40) {
    settings["real_time"] = 1;
    text = replaced(text, "int((20000 + n / 100) * slowdown)",
                    "int(" + std::to_string(fastest_ms) + "000000 * (1 + 0.3 * (block_size == 64) + 0.01 * abs(waves - 100)))");
    write_template();
  }
  /// The reference takes as long, for each set of data and size.
  void make_slow_reference(const std::string& ns) {
    text = replaced(text, R"("fault_code": )", R"("reference_ns": ")" + ns + R"(", "no_fault": "0", "fault_code": )");
    text = replaced(
        text, R"x("synthetic_plain", "grid": "max(1, ceil_div(n, 256))", "block": 256, "args": ["in", "out", "n"])x",
        R"x("synthetic", "grid": "max(1, ceil_div(n, 64))", "block": 64, "args": ["in", "out", "n", "reference_ns", "no_fault"])x");
  }
  /// Those of which the preprocessor's `condition` holds take NVRTC longer than any test lasts.
  void make_slow_compiles(const std::string& condition) {
    code = replaced(code, "  if (time_ns < 0", "#if " + condition + R"(
  float y = static_cast<float>(i);
#pragma unroll
  for (int k = 0; k < 600; ++k) y = sinf(y * static_cast<float>(k)) / (1.0f + cosf(y));
  if (y == 12345.0f) out[0] = 0;
#endif
  if (time_ns < 0)");
    write_template();
  }
  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more, const std::string& strategy = "random") const {
    std::vector<std::string> all{"tune",  (folder / "brief").string(), "--T", "i32", "--end", "well", "--size", "1000", "--strategy",
                                 strategy};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Runs the command, which keeps the promise: `run_offs` of them may follow the searches.
  [[nodiscard]] CommandResult keep_promise(double budget_s, const std::vector<std::string>& words, int run_offs = 1) const {
    const auto begin = std::chrono::steady_clock::now();
    auto result = attune(words);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(took.count() < budget_s + run_offs * kRunOff_s + kMore_s);
    CHECK(processes("worker").empty());
    return result;
  }
  /// What the command that was started has told so far.
  [[nodiscard]] std::vector<nlohmann::json> events() const {
    return std::filesystem::exists(output()) ? json_lines(base::read_file(output())) : std::vector<nlohmann::json>{};
  }
  /// Whether it tells so on the way, as what it waits for, behind its first `behind` events.
  [[nodiscard]] bool says_that_it_waits_for(const std::string& what, std::size_t behind = 0) const {
    const auto says_so = [&] {
      const auto told = events();
      return std::any_of(told.begin() + static_cast<std::ptrdiff_t>(std::min(behind, told.size())), told.end(), [&](const auto& event) {
        return event.at("event") == "progress" && event.at("waits_for") == what && event.at("budget_s") == 300 && event.at("elapsed_s") > 0;
      });
    };
    return wait_until(says_so, std::chrono::seconds(20));
  }
  /// Interrupts the command, which ends with 130 and all of its processes; returns the seconds that it takes.
  [[nodiscard]] double interrupt(int pid) const {
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(::kill(pid, SIGINT) == 0);
    CHECK(wait_for(pid) == 130);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
    return took.count();
  }
  [[nodiscard]] std::vector<db::BestRow> best() const { return db::Database::open(database, db::OpenMode::ReadOnly).best({}); }

  [[nodiscard]] nlohmann::json detail_of_best() const {
    const auto rows = best();
    REQUIRE(rows.size() == 1);
    return base::parse_json(rows.front().detail_json);
  }
  /// How many configurations run off together at this moment.
  [[nodiscard]] std::size_t running_off() const {
    if (!on_device()) return 0;
    for (const auto& [session, configurations] : db::Database::open(database, db::OpenMode::ReadOnly).in_flight())
      return static_cast<std::size_t>(std::count(configurations.begin(), configurations.end(), '\n')) + 1;
    return 0;
  }

  std::string text, code;  ///< of the template
};

}  // namespace attune::test
