// Promise 9: what was recorded for other bytes of a template never matches.
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <random>

#include "attune/error.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/write_bytes.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/code_store.hpp"

namespace test_stale {

using namespace attune;
using namespace attune::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "#pragma once\ninline __device__ float twice_of(float x) { return 2 * x; }\n";
constexpr const char* kSource = R"(#include "twice.cuh"
extern "C" __global__ void twice(const ATTUNE_T* x, long long n, ATTUNE_T* y) {
  for (long long i = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x; i < n; i += gridDim.x * (long long)ATTUNE_BLOCK_SIZE)
    y[i] = twice_of(x[i]);
}
)";

std::string with_options() {
  std::string text = kTwiceJson;
  return text.insert(text.find("\"launches\""), "\"options\": [\"-DEXTRA=1\"],\n  ");
}

std::string replaced_once(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return std::string(text).replace(at, from.size(), to);
}

/// A template on disk, tuned: a best row with its cubin in a database of its own.
struct Tuned {
  TempFolder folder;
  fs::path place = folder / "twice";
  std::map<std::string, std::string> files{{"template.json", with_options()}, {"twice.cu", kSource}, {"twice.cuh", kHeader}};
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  spec::Problem problem = twice_problem(1000);
  std::vector<runtime::Layer> layers;
  runtime::CodeStore store{folder / "cubins"};

  Tuned() {
    fs::create_directory(place);
    restore();
    const spec::KernelTemplate kernel = load();
    LayerFile file(folder / "user.db");
    auto row = best_row(kernel, problem, here, configuration(64));
    row.cubin_key = "cafe";
    row.detail_json = base::dump_json(nlohmann::json{{"source_key", request(kernel, configuration(64)).source_key}});
    file.add(row, here);
    file.database().put_cubin("cafe", "machine code", row.detail_json);
    file.database().put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files});
    layers = runtime::open_layers({file.path()}).layers;
  }

  void restore() const {
    for (const auto& [name, text] : files) write_bytes(place / name, text);
  }
  [[nodiscard]] spec::KernelTemplate load() const { return spec::KernelTemplate::load(place); }
  [[nodiscard]] runtime::CodeRequest request(const spec::KernelTemplate& kernel, const std::string& chosen) const {
    return runtime::make_code_request(kernel, problem, spec::configuration_from_text(kernel, chosen), here);
  }
  [[nodiscard]] runtime::Choice choose(const spec::KernelTemplate& kernel) const {
    return runtime::choose(kernel, problem, here, layers, {"cold/graph"});
  }
  /// Whether the stored cubin is what a launch of `kernel` would run.
  [[nodiscard]] bool uses_stored_cubin(const spec::KernelTemplate& kernel, const runtime::Choice& choice) const {
    return store.find(request(kernel, choice.decision.configuration), choice, layers).has_value();
  }
};

/// One byte replaced, inserted or removed; never the same text.
std::string edited(const std::string& text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
  // Half of the new bytes are such as the file has, so that many edits still make a valid template.
  const auto byte = [&](char old) {
    char made = old;
    while (made == old) made = below(2) == 0 ? text[below(text.size())] : static_cast<char>(below(256));
    return made;
  };
  std::string result = text;
  const std::size_t at = below(text.size());
  switch (below(3)) {
    case 0:
      result[at] = byte(text[at]);
      break;
    case 1:
      result.insert(at, 1, byte(text[at]));
      break;
    default:
      result.erase(at, 1);
  }
  return result;
}

}  // namespace

TEST_CASE_FIXTURE(Tuned, "the tuned bytes match their result and its cubin, wherever the folder lies") {
  const auto choice = choose(load());
  CHECK(choice.decision.tier == Tier::ExactSize);
  CHECK(uses_stored_cubin(load(), choice));
  fs::rename(place, folder / "moved");
  const auto moved = spec::KernelTemplate::load(folder / "moved");
  CHECK(choose(moved).decision.tier == Tier::ExactSize);
  CHECK(uses_stored_cubin(moved, choose(moved)));
}

