// Programs and a template without a reference: what was tuned of it is launched with Options::unverified, and not without.
#include <doctest/doctest.h>

#include <filesystem>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tests/integration/dispatch/dispatching.hpp"
#include "tests/support/best_row.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"

namespace test_unverified {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kSize = 1000;
constexpr const char* kTuned = R"({"block_size":256,"waves":2})";

/// The template `brief` without its reference, and a result of it in a database.
struct Unreferenced : Dispatching {
  Unreferenced() {
    const std::filesystem::path source = std::filesystem::path(options.templates.front()) / "brief", mine = folder / "brief";
    std::filesystem::create_directory(mine);
    test::write_bytes(mine / "brief.cu", base::read_file(source / "brief.cu"));
    const std::string whole = base::read_file(source / "template.json");
    const std::size_t begin = whole.find(R"("reference": {)"), end = whole.find('\n', begin);
    test::write_bytes(mine / "template.json", replaced(whole, whole.substr(begin, end - begin), R"("reference": "none",)"));
    options.templates = {folder.path()};
    options.databases = {folder / "tuned.db"};
    const auto kernel = spec::KernelTemplate::load(mine);
    const auto device = gpu::read_device(0);
    auto row = best_row(kernel, {{{"T", "i32"}, {"end", "well"}}, {{"n", kSize}}}, device, kTuned);
    row.objective = db::kUnverifiedTime;
    auto database = db::Database::open(options.databases.front(), db::OpenMode::ReadWrite);
    database.put(device_row(device));
    database.put(row);
  }
  [[nodiscard]] static Kernel kernel(Runtime& runtime) { return runtime.kernel("brief", {{"T", "i32"}, {"end", "well"}}); }
};

}  // namespace

TEST_CASE_FIXTURE(Unreferenced, "an unverified result is launched by a program that asks for it") {
  options.unverified = true;
  options.on_miss = OnMiss::Error;
  Runtime runtime(options);
  const Kernel copy = kernel(runtime);
  copy.prepare();
  CHECK(runtime.counters().plans_built == 1);
  const Decision decision = copy.explain({kSize});
  CHECK(decision.tier == Tier::ExactSize);
  CHECK(decision.configuration == kTuned);
  CHECK(decision.unverified);
  const Elements elements(kSize);
  launch(copy, elements, nullptr);
  CHECK(elements.copied());
  CHECK(runtime.counters().plans_built == 1);
}

TEST_CASE_FIXTURE(Unreferenced, "a program that does not ask launches the default, and prepares nothing") {
  Runtime runtime(options);
  const Kernel copy = kernel(runtime);
  copy.prepare();
  CHECK(runtime.counters().plans_built == 0);
  CHECK(copy.explain({kSize}).tier == Tier::Default);
  const Elements elements(kSize);
  launch(copy, elements, nullptr);
  CHECK(elements.copied());
}

TEST_CASE_FIXTURE(Unreferenced, "what is to happen on a miss is refused where no result could ever be dispatched") {
  options.on_miss = OnMiss::Error;
  Runtime runtime(options);
  const Kernel copy = kernel(runtime);
  const Elements elements(kSize);
  CHECK_THROWS_WITH_AS(launch(copy, elements, nullptr), doctest::Contains("set that, or leave on_miss"), UsageError);
}

}  // namespace test_unverified
