#pragma once
#include <string>

#include "db/database.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::test {

/// A best row as a tuning session leaves it. `chosen`: the configuration, as spec::to_text writes it. `source_key`: of the
/// stored cubin, when there is to be one.
inline db::BestRow best_row(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& donor,
                            const std::string& chosen, const std::string& source_key = "") {
  db::BestRow row;
  row.template_hash = kernel.content_hash;
  row.template_name = kernel.name;
  row.family = spec::family_text(problem);
  row.problem = spec::to_text(problem);
  row.sizes_json = base::dump_json(nlohmann::json(problem.sizes));
  row.device_key = donor.hard_key();
  row.policy = "cold/graph";
  row.configuration = chosen;
  row.median_us = 3.5;
  row.driver = donor.driver;
  row.recorded_at = "2026-11-20T13:17:05Z";
  row.detail_json = source_key.empty() ? "{}" : base::dump_json(nlohmann::json{{"source_key", source_key}});
  return row;
}

inline db::DeviceRow device_row(const spec::DeviceInfo& device) {
  return {device.hard_key(), device.hard_json(), base::dump_json(device.to_json())};
}

}  // namespace attune::test
