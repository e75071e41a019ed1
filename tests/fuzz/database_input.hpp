#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace attune::test {

/// A database file and what may lie beside it, as one text: the file, then each of the others behind a line "@@ wal" or
/// "@@ journal".
struct DatabaseInput {
  std::string file, wal, journal;

  [[nodiscard]] static DatabaseInput read(const std::string& text);
  [[nodiscard]] std::string text() const;
};

/// The rollback journal that a process leaves when it dies while it changes these pages (from 1) of `file`. `super`: the file
/// that it says it belongs to, with other databases; SQLite reads that one, and removes it when it has played the journal back.
[[nodiscard]] std::string journal_of(const std::string& file, const std::vector<std::uint32_t>& pages, const std::string& super = {});

/// Pages swapped, copied, zeroed, cut; header fields, page headers and cells changed; frames of a WAL moved.
void change_database(std::string& input, std::mt19937_64& random);
/// Makes the checksums of WAL and journal match: without them SQLite sees nothing of what was changed.
void seal_database(std::string& input, std::mt19937_64& random);

}  // namespace attune::test
