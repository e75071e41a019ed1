#include "tuner/verify/stated_data.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/spec/launch_plan.hpp"
#include "tuner/verify/patterns.hpp"

namespace attune::verify {
namespace {

constexpr double kUsualUnits = 64, kUsualSmallUnits = 2;  // in the last place; 64 of an 8-bit type would let everything pass

/// How many terms an element of an output sums.
double terms_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  if (!kernel.reference.terms) return 1;
  const auto scope = spec::make_scope(kernel, problem, spec::default_configuration(kernel), device);
  return static_cast<double>(std::max<std::int64_t>(1, kernel.reference.terms->integer(scope)));
}

const spec::Tolerance& tolerance_of(const spec::KernelTemplate& kernel, std::size_t buffer) {
  const spec::ReferenceSpec& reference = kernel.reference;
  const auto own = reference.tolerances.find(kernel.buffers[buffer].name);
  return own == reference.tolerances.end() ? reference.tolerance : own->second;
}

}  // namespace

StatedData::StatedData(const spec::KernelTemplate& kernel, const std::vector<spec::ResolvedBuffer>& buffers) : kernel_(&kernel) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& data = kernel.buffers[i].data;
    if (data || is_pattern(buffers[i].fill)) inputs_.push_back({i, data ? &*data : nullptr, buffers[i]});
    if (const auto wanted = kernel.reference.wanted.find(buffers[i].name); wanted != kernel.reference.wanted.end())
      outputs_.push_back({i, &wanted->second, buffers[i]});
  }
  for (const auto* const arrays : {&inputs_, &outputs_})
    for (const Array& array : *arrays) bytes_ += static_cast<std::size_t>(array.is.bytes);
}

void StatedData::load(Array& array, Support& support) const {
  const auto bytes = static_cast<std::size_t>(array.is.bytes);
  array.memory = gpu::Buffer(bytes);
  if (array.file == nullptr) {
    const auto made = pattern(array.is, 1 + array.buffer);
    support.upload(array.memory.address(), made.data(), bytes);
  } else {
    const std::string& file = array.file->file;
    spec::read_elements(spec::data_path(*kernel_, file), kernel_->data.at(file), [&](std::size_t at, std::string_view piece) {
      support.upload(array.memory.address() + at, piece.data(), piece.size());
    });
  }
}

void StatedData::load(Support& support) {
  for (auto* const arrays : {&inputs_, &outputs_})
    for (Array& array : *arrays) load(array, support);
}

CUdeviceptr StatedData::input(std::size_t buffer) const {
  const auto found = std::find_if(inputs_.begin(), inputs_.end(), [&](const Array& array) { return array.buffer == buffer; });
  return found == inputs_.end() ? 0 : found->memory.address();
}

std::vector<std::pair<std::size_t, CUdeviceptr>> StatedData::outputs() const {
  std::vector<std::pair<std::size_t, CUdeviceptr>> all;
  for (const Array& array : outputs_) all.emplace_back(array.buffer, array.memory.address());
  return all;
}

Closeness closeness(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device, std::size_t buffer,
                    spec::ElementType type) {
  const spec::Tolerance& tolerance = tolerance_of(kernel, buffer);
  Closeness close{.relative = 0, .absolute = tolerance.absolute, .with_mean = false};
  if (!spec::is_floating(type)) return close;
  const double units = spec::size_bytes(type) == 1 ? kUsualSmallUnits : kUsualUnits;
  const double usual = tolerance.absolute > 0 ? 0 : 2 * units * spec::unit_roundoff(type) * std::sqrt(terms_of(kernel, problem, device));
  close.relative = tolerance.relative.value_or(usual);
  // Whoever states a tolerance for a file means what numpy.allclose does with it.
  const bool as_numpy = kernel.reference.kind == spec::ReferenceSpec::Kind::Files && tolerance.relative.has_value();
  close.with_mean = close.relative > 0 && !as_numpy;
  return close;
}

WantedOutput wanted_values(const spec::KernelTemplate& kernel, const spec::Problem& problem, Support& support, std::size_t buffer,
                           const Elements& wanted) {
  const Closeness close = closeness(kernel, problem, support.device(), buffer, wanted.type);
  WantedOutput output{.buffer = buffer, .count = wanted.count};
  output.wanted.start = reinterpret_cast<const void*>(wanted.start);
  output.wanted.relative = close.relative;
  output.wanted.absolute = close.absolute;
  const double mean = close.with_mean ? support.mean_magnitude(wanted) : 0;
  output.wanted.scale = std::isfinite(mean) ? mean : 0;
  output.may_be_off = static_cast<std::uint64_t>(tolerance_of(kernel, buffer).mismatches * static_cast<double>(wanted.count));
  return output;
}

}  // namespace attune::verify
