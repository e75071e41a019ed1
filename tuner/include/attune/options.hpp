#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attune {

struct Options {
  /// Database layers in order. Empty: the user's file ($ATTUNE_DB, else attune/attune.db in the XDG data folder), then
  /// the shipped one ($ATTUNE_SHIPPED_DB, else the installed file). Naming a file also says that its stored cubins may
  /// be loaded; those of default layers are loaded only from files that this user owns.
  std::vector<std::filesystem::path> databases;
  /// Folders searched for templates before the built-in ones.
  std::vector<std::filesystem::path> templates;
  /// Objective policy to dispatch for: "cold/graph", "cold/stream", "hot/graph" or "hot/stream".
  std::string policy = "cold/graph";
};

}  // namespace attune
