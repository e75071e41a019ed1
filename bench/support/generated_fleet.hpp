#pragma once
#include <cstdint>
#include <filesystem>

namespace attune::bench {

/// A plan's folder (docs/fleet.md) with the results of every shard, as tuning the reduce template would leave them on equal GPUs: real rows
/// that every check of a merge passes. A shard has so many records of as many configurations of 1,000 as its problems need; its first
/// problem is the control, the same one in all, whose times differ by a per cent from shard to shard.
/// Units: records of one shard, at least 1,000. Throws: Error.
void generate_fleet(const std::filesystem::path& folder, std::size_t shards, std::uint64_t records);

}  // namespace attune::bench
