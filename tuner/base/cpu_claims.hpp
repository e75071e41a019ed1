#pragma once
#include <vector>

#include "tuner/base/file_descriptor.hpp"

namespace attune::base {

/// Processors that a command times on, told to those that start later on this host while the object lives, so that two side by side do not
/// both pin their GPU workers to the same one. A claim is a name among the abstract addresses of Unix sockets (unix(7)): the kernel
/// gives it to one process of a network namespace, and takes it back however that process ends. Nothing is enforced, and a host where no
/// such socket can be made has no claims; containers with namespaces of their own do not see each other's.
class CpuClaims {
 public:
  /// Claims the highest `wanted` of `available` that nobody has, or as many as there are.
  CpuClaims(const std::vector<int>& available, int wanted);

  /// Those of `available` that nobody else had claimed, ours among them, ascending.
  [[nodiscard]] const std::vector<int>& not_of_others() const noexcept { return not_of_others_; }

 private:
  std::vector<int> not_of_others_;
  std::vector<FileDescriptor> held_;
};

}  // namespace attune::base
