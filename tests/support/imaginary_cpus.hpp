#pragma once
#include <unistd.h>

#include <vector>

namespace attune::test {

/// Processors that no machine has, and no other process asks for: ascending.
inline std::vector<int> imaginary_cpus(int count) {
  std::vector<int> cpus;
  for (int i = 0; i < count; ++i) cpus.push_back(1'000'000 + static_cast<int>(::getpid()) % 100'000 * 1000 + i);
  return cpus;
}

}  // namespace attune::test
