#include "tuner/verify/support.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tuner/verify/reference_error.hpp"

namespace attune::verify {
namespace {

using gpu::check;
using gpu::Driver;
using reference::Filling;
using reference::Regions;
using reference::Slot;
using reference::Wanted;

constexpr unsigned kBlocksPerSm = 8;
constexpr std::size_t kSlots = Support::kManyChecks + 512;
constexpr std::uint64_t kFewElements = 8;  // one thread compares and notes what it found
constexpr std::size_t kSinkOffset = 0;
constexpr std::size_t kSumOffset = 128;
constexpr std::size_t kSlotOffset = 256;
constexpr std::size_t kResultBytes = kSlotOffset + kSlots * sizeof(Slot);

/// The bits of the even and of the odd elements.
GuardValues guard_bits(const GuardZone& zone, Guard variant) {
  const GuardValues high_first = zone.values.value_or(GuardValues{spec::highest_bits(zone.type), spec::lowest_bits(zone.type)});
  return variant == Guard::HighFirst ? high_first : GuardValues{high_first[1], high_first[0]};
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// Calls `launch(regions, how many, index of the first)` for every kMostRegions zones.
template <class Launch>
void in_launches(const std::vector<GuardZone>& zones, Guard variant, Launch launch) {
  constexpr auto kMostRegions = static_cast<std::size_t>(reference::kMostRegions);
  for (std::size_t first = 0; first < zones.size(); first += kMostRegions) {
    Regions all{};
    const std::size_t count = std::min(kMostRegions, zones.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& zone = zones[first + i];
      const int element_bytes = spec::size_bytes(zone.type);
      const auto [even, odd] = guard_bits(zone, variant);
      all.regions[i] = {pointer(zone.start), Support::kGuardBytes / static_cast<std::size_t>(element_bytes), even, odd,
                        static_cast<int>(zone.type)};
    }
    launch(all, static_cast<unsigned>(count), first);
  }
}

Filling filling_of(const Elements& target, std::uint64_t seed, CUdeviceptr slot) {
  return {pointer(target.start),        static_cast<std::uint64_t>(target.count), seed, static_cast<int>(target.type), 0, 0,
          reinterpret_cast<Slot*>(slot)};
}

}  // namespace

Support::Support(const std::string& cubin, const spec::DeviceInfo& device, const gpu::Stream& stream)
    : device_(&device),
      stream_(&stream),
      module_(cubin),
      fill_(module_.function("attune_fill")),
      guard_(module_.function("attune_guard")),
      check_guard_(module_.function("attune_check_guard")),
      check_zero_(module_.function("attune_check_zero")),
      compare_(module_.function("attune_compare")),
      note_(module_.function("attune_note")),
      magnitude_(module_.function("attune_magnitude")),
      read_plants_(module_.function("attune_read_plants")),
      check_said_(module_.function("attune_check_said")),
      check_values_said_(module_.function("attune_check_values_said")),
      plant_(module_.function("attune_plant")),
      unplant_(module_.function("attune_unplant")),
      alter_(module_.function("attune_alter")),
      read_(module_.function("attune_read")),
      evict_buffer_(static_cast<std::size_t>(std::max<std::int64_t>(4 * device.l2_bytes, std::int64_t{64} << 20))),
      results_(kResultBytes) {
  set_bytes(evict_buffer_.address(), evict_buffer_.bytes(), 1);
}

void Support::enqueue(const gpu::Function& kernel, unsigned blocks, unsigned threads, void** parameters, unsigned rows) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.gridDimY = rows;
  config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = threads;
  config.hStream = stream_->get();
  check(Driver::get().cuLaunchKernelEx(&config, kernel.handle, parameters, nullptr), "cuLaunchKernelEx", "launching " + kernel.name);
}

void Support::launch(const gpu::Function& kernel, std::uint64_t work, void** parameters) {
  const std::uint64_t most = static_cast<std::uint64_t>(device_->sm_count) * kBlocksPerSm;
  enqueue(kernel, static_cast<unsigned>(std::clamp<std::uint64_t>((work + kThreads - 1) / kThreads, 1, most)), kThreads, parameters);
}

void Support::fill(const Elements& target, spec::DataValues values, std::uint64_t seed) {
  if (target.count <= 0) return;
  Filling filling = filling_of(target, seed, 0);
  int kind = static_cast<int>(values);
  void* parameters[] = {&filling, &kind};
  launch(fill_, filling.count, parameters);
}

void Support::guard(const std::vector<GuardZone>& zones, Guard variant) {
  in_launches(zones, variant, [&](Regions& all, unsigned count, std::size_t) {
    void* parameters[] = {&all};
    enqueue(guard_, 1, kThreads, parameters, count);
  });
}

void Support::set_bytes(CUdeviceptr target, std::size_t bytes, int byte) {
  if (bytes == 0) return;
  check(Driver::get().cuMemsetD8Async(target, static_cast<unsigned char>(byte), bytes, stream_->get()), "cuMemsetD8Async",
        "setting memory");
}

void Support::copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes) {
  if (bytes == 0) return;
  check(Driver::get().cuMemcpyDtoDAsync(target, source, bytes, stream_->get()), "cuMemcpyDtoDAsync", "copying device memory");
}

