#include "tuner/runtime/miss.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/candidate.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::runtime {
namespace {

using nlohmann::json;

bool within(double reach, std::int64_t asked, std::int64_t tuned) {
  if (asked <= 0 || tuned <= 0) return asked == tuned;
  const auto [smaller, larger] = std::minmax(asked, tuned);
  return static_cast<double>(larger) <= reach * static_cast<double>(smaller);
}

/// A row that names other sizes, or none, is far from everything; the lookup says what is wrong with it.
bool near(const std::string& sizes_json, const spec::Problem& problem, double reach) {
  const auto recorded = base::try_parse_json(sizes_json);
  if (!recorded.is_object() || recorded.size() != problem.sizes.size()) return false;
  return std::all_of(problem.sizes.begin(), problem.sizes.end(), [&](const auto& size) {
    const auto found = recorded.find(size.first);
    return found != recorded.end() && found->is_number_integer() && within(reach, size.second, found->template get<std::int64_t>());
  });
}

bool usable(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& configuration,
            const spec::DeviceInfo& device) {
  try {
    return !violated_constraint(kernel, problem, spec::configuration_from_text(kernel, configuration), device);
  } catch (const Error&) {  // not in the space, or a constraint does not evaluate here: the lookup passes it over too
    return false;
  }
}

/// A layer that turns out to be damaged has nothing.
template <class Holds>
bool any_layer(const std::vector<Layer>& layers, Holds&& holds) {
  return std::any_of(layers.begin(), layers.end(), [&](const Layer& layer) {
    try {
      return holds(layer.database);
    } catch (const DatabaseError&) {
      return false;
    }
  });
}

/// Another device with slower memory may have this device's key: the layer or the row tells.
bool is_of(const spec::DeviceInfo& device, const db::Database& database, const db::BestRow& row) {
  try {
    spec::DeviceInfo described;
    for (const auto& known : database.devices()) {
      if (known.hard_key == row.device_key) described = spec::DeviceInfo::from_json(base::parse_json(known.info_json));
    }
    return donor_of(row, described).memory_difference(device).empty();
  } catch (const std::exception&) {  // json and field errors: the lookup passes such a row over and says so
    return false;
  }
}

}  // namespace

bool is_miss(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
             const std::vector<Layer>& layers, const Wanted& wanted, double reach) {
  const bool nothing_to_do = std::any_of(problem.sizes.begin(), problem.sizes.end(), [](const auto& size) { return size.second == 0; });
  if (nothing_to_do) return false;
  const std::string device_key = device.hard_key();
  const std::string family = spec::family_text(problem);
  const auto objective = objective_of(kernel, wanted);
  if (!objective) return true;
  const db::Query exactly{kernel.content_hash, std::nullopt, spec::to_text(problem), device_key, wanted.policy, *objective};
  return !any_layer(layers, [&](const db::Database& database) {
    const auto row = database.best_of(exactly);  // first: a family may have a thousand other sizes
    return row && usable(kernel, problem, row->configuration, device) && is_of(device, database, *row);
  }) && !any_layer(layers, [&](const db::Database& database) {
    const auto rows = database.candidates(kernel.content_hash, family, wanted.policy);
    return std::any_of(rows.begin(), rows.end(), [&](const db::BestRow& row) {
      return row.device_key == device_key && row.objective == objective && near(row.sizes_json, problem, reach) &&
             usable(kernel, problem, row.configuration, device) && is_of(device, database, row);
    });
  });
}

std::string tune_command(const std::string& asked_name, const spec::Problem& problem, const Options& options) {
  std::string command = "attune tune " + base::shell_quoted(asked_name);
  for (const auto& [name, value] : problem.choices) command += fmt::format(" --{} {}", name, base::shell_quoted(value));
  for (const auto& [name, size] : problem.sizes) command += fmt::format(" --{} {}", name, size);
  if (options.policy != Options{}.policy) command += " --policy " + options.policy;
  for (const auto& folder : options.templates) command += " --template-folder " + base::shell_quoted(folder.string());
  if (!options.databases.empty()) command += " --db " + base::shell_quoted(options.databases.front().string());
  return command;
}

}  // namespace attune::runtime
