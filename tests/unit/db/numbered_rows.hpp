// Rows told apart by a number, and a run that stores them all: what a damaged file must still have.
#pragma once

#include <string>

#include "tests/unit/db/support.hpp"

namespace attune::db::test {

inline constexpr int kRecords = 240;
inline constexpr int kSizes = 24;

RecordRow numbered_record(int i, const std::string& date);
BestRow numbered_best(int i, const std::string& date);

/// A run over everything: reads and replaces every row, as a tuning run with --retry-failed of all sizes does.
void run_over(Database& database, const std::string& date);

/// Records and best rows that are not as a run of that date put them, or are missing.
int wrong_rows(const Database& database, const std::string& date);

/// The bytes of a database that holds the rows of one run, of 2026-11-20.
std::string sound_database();

}  // namespace attune::db::test
