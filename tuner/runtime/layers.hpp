#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::runtime {

/// One opened database of the stack that dispatch looks through.
struct Layer {
  db::Database database;  ///< opened read-only; one thread at a time
  std::filesystem::path path;
  bool trusted = false;  ///< its stored cubins may be loaded: named by the program, or owned by this user alone
};

struct OpenedLayers {
  std::vector<Layer> layers;
  std::vector<std::string> notices;  ///< default layers that are missing or damaged, and what opening had to say
};

/// `named`: exactly these, in order. Empty: the user's default file, then the shipped one; either may be missing.
/// Throws: UsageError for a named file that does not exist, DatabaseError for one that cannot be read.
[[nodiscard]] OpenedLayers open_layers(const std::vector<std::filesystem::path>& named);

/// What the layer has for a template and family; none when it turns out to be damaged since it was opened, which
/// Database::read_failure then tells: dispatch goes on without it.
[[nodiscard]] std::vector<db::BestRow> candidates_of(const Layer& layer, const std::string& template_hash, const std::string& family,
                                                     const std::string& policy);

/// One layer, opened as `open_layers` does: `named` by the program, or a default. Throws: DatabaseError.
[[nodiscard]] Layer open_layer(const std::filesystem::path& path, bool named);

/// Where the shipped read-only database is looked for, first to last: $ATTUNE_SHIPPED_DB alone when it is set, else
/// beside the running program (<its folder>/../share/attune/shipped.db), the installed file, the build tree's.
[[nodiscard]] std::vector<std::filesystem::path> shipped_database_paths();

/// The recorded device of that name, slug or hard key, else the only recorded one of that architecture, else the
/// stand-in of an architecture. Throws: UsageError (nothing known of that name; several devices of an architecture).
[[nodiscard]] spec::DeviceInfo device_by_name(const std::vector<Layer>& layers, const std::string& text);

}  // namespace attune::runtime
