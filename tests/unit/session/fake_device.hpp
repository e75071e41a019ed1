#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::test {

/// What the fake device process (fake_device_main.cpp) does with a problem, by its size n; any other of kFakeSizes works.
/// The special ones are the largest, so that they are begun first.
inline constexpr std::int64_t kDies = 1000013;      ///< the process ends in the midst, every time
inline constexpr std::int64_t kDiesOnce = 1000014;  ///< the first time only (a marker file in $ATTUNE_TEST_FOLDER)
inline constexpr std::int64_t kRefused = 1000015;   ///< preparing it fails with a message
inline constexpr std::int64_t kSlow = 1000016;      ///< takes 20 ms for each configuration
inline constexpr std::int64_t kSpawns = 1000017;    ///< starts a worker of its own, notes the pids, and waits for ever
inline const std::vector<std::int64_t> kFakeSizes = {kDies, kDiesOnce, kRefused, kSlow, kSpawns, 1000, 2000, 3000, 4000, 5000, 6000};

/// Devices with these ordinals, as the fake process answers for them.
inline constexpr int kOtherKind = 4;  ///< from here on they have other hard identities than those before
inline constexpr int kNotThere = 7;   ///< opening fails
inline constexpr int kDeadOnArrival = 8;

}  // namespace attune::test
