#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace attune::tools {

/// What a shard's control results say of the device that it ran on.
struct ShardAgreement {
  std::size_t shard = 0;
  std::string device_key;
  double ratio = 1;          ///< its times by the fleet's: the median over the configurations that were compared
  std::size_t compared = 0;  ///< configurations that at least two shards measured on this kind of device
  std::size_t apart = 0;     ///< of these: the fleet's median lies outside of the interval that the shard measured
  bool disagrees = false;
};

/// Compares what several shards measured of the same configurations of the same problems on devices of one kind (equal in what records are
/// keyed by): a machine that only looks like the others, or one that is throttled, shows in all of its times. The fleet's time of a
/// configuration is the median of the shards' medians, so that less than half of them being wrong does not move it; of two shards nobody
/// can say which is wrong, and both are named. A shard disagrees when its ratio is off by more than `tolerance`, and most of its
/// configurations are apart: equal GPUs differ by a few per cent, which their narrow intervals would show as a difference, and one noisy
/// configuration is no device. Memory: at most kMostConfigurations a problem and kind of device, the same ones whatever the order.
class Agreement {
 public:
  static constexpr std::size_t kMostConfigurations = 256;
  explicit Agreement(double tolerance) : tolerance_(tolerance) {}

  void add(std::size_t shard, const db::RecordRow& record);
  /// All that was added to another.
  void add(const Agreement& other);
  /// By shard, then by device.
  [[nodiscard]] std::vector<ShardAgreement> result() const;

 private:
  struct Sample {
    std::size_t shard = 0;
    double median_us = 0, low_us = 0, high_us = 0;
  };
  using Configurations = std::map<std::string, std::vector<Sample>>;  ///< by the content key of their texts
  static void bound(Configurations& configurations);
  double tolerance_;
  std::map<std::pair<std::string, std::string>, Configurations> samples_;  ///< by device and problem
};

}  // namespace attune::tools
