#include "tools/fleet/agreement.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include "tuner/base/hash.hpp"
#include "tuner/base/median.hpp"

namespace attune::tools {

void Agreement::add(std::size_t shard, const db::RecordRow& record) {
  if (record.outcome != "ok" || record.origin != "measured" || record.median_us <= 0) return;
  auto& configurations = samples_[{record.device_key, record.problem}];
  configurations[base::content_key(record.configuration)].push_back({shard, record.median_us, record.low_us, record.high_us});
  bound(configurations);
}

void Agreement::add(const Agreement& other) {
  for (const auto& [place, configurations] : other.samples_) {
    auto& own = samples_[place];
    for (const auto& [key, samples] : configurations) {
      auto& known = own[key];
      known.insert(known.end(), samples.begin(), samples.end());
    }
    bound(own);
  }
}

/// One with a key among the least of all is never removed, whatever comes when.
void Agreement::bound(Configurations& configurations) {
  while (configurations.size() > kMostConfigurations) configurations.erase(std::prev(configurations.end()));
}

std::vector<ShardAgreement> Agreement::result() const {
  struct Found {
    std::vector<double> ratios;
    std::size_t apart = 0;
  };
  std::map<std::pair<std::size_t, std::string>, Found> found;
  for (const auto& [place, configurations] : samples_) {
    for (const auto& [key, samples] : configurations) {
      if (samples.size() < 2) continue;
      std::vector<double> medians;
      for (const auto& sample : samples) medians.push_back(sample.median_us);
      const double of_fleet = base::median(std::move(medians));
      for (const auto& sample : samples) {
        auto& one = found[{sample.shard, place.first}];
        one.ratios.push_back(sample.median_us / of_fleet);
        if (of_fleet < sample.low_us || of_fleet > sample.high_us) ++one.apart;
      }
    }
  }
  std::vector<ShardAgreement> shards;
  for (auto& [place, one] : found) {
    ShardAgreement shard{place.first, place.second, 1, one.ratios.size(), one.apart, false};
    shard.ratio = base::median(std::move(one.ratios));
    shard.disagrees = std::abs(shard.ratio - 1) > tolerance_ && 2 * shard.apart > shard.compared;
    shards.push_back(std::move(shard));
  }
  return shards;
}

}  // namespace attune::tools
