#include "tuner/report/ladder_rows.hpp"

#include <nlohmann/json.hpp>

#include "tuner/report/rows.hpp"

namespace attune::report {
namespace {

using nlohmann::json;

/// The member when it is an array, else an empty one.
const json& array_at(const json& object, const char* key) {
  static const json empty = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}

std::uint64_t count_at(const json& object, const char* key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_at(object, key).value_or(0)));
}

std::string configuration_at(const json& object) {
  const auto found = object.find("configuration");
  return found != object.end() && found->is_object() ? found->dump() : "";
}

LadderRung read_rung(const json& from) {
  LadderRung rung;
  rung.name = text_at(from, "name");
  rung.why = text_at(from, "why");
  rung.where = text_at(from, "where");
  rung.configurations = count_at(from, "configurations");
  if (integer_at(from, "decided")) rung.decided = count_at(from, "decided");
  rung.failed = count_at(from, "failed");
  rung.configuration = configuration_at(from);
  rung.median_us = number_at(from, "median_us");
  rung.ratio = number_at(from, "ratio");
  rung.step = number_at(from, "step");
  rung.bytes_per_s = number_at(from, "bytes_per_s");
  rung.ceiling_share = number_at(from, "ceiling_share");
  rung.operations_per_s = number_at(from, "operations_per_s");
  rung.peak_share = number_at(from, "peak_share");
  rung.screened = from.value("screened", json()) == json(true);
  for (const json& figure : array_at(from, "published")) {
    if (figure.is_object()) rung.published.push_back({text_at(figure, "text"), text_at(figure, "hardware"), text_at(figure, "source")});
  }
  return rung;
}

LadderTable read_table(const json& from) {
  LadderTable table{text_at(from, "parameter"), text_at(from, "rung"), {}};
  for (const json& cell : array_at(from, "cells")) {
    const auto us = cell.is_object() ? number_at(cell, "median_us") : std::nullopt;
    if (us) table.cells.emplace_back(text_at(cell, "value"), *us);
  }
  return table;
}

}  // namespace

std::optional<Ladder> read_ladder(const db::SessionRow& row) {
  const json summary = parse_object(row.summary_json);
  const auto from = summary.find("ladder");
  if (from == summary.end() || !from->is_object()) return std::nullopt;
  Ladder ladder;
  ladder.summary = text_at(*from, "summary");
  ladder.ran_off = from->value("ran_off", json()) == json(true);
  ladder.finished_at = row.finished_at;
  ladder.ceiling_bytes_per_s = number_at(*from, "read_ceiling_bytes_per_s");
  for (const json& rung : array_at(*from, "rungs")) {
    if (rung.is_object()) ladder.rungs.push_back(read_rung(rung));
  }
  for (const json& table : array_at(*from, "tables")) {
    if (table.is_object()) ladder.tables.push_back(read_table(table));
  }
  return ladder;
}

}  // namespace attune::report
