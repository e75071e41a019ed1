#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tuner/space/build_watch.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::space {

/// Position of a configuration in the space's enumeration order (parameters in declaration order, last one fastest).
using Ordinal = std::uint64_t;

enum class Neighbourhood {
  Hamming,   ///< differs in exactly one parameter, any value
  Adjacent,  ///< differs in exactly one parameter, by one step in its value list
};

struct Enumeration;

/// The configurations that satisfy every constraint, held as packed value indices (2 bytes a parameter).
/// Construction is a depth-first search that checks a condition as soon as its variables are bound (depth_first.hpp).
/// Immutable: every member may be called from several threads.
class SearchSpace {
 public:
  /// `further`: conditions besides the template's own, checked after them.
  /// Throws: SpecError for a failing constraint expression, at its place; UsageError for a space of more than 2^26
  /// configurations, or of more than 2^29 values in them; BuildStopped when `watch` returned false. An empty space is no error here:
  /// `size()` is 0 and `emptied_by()` names the condition that removed the last configurations.
  [[nodiscard]] static SearchSpace build(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                                         const std::vector<spec::Constraint>& further = {}, const BuildWatch& watch = {});
  /// The general form: `constants` gives every variable that is no parameter.
  [[nodiscard]] static SearchSpace build(const std::vector<spec::Parameter>& parameters, const std::vector<spec::Constraint>& constraints,
                                         const spec::Scope& constants);
  /// The space of exactly these configurations, in their order of enumeration; one that is listed twice counts once. For spaces that are
  /// known by what somebody measured. Throws: UsageError for one that is no configuration of `parameters`.
  [[nodiscard]] static SearchSpace of(const std::vector<spec::Parameter>& parameters, std::vector<spec::Configuration> configurations);

  [[nodiscard]] std::uint64_t size() const noexcept { return count_; }
  /// Product of the value counts; 2^64 - 1 when it is that or more.
  [[nodiscard]] std::uint64_t cartesian_size() const noexcept { return cartesian_; }
  [[nodiscard]] const std::string& emptied_by() const noexcept { return emptied_by_; }
  /// Requires: ordinal < size().
  [[nodiscard]] spec::Configuration at(Ordinal ordinal) const;
  [[nodiscard]] std::optional<Ordinal> find(const spec::Configuration& configuration) const;
  /// Those in the space, by parameter in declaration order, then by value. Requires: ordinal < size().
  [[nodiscard]] std::vector<Ordinal> neighbours(Ordinal ordinal, Neighbourhood kind) const;
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Value indices, by parameter. Requires: ordinal < size().
  [[nodiscard]] std::span<const std::uint16_t> row(Ordinal ordinal) const { return std::span(packed_).subspan(ordinal * width_, width_); }
  /// Where a parameter's values lie beside each other, from 0 to 1: by their logarithms, or by their order where one is not positive.
  /// Empty where the values are choices (texts, switches), any two of which are as different as any other two.
  [[nodiscard]] const std::vector<double>& scale(std::size_t parameter) const { return scales_[parameter]; }
  /// How often two divides each value, from 0 to 1; empty where that tells no more than the scale.
  [[nodiscard]] const std::vector<double>& twos(std::size_t parameter) const { return twos_[parameter]; }
  [[nodiscard]] std::size_t value_count(std::size_t parameter) const { return value_counts_[parameter]; }
  /// Uniform, without replacement, in random order; all of them when count >= size(). The same on every platform.
  [[nodiscard]] std::vector<Ordinal> sample(std::uint64_t count, std::mt19937_64& random) const;

 private:
  SearchSpace(const std::vector<spec::Parameter>& parameters, Enumeration found);
  std::size_t width_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t cartesian_ = 0;
  std::vector<std::uint16_t> packed_;
  std::vector<std::size_t> value_counts_;
  std::vector<std::vector<double>> scales_, twos_;
  std::string emptied_by_;
};

}  // namespace attune::space