void Support::evict() { read(evict_buffer_.address(), evict_buffer_.bytes(), static_cast<unsigned>(device_->sm_count) * 4, 512); }

void Support::read(CUdeviceptr source, std::size_t bytes, unsigned blocks, unsigned threads) {
  std::uint64_t vectors = bytes / 16;
  CUdeviceptr sink = results_.address() + kSinkOffset;
  void* parameters[] = {&source, &vectors, &sink};
  enqueue(read_, blocks, threads, parameters);
}

void Support::begin_checks() {
  checks_.clear();
  set_bytes(results_.address() + kSlotOffset, kSlots * sizeof(Slot), 0);
}

CUdeviceptr Support::next_slot(const std::string& what, std::uint64_t may_be_off) {
  if (checks_.size() == kSlots)
    throw ReferenceError(fmt::format(
        "failed checking a template: its buffers and the data sets of its reference ask for more than {} checks at once", kSlots));
  checks_.push_back({what, may_be_off});
  return results_.address() + kSlotOffset + (checks_.size() - 1) * sizeof(Slot);
}

void Support::check_fill(const std::string& what, const Elements& source, spec::DataValues values, std::uint64_t seed) {
  if (source.count <= 0) return;
  Filling filling = filling_of(source, seed, next_slot(what));
  int kind = static_cast<int>(values);
  void* parameters[] = {&filling, &kind};
  launch(fill_, filling.count, parameters);
}

void Support::check_guards(const std::vector<GuardZone>& zones, Guard variant) {
  in_launches(zones, variant, [&](Regions& all, unsigned count, std::size_t first) {
    CUdeviceptr slots = next_slot(zones[first].what);  // slots of one launch are neighbours
    for (std::size_t i = 1; i < count; ++i) static_cast<void>(next_slot(zones[first + i].what));
    void* parameters[] = {&all, &slots};
    enqueue(check_guard_, 1, kThreads, parameters, count);
  });
}

void Support::check_zero(const std::string& what, CUdeviceptr source, std::size_t bytes) {
  if (bytes == 0) return;
  std::uint64_t size = bytes;
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&source, &size, &slot};
  launch(check_zero_, size / 8 + 1, parameters);
}

void Support::check_said(CUdeviceptr expected, std::int64_t count) {
  if (count <= 0) return;
  auto number = static_cast<std::uint64_t>(count);
  CUdeviceptr slot = next_slot("");
  void* parameters[] = {&expected, &number, &slot};
  launch(check_said_, number, parameters);
}

void Support::make_unsaid(const Elements& values, Pass pass) {
  const auto bytes = static_cast<std::size_t>(values.count) * static_cast<std::size_t>(spec::size_bytes(values.type));
  set_bytes(values.start, bytes, static_cast<int>((pass == Pass::First ? reference::kUnsaid : reference::kUnsaidAgain) & 0xFF));
}

void Support::check_values_said(const Elements& values, CUdeviceptr marks, Pass pass) {
  if (values.count <= 0) return;
  CUdeviceptr start = values.start, slot = next_slot("");
  auto count = static_cast<std::uint64_t>(values.count);
  int type = static_cast<int>(values.type), again = pass == Pass::Again ? 1 : 0;
  void* parameters[] = {&start, &count, &type, &marks, &again, &slot};
  launch(check_values_said_, count / reference::kMarksPerWord + 1, parameters);
}

