// What ranks compare when their Runtimes are made: a digest that differs where plans could, and only there.
#include <doctest/doctest.h>

#include <fstream>
#include <functional>

#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/agreement_digest.hpp"

namespace test_agreement_digest {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

const spec::DeviceInfo kHere = device("sm_90", "NVIDIA H200", 132);

/// A rank with a template folder and as many layers as `fill` is given.
struct Rank {
  TempFolder folder;
  Options options;

  Rank() { options.templates = {write_twice(folder / "templates")}; }
  void fill(const std::string& name, const std::function<void(LayerFile&)>& rows) {
    LayerFile file(folder / name);
    rows(file);
    options.databases.push_back(file.path());
  }
  [[nodiscard]] runtime::RankOpening opening() const {
    return runtime::opening_of(options, spec::TemplateLibrary(options.templates), runtime::open_layers(options.databases).layers);
  }
};

db::BestRow row(std::int64_t n, const std::string& chosen = configuration(64)) {
  return best_row(twice_template(), twice_problem(n), kHere, chosen);
}

/// What rank 1 is told when it stands beside two like rank 0.
std::string difference(const Rank& usual, const Rank& other) {
  return runtime::differences({usual.opening(), other.opening(), usual.opening()}).at(1);
}

}  // namespace

TEST_CASE("two nodes with the same results in files of other names, written in another order, have no difference") {
  Rank a, b;
  a.fill("a.db", [](LayerFile& file) {
    file.add(row(1000), kHere);
    file.add(row(2000), kHere);
  });
  b.fill("b.db", [](LayerFile& file) {
    auto later = row(2000);
    later.recorded_at = "2026-11-21T13:17:05Z";
    file.add(later, kHere);
    file.add(row(1000), kHere);
  });
  CHECK(difference(a, b).empty());
}

TEST_CASE("a result that only one node has, or that says another configuration or time, is a difference, and both places are named") {
  Rank a, more, other, faster;
  a.fill("a.db", [](LayerFile& file) { file.add(row(1000), kHere); });
  more.fill("more.db", [](LayerFile& file) {
    file.add(row(1000), kHere);
    file.add(row(2000), kHere);
  });
  other.fill("other.db", [](LayerFile& file) { file.add(row(1000, configuration(256)), kHere); });
  faster.fill("faster.db", [](LayerFile& file) {
    auto fast = row(1000);
    fast.median_us = 3.4;
    file.add(fast, kHere);
  });
  for (const auto* rank : {&more, &other, &faster}) {
    const std::string told = difference(a, *rank);
    CAPTURE(told);
    CHECK(told.find("rank 1 differs from rank 0") != std::string::npos);
    CHECK(told.find(rank->options.databases[0].string()) != std::string::npos);
    CHECK(told.find(a.options.databases[0].string()) != std::string::npos);
  }
}

TEST_CASE("what cannot decide a plan is no difference: empty layers, other versions of templates, other policies, unverified results") {
  Rank a, b;
  a.fill("a.db", [](LayerFile& file) { file.add(row(1000), kHere); });
  b.fill("empty.db", [](LayerFile&) {});
  b.fill("b.db", [](LayerFile& file) {
    file.add(row(1000), kHere);
    auto other = row(2000);
    other.policy = "hot/graph";
    file.add(other, kHere);
    other = row(3000);
    other.objective = db::kUnverifiedTime;
    file.add(other, kHere);
    other = row(4000);
    other.template_hash = "an older version";
    file.add(other, kHere);
  });
  CHECK(difference(a, b).empty());
}

TEST_CASE("the order of layers is a difference, as the first that has a result counts") {
  Rank a, b;
  const auto one = [](LayerFile& file) { file.add(row(1000), kHere); };
  const auto two = [](LayerFile& file) { file.add(row(1000, configuration(256)), kHere); };
  a.fill("one.db", one);
  a.fill("two.db", two);
  b.fill("two.db", two);
  b.fill("one.db", one);
  CHECK_FALSE(difference(a, b).empty());
}

TEST_CASE("another content of a template and a template more are differences, in words") {
  Rank a, b;
  std::ofstream(b.folder / "templates/twice/twice.cu", std::ios::app) << "// another byte\n";
  fs::create_directories(b.folder / "templates/extra");
  std::ofstream(b.folder / "templates/extra/template.json") << "{";  // malformed, but not on all ranks
  const std::string told = difference(a, b);
  CAPTURE(told);
  CHECK(told.find("template 'twice' has content") != std::string::npos);
  CHECK(told.find("template 'extra' has content") != std::string::npos);
  CHECK(told.find("and is missing on rank 0") != std::string::npos);
}

TEST_CASE("a template that cannot be read is the same on all ranks where none can read it, wherever it lies") {
  Rank a, b;
  for (const Rank* rank : {&a, &b}) {
    fs::create_directories(rank->folder / "templates/broken");
    std::ofstream(rank->folder / "templates/broken/template.json") << "{";
  }
  CHECK(difference(a, b).empty());
}

TEST_CASE("the ranks that are told are those unlike most, and of equally many those unlike the lowest") {
  Rank usual, odd;
  odd.fill("local.db", [](LayerFile& file) { file.add(row(1000), kHere); });
  const auto u = usual.opening(), o = odd.opening();
  const auto told = [](const std::vector<runtime::RankOpening>& openings) {
    std::vector<std::size_t> ranks;
    const auto texts = runtime::differences(openings);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      if (!texts[rank].empty()) ranks.push_back(rank);
    }
    return ranks;
  };
  CHECK(told({u, u, u}).empty());
  CHECK(told({o, u, u}) == std::vector<std::size_t>{0});
  CHECK(told({u, o}) == std::vector<std::size_t>{1});
  CHECK(told({o, u, u, o, u}) == std::vector<std::size_t>{0, 3});
}

}  // namespace test_agreement_digest
