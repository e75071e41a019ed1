#include "tuner/runtime/layers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <map>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/private_path.hpp"

/// Where find_package(attune) found the installed one; of a source that it adds to programs (cmake/attuneConfig.cmake.in).
extern "C" __attribute__((weak)) const char* const attune_found_shipped_db;

namespace attune::runtime {
namespace {

namespace fs = std::filesystem;

/// The shipped file is usually root's or an administrator's, and holds no code: not using any is no news.
enum class WhenNotPrivate { Tell, Silent };

/// A folder that may not be searched counts as one without the file.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void keep(OpenedLayers& opened, db::Database database, const fs::path& path, bool trusted) {
  for (const auto& notice : database.notices()) opened.notices.push_back(notice);
  opened.layers.push_back(Layer{std::move(database), path, trusted});
}

/// A default layer never stops a program: what is wrong with it becomes a notice. A cubin is machine code that runs with the
/// user's rights: a file that others could have written is a source of configurations, which the lookup checks, never of code.
void open_default(OpenedLayers& opened, const fs::path& path, WhenNotPrivate when) {
  try {
    const std::string reason = base::why_not_private_database(path);
    keep(opened, db::Database::open(path, db::OpenMode::ReadOnly), path, reason.empty());
    if (reason.empty() || when == WhenNotPrivate::Silent) return;
    opened.notices.push_back(
        fmt::format("the compiled code in {} is not used, only its configurations: {}; make it yours alone, or name it in "
                    "Options::databases to say that you trust it",
                    path.string(), reason));
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
    open_default(opened, path, WhenNotPrivate::Tell);
  } else {
    opened.notices.push_back(fmt::format("no tuning database at {}: nothing was tuned by this user yet", path.string()));
  }
}

void open_shipped(OpenedLayers& opened) {
  const auto paths = shipped_database_paths();
  for (const auto& path : paths) {
    if (is_there(path)) return open_default(opened, path, WhenNotPrivate::Silent);
  }
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(path.string());
  opened.notices.push_back(fmt::format("no shipped database at {}", fmt::join(texts, ", ")));
}

/// None when the layer turns out to be damaged, which read_failure() then tells.
std::vector<db::DeviceRow> devices_of(const Layer& layer) {
  try {
    return layer.database.devices();
  } catch (const DatabaseError&) {
    return {};
  }
}

std::map<std::string, spec::DeviceInfo> recorded_devices(const std::vector<Layer>& layers) {
  std::map<std::string, spec::DeviceInfo> devices;
  for (const auto& layer : layers) {
    for (const auto& row : devices_of(layer)) {
      try {
        devices.try_emplace(row.hard_key, spec::DeviceInfo::from_json(base::parse_json(row.info_json)));
      } catch (const std::exception&) {
        continue;  // a row that cannot be read describes no device; the lookup says so of results that refer to it
      }
    }
  }
  return devices;
}

}  // namespace

std::vector<db::BestRow> candidates_of(const Layer& layer, const std::string& template_hash, const std::string& family,
                                       const std::string& policy) {
  try {
    return layer.database.candidates(template_hash, family, policy);
  } catch (const DatabaseError&) {
    return {};
  }
}

std::vector<fs::path> shipped_database_paths() {
  if (const char* named = std::getenv("ATTUNE_SHIPPED_DB"); named != nullptr && *named != '\0') return {named};
  std::vector<fs::path> paths{ATTUNE_INSTALLED_SHIPPED_DB};
#ifdef ATTUNE_BUILD_SHIPPED_DB
  paths.emplace_back(ATTUNE_BUILD_SHIPPED_DB);
#endif
  if (&attune_found_shipped_db != nullptr) paths.insert(paths.begin(), attune_found_shipped_db);
  std::error_code no_proc;  // without /proc there is one place less to look
  const fs::path program = fs::read_symlink("/proc/self/exe", no_proc);
  if (!no_proc) paths.insert(paths.begin(), (program.parent_path() / "../share/attune/shipped.db").lexically_normal());
  return paths;
}

Layer open_layer(const fs::path& path, bool named) {
  return Layer{db::Database::open(path, db::OpenMode::ReadOnly), path, named || base::why_not_private_database(path).empty()};
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
    throw UsageError(fmt::format("failed choosing a device: several recorded ones are {}; name one of: {}", text, fmt::join(names, ", ")));
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
