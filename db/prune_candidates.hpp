#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/prune.hpp"
#include "db/statements.hpp"

namespace attune::db {

/// What a file holds, as far as deciding what goes needs it. Of records only those that may go are kept: there may be ten million.
struct PruneCandidates {
  static constexpr std::int64_t kUndated = INT64_MAX;  ///< of a row whose date cannot be read: it counts as the newest
  static constexpr std::uint64_t kTextBytes = 50;      ///< what a row of a text takes beside it

  /// A problem under one version of a template on one device under one policy.
  struct Problem {
    std::string template_hash, device_key;
    bool asked = false;             ///< template and device are those of the request
    bool running = false;           ///< a run is tuning it: all of it stays
    std::uint64_t rows = 0;         ///< records and best rows
    std::vector<std::size_t> best;  ///< in `best`
    [[nodiscard]] bool may_go() const { return asked && !running; }
  };
  struct Record {
    std::uint64_t id = 0;
    std::int64_t at_us = 0;
    std::uint32_t problem = 0, bytes = 0;
  };
  struct Best {
    std::uint64_t row = 0;
    std::int64_t at_us = 0;
    std::uint64_t bytes = 0;  ///< without its record
    std::uint32_t problem = 0, record_bytes = 0;
    bool may_go = false;       ///< it and its record
    bool superseded = false;   ///< a newer version of its template has a newer result of the same
    std::uint64_t record = 0;  ///< id; 0: there is none
    std::string configuration_key, cubin_key;
  };
  struct Session {
    std::uint64_t row = 0;
    std::int64_t at_us = 0;
    std::uint32_t problem = 0, bytes = 0;
    bool may_go = false;
    bool newest = false;  ///< of its problem
  };
  struct Cubin {
    std::uint64_t row = 0, bytes = 0;
  };
  /// Texts that rows share: one goes once nothing names it.
  struct Texts {
    std::uint64_t count = 0, bytes = 0;
  };

  std::vector<Problem> problems;
  std::vector<Record> records;  ///< may go, and no best row names them
  std::vector<Best> best;
  std::vector<Session> sessions;
  std::unordered_map<std::string, Cubin> cubins;  ///< by key
  Texts problem_texts, configuration_texts;
  std::uint64_t bytes = 0;  ///< of all rows of all tables, by their contents: less than they take in the file
};

/// Requires: as plan_prune. Throws: what SQLite throws.
[[nodiscard]] PruneCandidates prune_candidates(StatementCache& statements, const PruneRequest& request);

}  // namespace attune::db
