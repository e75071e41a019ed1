#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "attune/options.hpp"
#include "tuner/runtime/rank_texts.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::test {

/// An all-gather among threads of this process, one for each rank.
class Meeting {
 public:
  explicit Meeting(std::size_t ranks) : texts_(ranks) {}

  [[nodiscard]] AllGather seat(std::size_t rank) {
    return [this, rank](const std::string& text) { return gather(rank, text); };
  }

  /// Runs `act(rank)` for every rank at once.
  template <class Act>
  static void run(std::size_t ranks, Act&& act) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) threads.emplace_back([&act, rank] { act(rank); });
    for (auto& thread : threads) thread.join();
  }

 private:
  std::vector<std::string> gather(std::size_t rank, const std::string& text) {
    std::unique_lock lock(mutex_);
    const std::size_t meeting = meeting_;
    texts_[rank] = text;
    if (++came_ == texts_.size()) {
      last_ = texts_;
      came_ = 0;
      ++meeting_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return meeting_ != meeting; });
    return last_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_, last_;
  std::size_t came_ = 0, meeting_ = 0;
};

/// A rank on a device that proposes a configuration.
inline runtime::RankPlan rank_plan(const std::string& template_hash, const spec::DeviceInfo& device, Tier tier,
                                   const std::string& configuration, double median_us = 0, const std::string& donor_problem = "",
                                   double distance = runtime::kNoDistance) {
  const std::string layer = tier == Tier::Default ? "" : "/data/local.db";
  return {template_hash, device, runtime::Proposal{tier, configuration, donor_problem, device.name, median_us, distance, layer}, ""};
}

}  // namespace attune::test
