#include <doctest/doctest.h>
#include <fcntl.h>

#include <cerrno>
#include <string>

#include "tests/support/temp_folder.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/range_lock.hpp"

namespace test_range_lock {

using namespace attune::base;

namespace {

struct TwoOpenings {
  attune::test::TempFolder folder;
  FileDescriptor one{open_it()}, other{open_it()};

  [[nodiscard]] int open_it() const { return ::open((folder / "locks").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }
};

}  // namespace

TEST_CASE_FIXTURE(TwoOpenings,
                  "who locks bytes alone keeps every other opening of the file from them, until they are freed or it is closed") {
  CHECK(set_range_lock(one.get(), RangeLock::Alone, 10, 2) == Locking::Done);
  for (const auto lock : {RangeLock::Alone, RangeLock::Shared}) {
    CHECK(set_range_lock(other.get(), lock, 11, 1) == Locking::HeldByAnother);
    CHECK(set_range_lock(other.get(), lock, 12, 1) == Locking::Done);
  }
  CHECK(set_range_lock(one.get(), RangeLock::None, 11, 1) == Locking::Done);
  CHECK(set_range_lock(other.get(), RangeLock::Alone, 11, 1) == Locking::Done);
  CHECK(set_range_lock(other.get(), RangeLock::Alone, 10, 1) == Locking::HeldByAnother);
  one.close();
  CHECK(set_range_lock(other.get(), RangeLock::Alone, 10, 1) == Locking::Done);
}

TEST_CASE_FIXTURE(TwoOpenings, "bytes that are shared are shared by all, and alone nobody's") {
  CHECK(set_range_lock(one.get(), RangeLock::Shared, 0, 1) == Locking::Done);
  CHECK(set_range_lock(other.get(), RangeLock::Shared, 0, 1) == Locking::Done);
  CHECK(set_range_lock(other.get(), RangeLock::Alone, 0, 1) == Locking::HeldByAnother);
}

TEST_CASE_FIXTURE(TwoOpenings, "a length of 0 is everything from there on") {
  CHECK(set_range_lock(one.get(), RangeLock::Alone, 100, 0) == Locking::Done);
  CHECK(set_range_lock(other.get(), RangeLock::Alone, 1'000'000'000'000, 1) == Locking::HeldByAnother);
  CHECK(set_range_lock(other.get(), RangeLock::Alone, 99, 1) == Locking::Done);
}

TEST_CASE("what cannot be locked at all is told apart from what another has locked") {
  const Locking locking = set_range_lock(-1, RangeLock::Alone, 0, 1);
  const int why = errno;
  CHECK(locking == Locking::Failed);
  CHECK(why == EBADF);
}

}  // namespace test_range_lock
