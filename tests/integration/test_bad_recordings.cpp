// Recordings that are damaged or made to do harm, given to the real command: exit code 3 and the name of the file, never a crash.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/zstd.hpp"

namespace test_bad_recordings {

using namespace attune;
using nlohmann::json;
using test::Cli;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Recordings : Cli {
  std::string text = unpacked();

  [[nodiscard]] std::string unpacked() const {
    const std::string bytes = read(std::filesystem::path(recording).filename().string());
    return recording.ends_with(".zst") ? base::decompress(bytes, 100000000) : bytes;
  }
  /// What the command says, plain and packed, replaying and making a layer: each time 3 and the name.
  void expect(const std::string& changed, const std::string& part) const {
    for (const char* const name : {"hostile.json", "hostile.json.zst"}) {
      write(name, std::string(name).ends_with(".zst") ? base::compress(changed, 1) : changed);
      const std::string path = (folder / name).string();
      for (const auto& words : std::vector<std::vector<std::string>>{{"tune", kernel, "--T", "f32", "--size", "1000", "--replay", path},
                                                                     {"layer", path, "-o", (folder / "layer.db").string()}}) {
        const auto result = attune(words);
        CAPTURE(words[0]);
        CAPTURE(name);
        CAPTURE(result.err);
        CHECK(result.exit_code == 3);
        CHECK(contains(result.err, path));
        CHECK(contains(result.err, part));
        CHECK(result.err.size() < 5000);
        CHECK_FALSE(std::filesystem::exists(folder / "layer.db"));
      }
    }
  }
  [[nodiscard]] std::string with(const char* place, const json& value) const {
    json file = base::parse_json(text);
    file[json::json_pointer(place)] = value;
    return base::dump_json(file);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Recordings, "a recording nested deeply is refused by name and not walked") {
  std::string deep = text;
  deep.insert(1, "\"x\":" + std::string(1000000, '[') + std::string(1000000, ']') + ",");
  expect(deep, "nested more than 16 deep");
  deep = text;
  const auto at = deep.find("\"problem\":{") + 11;
  deep.insert(at, "\"x\":" + std::string(1000000, '[') + std::string(1000000, ']') + ",");
  expect(deep, "nested more than 16 deep");
}

TEST_CASE_FIXTURE(Recordings, "a number that no double holds is told with file, line and column") {
  std::string large = text;
  const auto at = large.find("\"read_ceiling_bytes_per_s\":");
  large.replace(at, large.find_first_of(",}", at) - at, "\"read_ceiling_bytes_per_s\":1e400");
  expect(large, "the number 1e400 is out of range");
}

TEST_CASE_FIXTURE(Recordings, "figures that do not fit are refused by file and field") {
  expect(with("/device/sm_count", (std::int64_t{1} << 32) + 132), "field 'sm_count'");
  expect(with("/problems/0/space_size", -1), "problems[0]: field 'space_size'");
  expect(with("/problems/0/work_bytes", 18446744073709551615ull), "problems[0]: field 'work_bytes'");
  expect(with("/problems/0/rounds_us/0/0", -5), "problems[0]: rounds_us[0]");
  expect(with("/problems/0/rounds_us/0/0", "NaN"), "problems[0]: rounds_us[0]");
  expect(with("/date", "yesterday"), "field 'date'");
}

TEST_CASE_FIXTURE(Recordings, "a file of kilobytes that unpacks to gigabytes is refused before it takes them") {
  const std::string frame = base::compress(std::string(std::size_t{64} << 20, ' '), 1);
  std::string bomb;
  for (int i = 0; i < 96; ++i) bomb += frame;
  write("bomb.json.zst", bomb);
  const auto result = attune({"tune", kernel, "--T", "f32", "--size", "1000", "--replay", (folder / "bomb.json.zst").string()});
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "bomb.json.zst"));
  CHECK(contains(result.err, "they unpack to more than"));
}

TEST_CASE_FIXTURE(Recordings, "empty and cut files, and what is no text, are refused by name") {
  expect("", "truncated");
  expect(text.substr(0, text.size() / 2), "truncated");
  expect(text + '\0', "zero byte");
  expect("\xFF\xFE\xFD", "damaged");
}

TEST_CASE_FIXTURE(Recordings, "a layer is not built from a recording of a template that is not there; the file is named") {
  for (const char* name : {"", "nosuch"}) {
    write("unknown.json", with("/template", name));
    const std::string path = (folder / "unknown.json").string();
    const auto result = attune({"layer", path, "-o", (folder / "layer.db").string()});
    CAPTURE(result.err);
    CHECK(result.exit_code == 3);
    CHECK(contains(result.err, path));
    CHECK_FALSE(std::filesystem::exists(folder / "layer.db"));
  }
}

TEST_CASE_FIXTURE(Recordings, "recordings beside a template that others could have put there are not replayed unless they are named") {
  const auto place = folder / "double_it" / "recordings";
  std::filesystem::create_directories(place);
  std::filesystem::permissions(place, std::filesystem::perms(0700));
  write("double_it/recordings/mine.json.zst", base::compress(text, 1));
  const std::vector<std::string> words = {"tune", kernel, "--T", "f32", "--size", "1000"};
  const std::map<std::string, std::string> no_gpu = {{"CUDA_VISIBLE_DEVICES", ""}};
  CHECK(attune(words, no_gpu).exit_code == 0);
  std::filesystem::permissions(place, std::filesystem::perms(0777));
  const auto refused = attune(words, no_gpu);
  CAPTURE(refused.err);
  CHECK(refused.exit_code == 4);
  CHECK(contains(refused.err, "chmod go-w '" + place.string() + "'"));
  auto named = words;
  named.insert(named.end(), {"--replay", (place / "mine.json.zst").string()});
  CHECK(attune(named, no_gpu).exit_code == 0);
}

}  // namespace test_bad_recordings
