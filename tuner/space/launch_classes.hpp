#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_identity.hpp"

namespace attune::space {

/// Which configurations of a space run the same code in the same launches (spec/launch_identity.hpp). One of them is enough to measure.
/// Found as they are asked for. Not for several threads.
class LaunchClasses {
 public:
  /// Requires: all that is passed outlives this.
  LaunchClasses(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device, const SearchSpace& space);

  /// All that run the same, the one that names them first. A configuration that cannot be launched is alone. Valid until the next call.
  /// Requires: ordinal < space.size().
  [[nodiscard]] std::span<const Ordinal> members(Ordinal ordinal);
  /// Whether `members` of it costs nothing: it, or another of the same code, was asked for before.
  [[nodiscard]] bool is_worked_out(Ordinal ordinal) const { return visited_.empty() || visited_[ordinal]; }
  [[nodiscard]] Ordinal canonical(Ordinal ordinal) { return members(ordinal).front(); }
  /// How many classes there are: resolves the launches of the whole space. `go_on` is asked now and then; 0 when it says no.
  [[nodiscard]] std::uint64_t count(const std::function<bool()>& go_on = {});

 private:
  void visit_group(Ordinal ordinal);

  const spec::KernelTemplate& kernel_;
  const spec::Problem& problem_;
  const spec::DeviceInfo& device_;
  const SearchSpace& space_;
  spec::NameOrder before_;
  std::vector<bool> visited_;                          ///< by ordinal; empty: every configuration is alone
  std::vector<std::vector<Ordinal>> classes_;          ///< of two members or more
  std::unordered_map<Ordinal, std::size_t> class_of_;  ///< of their members
  Ordinal alone_ = 0;
};

}  // namespace attune::space
