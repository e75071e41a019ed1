#include "tuner/verify/buffer_layout.hpp"

#include <fmt/core.h>

namespace attune::verify {
namespace {

constexpr int kFloatPoison = 0xFF;  // NaN in every floating format
constexpr int kIntegerPoison = 0xB7;
constexpr std::size_t kAlign = 256;  // of cuMemAlloc, and what dispatch promises of scratch

std::size_t round_up(std::size_t value) { return (value + kAlign - 1) / kAlign * kAlign; }

}  // namespace

int poison_of(spec::ElementType type) { return spec::is_floating(type) ? kFloatPoison : kIntegerPoison; }

BufferLayout::BufferLayout(const std::vector<spec::ResolvedBuffer>& buffers, Part part, int misalign_elements)
    : buffers_(buffers), offsets_(buffers.size(), kAbsent), guards_(buffers.size()) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& buffer = buffers[i];
    if (buffer.workspace != (part == Part::Scratch)) continue;
    const auto element_bytes = static_cast<std::size_t>(spec::size_bytes(buffer.type));
    const bool may_shift = part == Part::Data && buffer.align_bytes <= static_cast<int>(element_bytes);
    const std::size_t shift = may_shift ? static_cast<std::size_t>(misalign_elements) * element_bytes : 0;
    offsets_[i] = round_up(bytes_ + Support::kGuardBytes) + shift;
    bytes_ = offsets_[i] + static_cast<std::size_t>(buffer.bytes) + Support::kGuardBytes;
  }
  bytes_ = round_up(bytes_);
}

std::vector<GuardZone> BufferLayout::zones(CUdeviceptr base) const {
  std::vector<GuardZone> zones;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!holds(i)) continue;
    const auto& buffer = buffers_[i];
    zones.push_back(
        {base + offsets_[i] - Support::kGuardBytes, buffer.type, guards_[i], fmt::format("wrote in front of buffer \"{}\"", buffer.name)});
    zones.push_back({base + offsets_[i] + static_cast<std::size_t>(buffer.bytes), buffer.type, guards_[i],
                     fmt::format("wrote past the end of buffer \"{}\"", buffer.name)});
  }
  return zones;
}

void BufferLayout::guard(Support& support, CUdeviceptr base, Guard variant) const { support.guard(zones(base), variant); }

void BufferLayout::check_guards(Support& support, CUdeviceptr base, Guard variant) const { support.check_guards(zones(base), variant); }

void place(const BufferLayout& layout, CUdeviceptr base, Addresses& addresses) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (layout.holds(i)) addresses[i] = base + layout.offset(i);
  }
}

}  // namespace attune::verify
