#include "tuner/verify/expectation.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <utility>

namespace attune::verify {
namespace {

std::string number_text(double value) { return spec::element_text(spec::ElementType::F64, std::bit_cast<std::uint64_t>(value)); }

/// What was expected of an element of this type, and how far off it might have been.
std::string wanted_text(const reference::Slot& slot, spec::ElementType type) {
  if (slot.wanted[1] == reference::kExactMark) return spec::element_text(type, slot.wanted[0]);
  double low = std::bit_cast<double>(slot.wanted[0]), high = std::bit_cast<double>(slot.wanted[1]);
  const bool or_nan = low > high;
  if (or_nan) std::swap(low, high);
  if (low == high || !std::isfinite(low) || !std::isfinite(high)) return number_text(low);
  const double middle = low + (high - low) / 2;
  return fmt::format("{}{} (allowed error {:.3g})", number_text(middle), or_nan ? " or nan" : "", (high - low) / 2);
}

/// "bin 5 of channel 2", "element 7"
std::string place(const WantedOutput& output, std::uint64_t index) {
  std::string text;
  for (auto part = output.shape.rbegin(); part != output.shape.rend(); ++part) {
    const auto count = static_cast<std::uint64_t>(part->second > 0 ? part->second : 1);
    if (count > 1 || part == output.shape.rbegin()) text += fmt::format("{}{} {}", text.empty() ? "" : " of ", part->first, index % count);
    index /= count;
  }
  return text.empty() ? fmt::format("element {}", index) : text;
}

}  // namespace

std::string describe(const Finding& finding, const WantedOutput& output, const spec::ResolvedBuffer& buffer, bool only) {
  const std::string got = spec::element_text(buffer.type, finding.slot.got), wanted = wanted_text(finding.slot, buffer.type);
  if (buffer.count == 1)
    return fmt::format("{} is {} instead of {}", only ? "the result" : fmt::format("output \"{}\"", buffer.name), got, wanted);
  const std::string allowed = output.may_be_off > 0 ? fmt::format(" ({} may be)", output.may_be_off) : "";
  return fmt::format("{} of {} elements of output \"{}\" are wrong{}; the first is {}: {} instead of {}", finding.count(), buffer.count,
                     buffer.name, allowed, place(output, finding.first()), got, wanted);
}

}  // namespace attune::verify
