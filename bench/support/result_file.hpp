#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/spec/device_info.hpp"

namespace attune::bench {

/// Half of an interval relative to its middle value, in the rows' `spread` fields.
[[nodiscard]] double relative_half(double low, double high, double middle);

/// What every file says of its `spread` fields.
inline constexpr char kSpreadMeaning[] =
    "half width of the distribution-free 95 % interval of the median (order statistics), relative to the median";

/// Where results go: `chosen`, or bench/results of the source tree that the program was built from.
/// Throws: UsageError when nothing was chosen and that tree is not on this machine.
[[nodiscard]] std::filesystem::path results_folder(const std::filesystem::path& chosen);

/// The content hash of the sources that this program was built from, as result files name them.
[[nodiscard]] std::string content_hash();

/// <folder>/<device>/<bench>.json: where write_results writes.
[[nodiscard]] std::filesystem::path results_path(const std::filesystem::path& folder, const std::string& bench,
                                                 const spec::DeviceInfo& device);

/// Writes <folder>/<device>/<bench>.json with the fields of every benchmark's file (device, driver, cuda, date,
/// content) and the given ones; replaces an older file in one step. Returns its path. Throws: Error naming the path.
std::filesystem::path write_results(const std::filesystem::path& folder, const std::string& bench, const spec::DeviceInfo& device,
                                    const nlohmann::ordered_json& fields, const std::vector<nlohmann::ordered_json>& rows);

}  // namespace attune::bench
