#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::report {

/// A tuned configuration of a problem on one of the table's devices.
struct TunedRow {
  std::size_t device = 0;
  spec::Problem problem;
  spec::Configuration configuration;
  double median_us = 0;
};

/// What databases hold of one version of a template and one policy, in an order that depends on nothing but what they hold: devices by
/// architecture and name, then types and choices, then sizes, all ascending.
struct TunedTable {
  std::string policy;
  std::vector<spec::DeviceInfo> devices;
  std::vector<TunedRow> rows;
  std::vector<std::string> left_out;  ///< rows that cannot be in a table, and why
};

/// Where several databases have a result for the same problem on the same device, that of the first counts. Unverified results are no part
/// of it.
[[nodiscard]] TunedTable tuned_table(const spec::KernelTemplate& kernel, const std::string& policy,
                                     const std::vector<const db::Database*>& databases);

}  // namespace attune::report
