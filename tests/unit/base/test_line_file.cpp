#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/line_file.hpp"
#include "tuner/base/zstd.hpp"

namespace test_line_file {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::Error;
using attune::SpecError;
using attune::test::TempFolder;
using attune::test::write_bytes;

namespace {

std::vector<std::string> lines_in(const fs::path& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (auto line = reader.next(); line; line = reader.next()) {
    lines.emplace_back(*line);
    CHECK(reader.line_number() == static_cast<int>(lines.size()));
  }
  return lines;
}

/// Short, empty and long ones, together longer than what is read at once.
std::vector<std::string> many_lines() {
  std::vector<std::string> lines{"", "one", std::string(700000, 'x'), ""};
  for (int i = 0; i < 20000; ++i) lines.push_back("line " + std::to_string(i * 7919));
  return lines;
}

}  // namespace

TEST_CASE("lines come back as they were written, compressed or not") {
  const TempFolder folder;
  for (const char* name : {"a.jsonl", "a.jsonl.zst"}) {
    CAPTURE(name);
    LineWriter writer(folder / name);
    for (const auto& line : many_lines()) writer.write(line);
    CHECK_FALSE(fs::exists(folder / name));  // not before it is whole
    writer.commit();
    CHECK(lines_in(folder / name) == many_lines());
  }
  CHECK(fs::file_size(folder / "a.jsonl.zst") < fs::file_size(folder / "a.jsonl") / 4);
  CHECK(decompress(read_file(folder / "a.jsonl.zst"), 1000000) == read_file(folder / "a.jsonl"));
}

TEST_CASE("a file that is not finished leaves the old one, and no other") {
  const TempFolder folder;
  write_bytes(folder / "a", "old\n");
  {
    LineWriter writer(folder / "a");
    for (const auto& line : many_lines()) writer.write(line);
  }
  CHECK(lines_in(folder / "a") == std::vector<std::string>{"old"});
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("an empty file has no lines, and a last line without an end is a file that was cut") {
  const TempFolder folder;
  write_bytes(folder / "empty", "");
  CHECK(lines_in(folder / "empty").empty());
  write_bytes(folder / "cut", "one\ntwo");
  LineReader reader(folder / "cut");
  CHECK(reader.next().value() == "one");
  CHECK_THROWS_WITH_AS((void)reader.next(), doctest::Contains("cut:2:1: the line does not end"), SpecError);
}

TEST_CASE("compressed data that is cut or damaged is an error") {
  const TempFolder folder;
  const std::string frame = compress(std::string(300000, 'a') + "\n", 3);
  write_bytes(folder / "cut.zst", frame.substr(0, frame.size() - 1));
  write_bytes(folder / "wrong.zst", "no zstd at all\n");
  for (const char* name : {"cut.zst", "wrong.zst"}) {
    CHECK_THROWS_WITH_AS((void)lines_in(folder / name), doctest::Contains(":1: truncated or damaged zstd"),
                         SpecError);  // at its end, or before
  }
}

TEST_CASE("a line longer than the limit is an error, however well it compresses") {
  const TempFolder folder;
  write_bytes(folder / "long.zst", compress(std::string(LineReader::kMaximumLine + (1 << 20), 'a'), 1));
  LineReader reader(folder / "long.zst");
  CHECK_THROWS_WITH_AS((void)reader.next(), doctest::Contains("long.zst:1:1: the line is longer than"), SpecError);
}

TEST_CASE("a file that unpacks to more than its size allows is refused before it does, with the bound and the remedy") {
  const TempFolder folder;
  std::string frame, bomb, large;
  for (int i = 0; i < 1024; ++i) frame += std::string(1023, 'a') + "\n";
  frame = compress(frame, 3);
  for (int i = 0; i < 200; ++i) bomb += frame;
  for (int i = 0; i < 100; ++i) large += frame;
  const std::uint64_t bound = LineReader::most_unpacked(bomb.size());
  REQUIRE(bound < std::uint64_t{200} << 20);
  write_bytes(folder / "bomb.zst", bomb);
  LineReader reader(folder / "bomb.zst");
  std::uint64_t given = 0;
  const auto read_all = [&] {
    for (auto line = reader.next(); line; line = reader.next()) given += line->size() + 1;
  };
  const std::string expected = "bytes unpack to more than " + std::to_string(bound) +
                               ", which is the limit for so small a file; if you trust it, unpack it (zstd -d)";
  CHECK_THROWS_WITH_AS(read_all(), doctest::Contains(expected.c_str()), SpecError);
  CHECK(given <= bound);
  CHECK(reader.line_number() > 0);
  write_bytes(folder / "large.zst", large);
  CHECK(lines_in(folder / "large.zst").size() == 100 * 1024);
}

TEST_CASE("lines that repeat each other however often are written so that they can be read again") {
  const TempFolder folder;
  const std::string line(1 << 20, 'x');
  {
    LineWriter writer(folder / "same.zst");
    for (int i = 0; i < 300; ++i) writer.write(line);
    writer.commit();
  }
  REQUIRE(LineReader::most_unpacked(0) < std::uint64_t{300} << 20);
  CHECK(fs::file_size(folder / "same.zst") < std::uint64_t{300} << 10);
  LineReader reader(folder / "same.zst");
  int same = 0;
  for (auto read = reader.next(); read; read = reader.next()) same += *read == line ? 1 : 0;
  CHECK(same == 300);
}

TEST_CASE("what is missing or cannot be written is an error that names the path") {
  const TempFolder folder;
  CHECK_THROWS_WITH_AS(LineReader{folder / "none"}, doctest::Contains("none"), attune::UsageError);
  CHECK_THROWS_WITH_AS(LineReader{folder.path()}, doctest::Contains("it is a folder"), attune::UsageError);
  CHECK_THROWS_WITH_AS(LineWriter{folder / "none/a"}, doctest::Contains("ENOENT"), Error);
}

TEST_CASE("a pipe that nobody writes to is waited for only as long as the caller wants") {
  const TempFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  int waited = 0;
  const auto third_time = [&] {
    if (++waited == 3) throw std::runtime_error("stopped");
  };
  CHECK_THROWS_WITH_AS((LineReader{folder / "pipe", third_time}), "stopped", std::runtime_error);
  CHECK(waited == 3);
}

}  // namespace test_line_file
