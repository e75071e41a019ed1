// attune devices: the GPUs of this machine and those the database knows.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/gpu/driver.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct DevicesOptions {
  std::string database;
  bool json_output = false;
};

int devices(const DevicesOptions& options) {
  const std::string unavailable = gpu::Driver::unavailable_reason();
  std::vector<spec::DeviceInfo> here;
  if (unavailable.empty()) {
    for (int ordinal = 0; ordinal < gpu::device_count(); ++ordinal) here.push_back(gpu::read_device(ordinal));
  }
  std::vector<spec::DeviceInfo> known;
  const auto path = database_path(options.database);
  if (std::filesystem::exists(path)) {
    for (const auto& row : db::Database::open(path, db::OpenMode::ReadOnly).devices()) {
      known.push_back(spec::DeviceInfo::from_json(base::parse_json(row.info_json)));
    }
  }
  if (options.json_output) {
    json out = {{"here", json::array()}, {"known", json::array()}};
    if (!unavailable.empty()) out["unavailable"] = unavailable;
    for (const auto& device : here) out["here"].push_back(device.to_json());
    for (const auto& device : known) out["known"].push_back(device.to_json());
    print_json(out, 1);
    return 0;
  }
  const auto table = [](const std::vector<spec::DeviceInfo>& list) {
    TextTable text({"#", "name", "arch", "SMs", "L2 MiB", "bus bits", "driver", "key"});
    int ordinal = 0;
    for (const auto& device : list) {
      text.add({std::to_string(ordinal++), device.name, device.architecture, std::to_string(device.sm_count),
                std::to_string(device.l2_bytes >> 20), std::to_string(device.memory_bus_bits), device.driver,
                device.hard_key().substr(0, 12)});
    }
    return text.text();
  };
  if (here.empty())
    base::print("No GPU here: {}\n", unavailable);
  else
    base::print("On this machine\n{}", base::Lines{table(here)});
  if (!known.empty()) base::print("\nIn {}\n{}", path.string(), base::Lines{table(known)});
  return 0;
}

}  // namespace

void add_devices_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<DevicesOptions>();
  auto* command = app.add_subcommand("devices", "List the GPUs of this machine and those the database knows");
  command->add_option("--db", options->database, "Database file");
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->callback([options, &context] { context.action = [options] { return devices(*options); }; });
}

}  // namespace attune::tools
