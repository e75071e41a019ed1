#include "bench/support/score_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/output_file.hpp"

namespace attune::bench {
namespace {

using Name = std::tuple<std::string, std::string, bool>;

Name name_of(const Json& row) {
  try {
    return {row.at("file").get<std::string>(), row.at("strategy").get<std::string>(), row.at("warm").get<bool>()};
  } catch (const Json::exception& error) {
    throw Error(fmt::format("failed naming a row of scores: {}", error.what()));
  }
}

bool by_name(const Json& a, const Json& b) { return name_of(a) < name_of(b); }

}  // namespace

ScoreTable::ScoreTable(std::filesystem::path path, std::string bench) : path_(std::move(path)), bench_(std::move(bench)) {
  if (!std::filesystem::exists(path_)) return;
  try {
    const Json file = parse_json(base::read_file(path_));
    if (file.at("bench") != bench_) throw UsageError(fmt::format("{} is no result of bench/{}; name another file", path_.string(), bench_));
    for (const Json& row : file.at("rows")) put(row);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("failed reading the scores in {}: {}; remove it, or name another file", path_.string(), error.what()));
  }
}

bool ScoreTable::has(const Json& conditions) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Json& row) {
    return std::all_of(conditions.items().begin(), conditions.items().end(),
                       [&](const auto& item) { return row.contains(item.key()) && row[item.key()] == item.value(); });
  });
}

void ScoreTable::put(Json row) {
  const Name name = name_of(row);
  const auto place = std::lower_bound(rows_.begin(), rows_.end(), row, by_name);
  if (place != rows_.end() && name_of(*place) == name) {
    *place = std::move(row);
  } else {
    rows_.insert(place, std::move(row));
  }
}

void ScoreTable::write(const Json& header) const {
  Json file{{"bench", bench_}};
  file.update(header);
  std::string text = dump_json(file, 1);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n \"rows\": [";
  for (const Json& row : rows_) text += (&row == &rows_.front() ? "\n  " : ",\n  ") + dump_json(row);
  std::error_code failure;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), failure);
  if (failure) {
    throw EnvironmentError(fmt::format("failed creating the results folder {}: {}; choose another with --output",
                                       path_.parent_path().string(), failure.message()));
  }
  base::write_output(path_, text + "\n ]\n}\n");
}

}  // namespace attune::bench
