#include "db/row_message.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "db/tables.hpp"
#include "tuner/base/json.hpp"

namespace attune::db {
namespace {

using nlohmann::json;

template <class Row>
json fields_of(const Row& row) {
  json fields = json::array();
  for_each_column<Row>([&](const auto& column) { fields.push_back(row.*column.member); });
  return fields;
}

template <class Row>
Row told_row(const json& fields) {
  Row row;
  std::size_t next = 0;
  for_each_column<Row>([&](const auto& column) { fields.at(next++).get_to(row.*column.member); });
  return row;
}

}  // namespace

TunedProblem tuned_problem(const Database& database, const BestRow& best) {
  const auto devices = database.devices();
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceRow& row) { return row.hard_key == best.device_key; });
  if (device == devices.end()) {
    throw DatabaseError("", fmt::format("failed reading the result for {}: its device {} is not described", best.problem, best.device_key));
  }
  TunedProblem tuned{*device, best, std::nullopt};
  if (!best.cubin_key.empty()) tuned.cubin = database.cubin(best.cubin_key);
  return tuned;
}

void put(Database& database, const TunedProblem& tuned) {
  Database::Batch batch(database);
  database.put(tuned.device);
  if (tuned.cubin) database.put_cubin(tuned.best.cubin_key, *tuned.cubin, "{}");
  database.put(tuned.best);
  batch.commit();
}

json to_message(const TunedProblem& tuned) {
  json message = {{"device", fields_of(tuned.device)}, {"best", fields_of(tuned.best)}, {"cubin", nullptr}};
  if (tuned.cubin) message["cubin"] = base::json_of_bytes(*tuned.cubin);
  return message;
}

TunedProblem tuned_problem_from(const json& message) {
  TunedProblem tuned{told_row<DeviceRow>(message.at("device")), told_row<BestRow>(message.at("best")), std::nullopt};
  const json& cubin = message.at("cubin");
  if (!cubin.is_null()) tuned.cubin = base::bytes_of_json(cubin);
  return tuned;
}

}  // namespace attune::db
