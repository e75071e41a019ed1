#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace attune::runtime {

/// Counts events of many threads without a cache line that all of them write: one shared counter costs eight launching
/// threads more than everything else that dispatch does. Up to kShards threads have a shard each.
class ShardedCounter {
 public:
  void add() noexcept { shards_[shard_of_thread()].count.fetch_add(1, std::memory_order_relaxed); }
  /// What every thread has added before, as far as this thread may know.
  [[nodiscard]] std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& shard : shards_) sum += shard.count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  static constexpr std::size_t kShards = 64;
  static constexpr std::size_t kLineBytes = 128;  ///< x86 fetches lines in pairs
  struct alignas(kLineBytes) Shard {
    std::atomic<std::uint64_t> count{0};
  };
  /// Dealt out in turn; a thread keeps its shard in every counter.
  static std::size_t shard_of_thread() noexcept {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
    return shard;
  }
  std::array<Shard, kShards> shards_;
};

}  // namespace attune::runtime
