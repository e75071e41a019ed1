#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tuner/runtime/append_table.hpp"

namespace test_append_table {

using attune::runtime::AppendTable;
using attune::runtime::mix;

namespace {

constexpr auto kAny = [](const int&) { return true; };

}  // namespace

TEST_CASE("an empty table finds nothing") { CHECK(AppendTable<int>().find(7, kAny) == nullptr); }

TEST_CASE("entries stay findable while the table grows") {
  std::vector<std::unique_ptr<int>> values;
  AppendTable<int> table;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::make_unique<int>(i));
    table.insert(mix(0, static_cast<std::uint64_t>(i)), values.back().get());
  }
  CHECK(table.size() == 1000);
  for (int i = 0; i < 1000; ++i) {
    const int* found = table.find(mix(0, static_cast<std::uint64_t>(i)), [&](const int& value) { return value == i; });
    REQUIRE(found != nullptr);
    CHECK(*found == i);
  }
  CHECK(table.find(mix(0, 1000), [](const int& value) { return value == 1000; }) == nullptr);
}

TEST_CASE("entries of one hash are told apart by the caller") {
  int first = 1, second = 2;
  AppendTable<int> table;
  table.insert(5, &first);
  table.insert(5, &second);
  CHECK(table.find(5, [](const int& value) { return value == 2; }) == &second);
  CHECK(table.find(5, kAny) == &first);
  CHECK(table.find(5, [](const int&) { return false; }) == nullptr);
  CHECK(table.find(5 + 16, kAny) == nullptr);  // the same slot, another hash
}

TEST_CASE("readers see every published entry while a writer appends") {
  constexpr int kEntries = 20000;
  std::vector<int> values(kEntries);
  AppendTable<int> table;
  std::atomic<int> published{0};
  std::atomic<int> missed{0};
  const auto read = [&] {
    for (int known = 0; known < kEntries; known = published.load(std::memory_order_acquire)) {
      if (known == 0) continue;
      const int wanted = known - 1;
      const int* found = table.find(mix(1, static_cast<std::uint64_t>(wanted)), [&](const int& value) { return value == wanted; });
      if (found == nullptr) missed.fetch_add(1);
    }
  };
  std::thread one(read), two(read);
  for (int i = 0; i < kEntries; ++i) {
    values[static_cast<std::size_t>(i)] = i;
    table.insert(mix(1, static_cast<std::uint64_t>(i)), &values[static_cast<std::size_t>(i)]);
    published.store(i + 1, std::memory_order_release);
  }
  one.join();
  two.join();
  CHECK(missed.load() == 0);
}

TEST_CASE("a replaced entry is found no more, its successor is, and others of its hash stay") {
  int first = 1, second = 2, fresh = 3;
  AppendTable<int> table;
  table.insert(5, &first);
  table.insert(5, &second);
  CHECK(table.replace(5, &second, &fresh));
  CHECK(table.find(5, [](const int& value) { return value == 2; }) == nullptr);
  CHECK(table.find(5, [](const int& value) { return value == 3; }) == &fresh);
  CHECK(table.find(5, kAny) == &first);
  CHECK_FALSE(table.replace(5, &second, &fresh));
  CHECK(table.size() == 2);
}

TEST_CASE("readers always find the old entry or the new one while entries are replaced and the table grows") {
  constexpr int kReplacements = 20000;
  std::vector<int> values(kReplacements);
  AppendTable<int> table;
  table.insert(7, &values[0]);
  std::atomic<bool> done{false};
  std::atomic<int> missed{0};
  const auto read = [&] {
    while (!done.load(std::memory_order_acquire)) {
      if (table.find(7, kAny) == nullptr) missed.fetch_add(1);
    }
  };
  std::thread one(read), two(read);
  for (int i = 1; i < kReplacements; ++i) {
    table.replace(7, &values[static_cast<std::size_t>(i - 1)], &values[static_cast<std::size_t>(i)]);
    if (i % 20 == 0) table.insert(mix(1, static_cast<std::uint64_t>(i)), &values[0]);
  }
  done.store(true, std::memory_order_release);
  one.join();
  two.join();
  CHECK(missed.load() == 0);
}

}  // namespace test_append_table
