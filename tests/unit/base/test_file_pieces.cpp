#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/file_pieces.hpp"

namespace test_file_pieces {

using namespace attune;
using base::FilePieces;

namespace {

struct File {
  attune::test::TempFolder folder;
  std::filesystem::path path = folder / "file";

  void write(std::size_t bytes) const { test::write_bytes(path, std::string(bytes, 'a')); }
};

}  // namespace

TEST_CASE_FIXTURE(File, "a file comes in whole pieces and what is left, and then nothing") {
  write(2 * FilePieces::kPieceBytes + 3);
  FilePieces pieces(path);
  CHECK(pieces.bytes() == 2 * FilePieces::kPieceBytes + 3);
  CHECK(pieces.next().size() == FilePieces::kPieceBytes);
  CHECK(pieces.next().size() == FilePieces::kPieceBytes);
  CHECK(pieces.next() == "aaa");
  CHECK(pieces.next().empty());
  CHECK(pieces.next().empty());
  write(0);
  CHECK(FilePieces(path).next().empty());
}

TEST_CASE_FIXTURE(File, "a file that is shortened while it is read is an error that names it") {
  write(FilePieces::kPieceBytes + 3);
  FilePieces pieces(path);
  CHECK_FALSE(pieces.next().empty());
  std::filesystem::resize_file(path, 5);
  const std::string expected = "failed reading " + path.string() + ": it was shortened meanwhile; start again when nobody writes to it";
  CHECK_THROWS_WITH_AS(static_cast<void>(pieces.next()), expected.c_str(), EnvironmentError);
}

TEST_CASE_FIXTURE(File, "what is written behind the end of a file that is read is left out") {
  write(3);
  FilePieces pieces(path);
  std::filesystem::resize_file(path, 10);
  CHECK(pieces.next() == "aaa");
  CHECK(pieces.next().empty());
}

TEST_CASE_FIXTURE(File, "a folder is no file to read, and none is an error") {
  CHECK_THROWS_AS(FilePieces(folder.path()), EnvironmentError);
  CHECK_THROWS_AS(FilePieces(folder / "none"), EnvironmentError);
}

}  // namespace test_file_pieces
