#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {

/// A database as years of tuning leave it: real rows with checksums, of the reduce template and of made-up ones, on
/// several devices. One record in a hundred has a best row, up to 100,000 of them.
struct GeneratedDatabase {
  spec::KernelTemplate kernel;      ///< reduce
  spec::Problem smallest;           ///< of the family with the most sizes: f32 sums on `device`
  std::vector<std::int64_t> sizes;  ///< tuned in that family, ascending: up to 1,000
  spec::DeviceInfo device;
  std::uint64_t records = 0;
  std::uint64_t best = 0;
};

/// Creates `path` with that many records (at least 1,000) in the current schema. `here` is the first of its devices.
/// Without journal and by raw statements: ten million take minutes. Throws: Error; DatabaseError when the file exists.
[[nodiscard]] GeneratedDatabase generate_database(const std::filesystem::path& path, std::uint64_t records, const spec::DeviceInfo& here);

}  // namespace attune::bench