TEST_CASE_FIXTURE(Tuned, "a change of any one byte of specification, source or included header leaves results and cubins behind") {
  const int wanted = full_campaign() ? 10'000 : 400;
  std::mt19937 random(9);
  std::map<std::string, int> counts{{"edits", 0}, {"still_a_template", 0}, {"stale_matches", 0}, {"stale_cubins", 0}};
  const std::string hash = load().content_hash;
  for (int i = 0; i < wanted; ++i) {
    auto file = files.begin();
    std::advance(file, std::uniform_int_distribution<int>(0, 2)(random));
    const std::string text = edited(file->second, random);
    if (text == file->second) continue;  // a neighbour like it was removed or doubled
    write_bytes(place / file->first, text);
    ++counts["edits"];
    try {
      const auto kernel = load();
      CAPTURE(file->first);
      CAPTURE(text);
      CHECK(kernel.content_hash != hash);
      const auto choice = choose(kernel);
      ++counts["still_a_template"];
      counts["stale_matches"] += choice.decision.tier == Tier::Default ? 0 : 1;
      counts["stale_cubins"] += uses_stored_cubin(kernel, choice) ? 1 : 0;
    } catch (const SpecError&) {   // no longer a template
    } catch (const UsageError&) {  // one without this problem, or whose default does not hold here
    }
    write_bytes(place / file->first, file->second);
  }
  CHECK(counts["stale_matches"] == 0);
  CHECK(counts["stale_cubins"] == 0);
  CHECK(counts["edits"] > wanted * 9 / 10);
  CHECK(counts["still_a_template"] > counts["edits"] / 2);  // else this would show little
  CHECK(choose(load()).decision.tier == Tier::ExactSize);
  record_figures(9, "stale", counts);
}

TEST_CASE_FIXTURE(Tuned, "each part of a template that means something is part of the key") {
  const std::vector<std::array<std::string, 4>> edits{
      {"a parameter's values", "template.json", "[32, 64, 256]", "[32, 64, 128, 256]"},
      {"a default", "template.json", "\"default\": 256", "\"default\": 64"},
      {"a constraint", "template.json", "n <= 4096", "n <= 4097"},
      {"a let", "template.json", "clamp(ceil_div(n, block_size), 1,", "clamp(ceil_div(n, block_size), 2,"},
      {"a launch", "template.json", "\"block\": \"block_size\"", "\"block\": \"2 * block_size\""},
      {"an option", "template.json", "-DEXTRA=1", "-DEXTRA=2"},
      {"a size's range", "template.json", "1000000", "1000001"},
      {"a source", "twice.cu", "twice_of(x[i])", "twice_of(x[i]) + 0"},
      {"an included header", "twice.cuh", "return 2 * x", "return x + x"},
  };
  for (const auto& [what, file, from, to] : edits) {
    CAPTURE(what);
    write_bytes(place / file, replaced_once(files.at(file), from, to));
    const auto choice = choose(load());
    CHECK(choice.decision.tier == Tier::Default);
    REQUIRE(choice.decision.passed_over.size() == 1);
    CHECK(choice.decision.passed_over[0].find("1 result(s) belong to another version of the template 'twice'") != std::string::npos);
    CHECK_FALSE(uses_stored_cubin(load(), choice));
    restore();
  }
}

TEST_CASE_FIXTURE(Tuned, "a cubin of an older source or header is not loaded even for a result that names it") {
  const auto old_choice = choose(load());
  for (const char* file : {"twice.cu", "twice.cuh"}) {
    CAPTURE(file);
    write_bytes(place / file, files.at(file) + "// changed\n");
    CHECK_FALSE(store.find(request(load(), configuration(64)), old_choice, layers).has_value());
    restore();
  }
  CHECK(store.find(request(load(), configuration(64)), old_choice, layers).has_value());
}

TEST_CASE_FIXTURE(Tuned, "compiled code in the cache is found by its source, header and options alone") {
  const auto code = store.compile(request(load(), configuration(64)));
  const std::vector<runtime::Layer> none;
  const auto found = [&] { return store.find(request(load(), configuration(64)), {}, none).has_value(); };
  CHECK(found());
  for (const auto& [file, from, to] : std::vector<std::array<std::string, 3>>{
           {"twice.cu", "i < n", "i <n"}, {"twice.cuh", "2 * x", "2 *x"}, {"template.json", "-DEXTRA=1", "-DEXTRA=2"}}) {
    CAPTURE(file);
    write_bytes(place / file, replaced_once(files.at(file), from, to));
    CHECK_FALSE(found());
    restore();
  }
  CHECK(found());
}

TEST_CASE_FIXTURE(Tuned, "a header of the working directory is never compiled in the place of the template's") {
  const fs::path before = fs::current_path();
  fs::create_directory(folder / "elsewhere");
  write_bytes(folder / "elsewhere/twice.cuh", "#error a stranger's header\n");
  fs::current_path(folder / "elsewhere");
  const auto kernel = load();
  std::string failure;
  try {
    static_cast<void>(store.compile(request(kernel, configuration(256))));
  } catch (const CompileError& error) {
    failure = error.log();
  }
  fs::current_path(before);
  CHECK(failure == "");
}

}  // namespace test_stale
