#include "bench/support/device_shares.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <future>

#include "attune/error.hpp"
#include "tools/device_list.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::bench {
namespace {

/// This thread, and what it starts, runs on one of `parts` equal shares of the processors only, so that no run compiles where another
/// times.
void run_on_share_of_cpus(std::size_t part, std::size_t parts) {
  const auto available = base::available_cpus();
  if (available.size() < parts) return;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (std::size_t i = part * available.size() / parts; i < (part + 1) * available.size() / parts; ++i) CPU_SET(available[i], &cpus);
  if (::sched_setaffinity(0, sizeof cpus, &cpus) != 0) throw EnvironmentError("failed sharing the processors among the devices");
}

}  // namespace

DeviceShares::DeviceShares(const std::string& text) {
  const auto list = tools::DeviceList::parse(text);
  if (list.all) throw UsageError("failed sharing the runs: name the devices, e.g. 0,1");
  ordinals_ = list.ordinals;
  device_ = gpu::read_device(ordinals_.front());
  for (const int ordinal : ordinals_) {
    if (gpu::read_device(ordinal).hard_key() != device_.hard_key()) {
      throw UsageError(fmt::format("failed sharing the runs: devices {} and {} are not equal", ordinals_.front(), ordinal));
    }
  }
}

std::size_t DeviceShares::processors() const {
  const std::size_t available = base::available_cpus().size();
  return available < ordinals_.size() ? available : available / ordinals_.size();
}

void DeviceShares::for_each(std::size_t runs, const std::function<void(std::size_t run, int ordinal)>& work) const {
  std::atomic<bool> failed = false;
  const auto share = [&](std::size_t part) {
    try {
      if (ordinals_.size() > 1) run_on_share_of_cpus(part, ordinals_.size());
      for (std::size_t run = part; run < runs && !failed; run += ordinals_.size()) work(run, ordinals_[part]);
    } catch (...) {
      failed = true;
      throw;
    }
  };
  std::vector<std::future<void>> shares;
  for (std::size_t part = 0; part < ordinals_.size(); ++part) shares.push_back(std::async(std::launch::async, share, part));
  for (auto& one : shares) one.get();
}

}  // namespace attune::bench
