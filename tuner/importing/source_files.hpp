#pragma once
#include <filesystem>
#include <map>
#include <string>

namespace attune::importing {

/// The file and what it includes of its folder, by their paths there. Throws: EnvironmentError, SpecError.
[[nodiscard]] std::map<std::string, std::string> read_sources(const std::filesystem::path& path);
/// Leaves files that a template's folder holds: headers of attune's own are not among them.
void drop_own_headers(std::map<std::string, std::string>& files);
[[nodiscard]] bool is_regular(const std::filesystem::path& path);

}  // namespace attune::importing
