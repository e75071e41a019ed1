#pragma once
#include <string>
#include <vector>

#include "tuner/runtime/layers.hpp"

namespace attune::tools {

/// The databases that a command reads, in this order; none named: the user's, then the shipped one. Tells what was noticed.
/// Throws: DatabaseError for a named one that is not there or cannot be read.
[[nodiscard]] runtime::OpenedLayers open_databases(const std::vector<std::string>& named);

}  // namespace attune::tools
