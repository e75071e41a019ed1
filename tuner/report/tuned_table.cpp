#include "tuner/report/tuned_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"

namespace attune::report {
namespace {

using Devices = std::map<std::string, spec::DeviceInfo>;  // by hard key

/// The numbers of the axes' values, in the order in which the template declares them, then the sizes.
using ProblemPlace = std::tuple<std::vector<std::size_t>, std::vector<std::string>, std::vector<std::int64_t>>;
ProblemPlace place_of(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  ProblemPlace place;
  for (const auto& axis : kernel.problem) {
    if (axis.kind == spec::AxisKind::Size) {
      std::get<2>(place).push_back(problem.sizes.at(axis.name));
      continue;
    }
    const std::string chosen = spec::choice_of(kernel, problem, axis.name);
    if (axis.kind == spec::AxisKind::Code)
      std::get<1>(place).push_back(chosen);
    else
      std::get<0>(place).push_back(
          static_cast<std::size_t>(std::find(axis.values.begin(), axis.values.end(), chosen) - axis.values.begin()));
  }
  return place;
}

void read_devices(const db::Database& database, Devices& known, std::vector<std::string>& left_out) {
  for (const auto& device : database.devices()) {
    try {
      known.try_emplace(device.hard_key, spec::DeviceInfo::from_json(base::parse_json(device.info_json)));
    } catch (const Error& error) {
      left_out.push_back(fmt::format("device {}: {}", device.hard_key, error.what()));
    }
  }
}

/// What is stored first under a problem and device counts.
using RowsByPlace = std::map<std::pair<std::string, std::string>, db::BestRow>;

TunedRow read_row(const spec::KernelTemplate& kernel, const db::BestRow& row) {
  TunedRow read;
  read.problem = spec::canonical(kernel, spec::problem_from_text(row.problem));
  spec::validate(kernel, read.problem);
  read.configuration = spec::configuration_from_text(kernel, row.configuration);
  read.median_us = row.median_us;
  return read;
}

}  // namespace

TunedTable tuned_table(const spec::KernelTemplate& kernel, const std::string& policy, const std::vector<const db::Database*>& databases) {
  TunedTable table;
  table.policy = policy;
  Devices known;
  RowsByPlace best;
  db::Query query;
  query.template_hash = kernel.content_hash;
  query.policy = policy;
  query.objective = db::kTime;
  for (const auto* const database : databases) {
    read_devices(*database, known, table.left_out);
    for (auto& row : database->best(query)) {
      auto key = std::pair{row.device_key, row.problem};
      best.try_emplace(std::move(key), std::move(row));
    }
  }
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<TunedRow>> by_device;  // architecture, name, key
  for (const auto& [key, row] : best) {
    try {
      const auto device = known.find(row.device_key);
      if (device == known.end()) throw Error("its device is not described");
      by_device[{device->second.architecture, device->second.name, row.device_key}].push_back(read_row(kernel, row));
    } catch (const Error& error) {  // a row of a crafted or damaged file must not keep the others out
      table.left_out.push_back(fmt::format("{} on {}: {}", row.problem, row.device_key, error.what()));
    }
  }
  for (auto& [device, rows] : by_device) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return place_of(kernel, a.problem) < place_of(kernel, b.problem); });
    for (auto& row : rows) {
      row.device = table.devices.size();
      table.rows.push_back(std::move(row));
    }
    table.devices.push_back(known.at(std::get<2>(device)));
  }
  return table;
}

}  // namespace attune::report
