#include "tuner/runtime/layers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

namespace fs = std::filesystem;

/// A cubin is machine code that runs with the user's rights on the device's memory: a file that others can write or
/// own is a source of configurations, never of code.
bool owned_by_user_alone(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & S_IWOTH) == 0;
}

/// A folder that may not be searched counts as one without the file.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void keep(OpenedLayers& opened, db::Database database, const fs::path& path, bool trusted) {
  for (const auto& notice : database.notices()) opened.notices.push_back(notice);
  opened.layers.push_back(Layer{std::move(database), path, trusted});
}

/// A default layer never stops a program: what is wrong with it becomes a notice.
void open_default(OpenedLayers& opened, const fs::path& path) {
  try {
    keep(opened, db::Database::open(path, db::OpenMode::ReadOnly), path, owned_by_user_alone(path));
  } catch (const DatabaseError& error) {
    opened.notices.push_back(fmt::format("{}; dispatching without it", error.what()));
  }
}

void open_user_default(OpenedLayers& opened) {
  fs::path path;
  try {
    path = db::default_path();
  } catch (const DatabaseError& error) {
    opened.notices.push_back(fmt::format("{}; dispatching without a database of the user's", error.what()));
    return;
  }
  if (is_there(path)) {
    open_default(opened, path);
  } else {
    opened.notices.push_back(
        fmt::format("no tuning database at {}: nothing was tuned by this user yet", path.string()));
  }
}

void open_shipped(OpenedLayers& opened) {
  const auto paths = shipped_database_paths();
  for (const auto& path : paths) {
    if (is_there(path)) return open_default(opened, path);
  }
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(path.string());
  opened.notices.push_back(fmt::format("no shipped database at {}", fmt::join(texts, ", ")));
}

std::map<std::string, spec::DeviceInfo> recorded_devices(const std::vector<Layer>& layers) {
  std::map<std::string, spec::DeviceInfo> devices;
  for (const auto& layer : layers) {
    for (const auto& row : layer.database.devices()) {
      devices.try_emplace(row.hard_key, spec::DeviceInfo::from_json(nlohmann::json::parse(row.info_json)));
    }
  }
  return devices;
}

}  // namespace

std::vector<fs::path> shipped_database_paths() {
  if (const char* named = std::getenv("ATTUNE_SHIPPED_DB"); named != nullptr && *named != '\0') return {named};
  std::vector<fs::path> paths{ATTUNE_INSTALLED_SHIPPED_DB, ATTUNE_BUILD_SHIPPED_DB};
  std::error_code no_proc;  // without /proc there is one place less to look
  const fs::path program = fs::read_symlink("/proc/self/exe", no_proc);
  if (!no_proc) paths.insert(paths.begin(), (program.parent_path() / "../share/attune/shipped.db").lexically_normal());
  return paths;
}

Layer open_layer(const fs::path& path, bool named) {
  return Layer{db::Database::open(path, db::OpenMode::ReadOnly), path, named || owned_by_user_alone(path)};
}

OpenedLayers open_layers(const std::vector<fs::path>& named) {
  OpenedLayers opened;
  for (const auto& path : named) {
    if (!is_there(path)) {
      throw UsageError(
          fmt::format("failed opening database layer {}: there is no such file; create it with `attune tune` or "
                      "leave it out of Options::databases",
                      path.string()));
    }
    keep(opened, db::Database::open(path, db::OpenMode::ReadOnly), path, true);
  }
  if (named.empty()) {
    open_user_default(opened);
    open_shipped(opened);
  }
  return opened;
}

spec::DeviceInfo device_by_name(const std::vector<Layer>& layers, const std::string& text) {
  const auto devices = recorded_devices(layers);
  std::vector<std::string> names;
  std::vector<const spec::DeviceInfo*> of_architecture;
  for (const auto& [key, device] : devices) {
    if (text == device.name || text == device.slug() || text == key) return device;
    names.push_back(device.name);
    if (text == device.architecture) of_architecture.push_back(&device);
  }
  if (of_architecture.size() == 1) return *of_architecture.front();
  if (of_architecture.size() > 1) {
    throw UsageError(fmt::format("failed choosing a device: several recorded ones are {}; name one of: {}", text,
                                 fmt::join(names, ", ")));
  }
  try {
    return spec::DeviceInfo::of_architecture(text);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("failed finding device '{}': no database layer has records of it ({}), and it is no known "
                    "architecture: {}",
                    text, names.empty() ? "none hold any" : fmt::format("{}", fmt::join(names, ", ")), error.what()));
  }
}

}  // namespace attune::runtime
