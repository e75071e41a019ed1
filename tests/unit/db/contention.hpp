#pragma once
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/db/exchange_fixture.hpp"

namespace attune::db::test {

/// Keys that every writer writes, as a record and as a best row. Who wins is known by construction:
///   index % 3 == 0  the writer index % writers has the newest row
///   index % 3 == 1  all are of one date; the writer index % writers is the fastest
///   index % 3 == 2  all are of one date and time; the content decides: the greatest driver text, the last writer's
inline constexpr int kSharedKeys = 12;

inline std::string writer_name(int writer) { return "writer-" + std::string(writer < 10 ? "0" : "") + std::to_string(writer); }

inline std::string winner_of(int index, int writers) { return writer_name(index % 3 == 2 ? writers - 1 : (7 * index) % writers); }

template <class Row>
void fill_shared(Row& row, int index, int writer, int writers) {
  const bool wins = writer == (7 * index) % writers;
  row.policy = "shared-" + std::to_string(100 + index);
  row.driver = writer_name(writer);
  row.recorded_at = index % 3 == 0 && wins ? "2026-11-20T13:00:00.000001Z" : "2026-11-20T13:00:00Z";
  row.median_us = index % 3 == 1 && wins ? 1 : 2;
}

template <class Row>
bool is_shared(const Row& row) {
  return row.policy.starts_with("shared-");
}
template <class Row>
int shared_index(const Row& row) {
  return std::stoi(row.policy.substr(7)) - 100;
}

/// Calls `store` with the rows of one writer, in an order of its own: `count` records that are its alone, and its version
/// of every shared one.
template <class StoreRecord, class StoreBest>
void write_contended(int writer, int writers, int count, const StoreRecord& store_record, const StoreBest& store_best) {
  std::vector<int> jobs(static_cast<std::size_t>(count + 2 * kSharedKeys));
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = static_cast<int>(i);
  std::shuffle(jobs.begin(), jobs.end(), std::mt19937(static_cast<unsigned>(writer)));
  for (const int job : jobs) {
    if (job < count) {
      store_record(real_record(1000 + writer * count + job));
    } else if (job < count + kSharedKeys) {
      RecordRow row = real_record(0);
      fill_shared(row, job - count, writer, writers);
      store_record(row);
    } else {
      BestRow row = real_best("1024");
      row.detail_json = R"({"origin":"measured"})";
      fill_shared(row, job - count - kSharedKeys, writer, writers);
      store_best(row);
    }
  }
}

}  // namespace attune::db::test
