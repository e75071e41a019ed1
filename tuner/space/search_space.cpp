#include "tuner/space/search_space.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "attune/error.hpp"
#include "tuner/space/depth_first.hpp"
#include "tuner/space/permutation.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::space {
namespace {

std::uint64_t saturating_product(const std::vector<std::size_t>& factors) {
  if (std::find(factors.begin(), factors.end(), std::size_t{0}) != factors.end()) return 0;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (product > kMax / factor) return kMax;
    product *= factor;
  }
  return product;
}

/// Nothing for what is no number.
std::optional<double> number(const spec::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::vector<double> scale_of(const std::vector<spec::Value>& values) {
  std::vector<double> numbers;
  for (const auto& value : values) {
    const auto one = number(value);
    if (!one) return {};
    numbers.push_back(*one);
  }
  if (numbers.empty()) return {};
  const bool positive = std::all_of(numbers.begin(), numbers.end(), [](double one) { return one > 0; });
  std::vector<double> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  const auto place = [&](double one) {
    return positive ? std::log2(one) : static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), one) - sorted.begin());
  };
  const double first = place(sorted.front()), length = place(sorted.back()) - first;
  for (double& one : numbers) one = length > 0 ? (place(one) - first) / length : 0;
  return numbers;
}

/// Nothing of powers of two alone, whose logarithms tell the same, nor of two or three values, which the scale tells apart.
std::vector<double> twos_of(const std::vector<spec::Value>& values) {
  std::vector<double> twos;
  bool told = true;
  for (const auto& value : values) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (whole == nullptr || *whole <= 0) return {};
    twos.push_back(std::countr_zero(static_cast<std::uint64_t>(*whole)));
    told = told && std::has_single_bit(static_cast<std::uint64_t>(*whole));
  }
  if (told || twos.size() < 4) return {};
  const double most = *std::max_element(twos.begin(), twos.end());
  if (most == 0) return {};
  for (double& one : twos) one /= most;
  return twos;
}

}  // namespace

SearchSpace SearchSpace::build(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                               const std::vector<spec::Constraint>& further, const BuildWatch& watch) {
  std::vector<spec::Constraint> constraints = kernel.constraints;
  constraints.insert(constraints.end(), further.begin(), further.end());
  const spec::Configuration any{std::vector<std::uint16_t>(kernel.parameters.size(), 0)};
  SearchInput input{kernel.parameters, constraints, spec::make_scope(kernel, problem, any, device), {}, {}, watch};
  for (const auto& [name, expression] : kernel.lets) input.derived.emplace(name, expression.variables());
  input.scope_of = [&](const spec::Configuration& configuration) { return spec::make_scope(kernel, problem, configuration, device); };
  return {kernel.parameters, search_depth_first(input)};
}

SearchSpace SearchSpace::build(const std::vector<spec::Parameter>& parameters, const std::vector<spec::Constraint>& constraints,
                               const spec::Scope& constants) {
  return {parameters, search_depth_first({parameters, constraints, constants, {}, {}, {}})};
}

SearchSpace SearchSpace::of(const std::vector<spec::Parameter>& parameters, std::vector<spec::Configuration> configurations) {
  std::sort(configurations.begin(), configurations.end());
  configurations.erase(std::unique(configurations.begin(), configurations.end()), configurations.end());
  Enumeration found;
  found.count = configurations.size();
  for (const auto& configuration : configurations) {
    bool fits = configuration.index.size() == parameters.size();
    for (std::size_t i = 0; fits && i < parameters.size(); ++i) fits = configuration.index[i] < parameters[i].values.size();
    if (!fits) throw UsageError("failed making a search space: a configuration has other parameters or values than the space");
    found.packed.insert(found.packed.end(), configuration.index.begin(), configuration.index.end());
  }
  return {parameters, std::move(found)};
}

SearchSpace::SearchSpace(const std::vector<spec::Parameter>& parameters, Enumeration found)
    : width_(parameters.size()), count_(found.count), packed_(std::move(found.packed)), emptied_by_(std::move(found.emptied_by)) {
  for (const auto& parameter : parameters) {
    value_counts_.push_back(parameter.values.size());
    scales_.push_back(scale_of(parameter.values));
    twos_.push_back(twos_of(parameter.values));
  }
  cartesian_ = saturating_product(value_counts_);
}

spec::Configuration SearchSpace::at(Ordinal ordinal) const {
  const auto indices = row(ordinal);
  return {std::vector<std::uint16_t>(indices.begin(), indices.end())};
}

std::optional<Ordinal> SearchSpace::find(const spec::Configuration& configuration) const {
  if (configuration.index.size() != width_) return std::nullopt;
  const auto& sought = configuration.index;
  Ordinal first = 0, end = count_;  // ordinals ascend as their rows do
  while (first < end) {
    const Ordinal middle = first + (end - first) / 2;
    const auto found = row(middle);
    if (std::lexicographical_compare(found.begin(), found.end(), sought.begin(), sought.end())) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  if (first == count_ || !std::equal(sought.begin(), sought.end(), row(first).begin())) return std::nullopt;
  return first;
}

std::vector<Ordinal> SearchSpace::neighbours(Ordinal ordinal, Neighbourhood kind) const {
  std::vector<Ordinal> found;
  spec::Configuration probe = at(ordinal);
  for (std::size_t parameter = 0; parameter < width_; ++parameter) {
    const std::size_t own = probe.index[parameter];
    const std::size_t first = kind == Neighbourhood::Hamming || own == 0 ? 0 : own - 1;
    const std::size_t end = kind == Neighbourhood::Hamming ? value_counts_[parameter] : std::min(own + 2, value_counts_[parameter]);
    for (std::size_t value_index = first; value_index < end; ++value_index) {
      if (value_index == own) continue;
      probe.index[parameter] = static_cast<std::uint16_t>(value_index);
      if (const auto neighbour = find(probe)) found.push_back(*neighbour);
    }
    probe.index[parameter] = static_cast<std::uint16_t>(own);
  }
  return found;
}

std::vector<Ordinal> SearchSpace::sample(std::uint64_t count, std::mt19937_64& random) const {
  std::vector<Ordinal> drawn;
  drawn.reserve(std::min(count, count_));
  LazyPermutation order(count_);
  while (drawn.size() < count) {
    const auto next = order.next(random);
    if (!next) break;
    drawn.push_back(*next);
  }
  return drawn;
}

}  // namespace attune::space
