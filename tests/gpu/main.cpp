// Runner of the GPU tests. Without a device it says why and exits with 77, which ctest shows as skipped.
// --outcome FILE writes what ran, where, and the content hash of what was tested (docs: CONTRIBUTING.md).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "attune_build/content_hash.hpp"
#include "tests/support/skip.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/text.hpp"
#include "tuner/gpu/handles.hpp"

namespace {

constexpr int kSkipped = 77;

struct Counts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  bool skips = false;  ///< the case that runs
  int set_aside = 0;   ///< of the skipped: cases that run only when they are asked for
  std::vector<std::string> cases;
  std::vector<std::string> left_out;  ///< by a filter
};

Counts& counts() {
  static Counts instance;
  return instance;
}

/// Counts test cases beside doctest's own console reporter.
class Collector : public doctest::IReporter {
 public:
  explicit Collector(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& data) override {
    counts().cases.emplace_back(data.m_name);
    counts().skips = false;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    ++(!stats.testCaseSuccess ? counts().failed : counts().skips ? counts().skipped : counts().passed);
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData& data) override {
    if (data.m_skip) {
      ++counts().skipped;
      ++counts().set_aside;
    } else {
      counts().left_out.emplace_back(data.m_name);
    }
  }
};

REGISTER_LISTENER("outcome", 1, Collector);

void write_outcome(const std::string& path) {
  const auto device = attune::gpu::read_device(0);
  int version = 0;
  attune::gpu::check(attune::gpu::Driver::get().cuDriverGetVersion(&version), "cuDriverGetVersion", "reading the driver's version");
  const nlohmann::json outcome{{"passed", counts().passed},
                               {"failed", counts().failed},
                               {"skipped", counts().skipped},
                               {"set_aside", counts().set_aside},
                               {"cases", counts().cases},
                               {"left_out", counts().left_out},
                               {"device", device.name},
                               {"driver", device.driver},
                               {"cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10)},
                               {"date", attune::base::utc_now()},
                               {"content", attune::build::kContentHash}};
  attune::base::write_output(path, attune::base::dump_json(outcome, 2) + "\n");
}

}  // namespace

void attune::test::skip(const std::string& reason) {
  counts().skips = true;
  fmt::print("SKIPPED: {}\n  {}\n", doctest::getContextOptions()->currentTest->m_name, reason);
}

int main(int argc, char** argv) {
  std::string outcome_path;
  std::vector<char*> others{argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--outcome" && i + 1 < argc) {
      outcome_path = argv[++i];
    } else {
      others.push_back(argv[i]);
    }
  }
  const std::string reason = attune::gpu::Driver::unavailable_reason();
  if (!reason.empty()) {
    fmt::print("GPU tests skipped: {}\n", reason);
    return kSkipped;
  }
  doctest::Context context(static_cast<int>(others.size()), others.data());
  const int result = context.run();
  if (!outcome_path.empty() && !context.shouldExit()) write_outcome(outcome_path);
  return result;
}