std::size_t Support::marks_bytes(std::int64_t count) {
  return (static_cast<std::size_t>(count) + reference::kMarksPerWord - 1) / reference::kMarksPerWord * sizeof(reference::u32);
}

std::size_t Support::compare(const Elements& got, const Wanted& wanted, std::uint64_t may_be_off, const std::string& what) {
  CUdeviceptr slot = next_slot(what, may_be_off);
  if (got.count > 0) {
    CUdeviceptr start = got.start;
    auto count = static_cast<std::uint64_t>(got.count);
    int type = static_cast<int>(got.type);
    Wanted copy = wanted;
    void* parameters[] = {&start, &count, &type, &copy, &slot};
    void* noted[] = {&start, &type, &copy, &slot};
    if (count <= kFewElements) {
      enqueue(compare_, 1, 1, parameters);
    } else {
      launch(compare_, count, parameters);
      enqueue(note_, 1, 1, noted);
    }
  }
  return checks_.size() - 1;
}

std::optional<Finding> Support::findings() {
  std::vector<Slot> slots(checks_.size());
  if (slots.empty()) {
    stream_->synchronize();
    return std::nullopt;
  }
  download(slots.data(), results_.address() + kSlotOffset, slots.size() * sizeof(Slot));
  for (std::size_t check = 0; check < slots.size(); ++check) {
    if (slots[check].count > checks_[check].may_be_off) return Finding{check, checks_[check].what, slots[check]};
  }
  return std::nullopt;
}

double Support::mean_magnitude(const Elements& source) {
  if (source.count <= 0) return 0;
  CUdeviceptr start = source.start, sum = results_.address() + kSumOffset;
  auto count = static_cast<std::uint64_t>(source.count);
  int type = static_cast<int>(source.type);
  set_bytes(sum, sizeof(double), 0);
  void* parameters[] = {&start, &count, &type, &sum};
  launch(magnitude_, count, parameters);
  double total = 0;
  download(&total, sum, sizeof total);
  return total / static_cast<double>(source.count);
}

void Support::read_plants(CUdeviceptr plants, std::size_t count, const Elements& input) {
  std::uint64_t number = count;
  CUdeviceptr start = input.start;
  int type = static_cast<int>(input.type);
  void* parameters[] = {&plants, &number, &start, &type};
  enqueue(read_plants_, 1, kThreads, parameters);
}

void Support::plant(CUdeviceptr back, CUdeviceptr plant, const Elements& input, const reference::Outputs& outputs, bool elements_stay) {
  CUdeviceptr start = input.start;
  int type = static_cast<int>(input.type);
  reference::Outputs where = outputs;
  int stay = elements_stay ? 1 : 0;
  void* parameters[] = {&back, &plant, &start, &type, &where, &stay};
  enqueue(plant_, 1, 1, parameters);
}

void Support::unplant(CUdeviceptr plants, std::size_t count, const Elements& input) {
  std::uint64_t number = count;
  CUdeviceptr start = input.start;
  int type = static_cast<int>(input.type);
  void* parameters[] = {&plants, &number, &start, &type};
  enqueue(unplant_, 1, kThreads, parameters);
}

void Support::alter(CUdeviceptr alteration, const Elements& input, bool backwards) {
  CUdeviceptr start = input.start;
  int type = static_cast<int>(input.type);
  int reversed = backwards ? 1 : 0;
  void* parameters[] = {&alteration, &start, &type, &reversed};
  enqueue(alter_, 1, 1, parameters);
}

void Support::upload(CUdeviceptr target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  check(Driver::get().cuMemcpyHtoDAsync(target, source, bytes, stream_->get()), "cuMemcpyHtoDAsync", "writing device memory");
  stream_->synchronize();
}

void Support::download(void* target, CUdeviceptr source, std::size_t bytes) {
  check(Driver::get().cuMemcpyDtoHAsync(target, source, bytes, stream_->get()), "cuMemcpyDtoHAsync", "reading device memory");
  stream_->synchronize();
}

}  // namespace attune::verify
