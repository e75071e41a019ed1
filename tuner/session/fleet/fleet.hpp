#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "attune/error.hpp"

namespace attune::session {

/// Which device tunes which problem. Equal devices form a group and share its queue, largest work first, so that what
/// runs last is short and the devices end together; groups of different devices tune every problem each.
/// Knows no processes, no clock and no CUDA. Devices and problems are named by their numbers from 0.
class Fleet {
 public:
  struct Failure {
    std::size_t group = 0;
    std::size_t problem = 0;
    std::string why;
    ExitCode exit_code = ExitCode::Internal;
  };

  /// `device_keys[d]`: equal for equal devices (spec::DeviceInfo::hard_key()). `work[p]`: of any unit.
  Fleet(const std::vector<std::string>& device_keys, const std::vector<double>& work);

  [[nodiscard]] std::size_t group_count() const noexcept { return groups_.size(); }
  [[nodiscard]] std::size_t group_of(std::size_t device) const { return devices_.at(device).group; }
  /// Whether `next` would give this device a problem.
  [[nodiscard]] bool has_work(std::size_t device) const;
  /// Takes a problem for an idle device, which has it until one of the next three is called.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t device);

  void finished(std::size_t device);
  /// The problem cannot be tuned, for a reason that would come again.
  void failed(std::size_t device, const std::string& why, ExitCode exit_code);
  /// The device's process died over it: back to the queue the first time, given up the second. Nothing happens when
  /// the device was idle.
  void lost(std::size_t device, const std::string& why);
  /// The device can never be used again. Requires: idle. Problems that no device is left for are given up.
  void retire(std::size_t device, const std::string& why);

  /// No problem is queued or in hand.
  [[nodiscard]] bool done() const;
  /// How many problems one device of the group still has before it, the one in hand among them: what a time budget is
  /// divided by.
  [[nodiscard]] std::size_t turns_left(std::size_t device) const;
  /// What was given up, in the order of giving up.
  [[nodiscard]] const std::vector<Failure>& failures() const noexcept { return failures_; }

 private:
  struct Group {
    std::deque<std::size_t> queue;
    std::vector<bool> lost_before;  ///< by problem
    std::size_t devices = 0;        ///< not retired
  };
  struct Device {
    std::size_t group = 0;
    std::optional<std::size_t> problem;
    bool retired = false;
  };

  std::vector<Group> groups_;
  std::vector<Device> devices_;
  std::vector<Failure> failures_;
};

}  // namespace attune::session
