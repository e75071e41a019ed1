#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "db/database.hpp"

namespace attune::db {

/// The result of tuning one problem, apart from any file: what dispatch needs of it.
struct TunedProblem {
  DeviceRow device;
  BestRow best;
  std::optional<std::string> cubin;  ///< stored under `best.cubin_key`
};

/// The result for `best` out of a database. Throws: DatabaseError when its device is not described there.
[[nodiscard]] TunedProblem tuned_problem(const Database& database, const BestRow& best);
/// Stores all of it in one transaction. Throws: DatabaseError.
void put(Database& database, const TunedProblem& tuned);

/// For a message between processes of one build; not a file format. Cubins are byte strings (CBOR).
[[nodiscard]] nlohmann::json to_message(const TunedProblem& tuned);
/// Throws: nlohmann::json::exception on anything else.
[[nodiscard]] TunedProblem tuned_problem_from(const nlohmann::json& message);

}  // namespace attune::db
