#include "tuner/measure/support.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace attune::measure {
namespace {

using gpu::check;
using gpu::Driver;

constexpr unsigned kBlocksPerSm = 8;
constexpr unsigned kReduceBlocks = 1024;  // fixed: references do not depend on the device
constexpr std::size_t kSlots = 512;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

struct Slot {  // as in support.cu
  std::uint64_t count;
  std::uint64_t first_inverse;
};

struct RankedExtreme {  // Extreme of support.cu
  std::uint64_t rank;
  std::uint64_t first_inverse;
};

struct Partial {  // as in support_reduce.cu
  double sum, lost, magnitude, product;
  std::uint64_t integer_sum, integer_product, conjunction, disjunction, parity;
  std::uint64_t minimum, maximum;
};

struct Mapping {  // as in support_reduce.cu
  int transform;
  int integer_bits;
  int integer_signed;
  double shift;
  std::uint64_t integer_shift;
};

struct Region {  // as in support.cu
  CUdeviceptr start;
  std::uint64_t count;
  std::uint64_t even;
  std::uint64_t odd;
  int element_bytes;
};

constexpr std::size_t kMostRegions = 32;  // likewise

struct Regions {
  std::array<Region, kMostRegions> regions;
};

struct RowPart {  // as in support_rows.cu
  double value;
  double magnitude;
  std::uint64_t integer;
};

constexpr std::uint64_t kRowParts = std::uint64_t{1} << 17;  // parts of rows that are computed at once
constexpr std::uint64_t kMostChunks = 4096;                  // of one row: one thread joins them
constexpr std::uint64_t kLeastOfChunk = 16;                  // elements

constexpr std::size_t kSinkOffset = 0;
constexpr std::size_t kExtremeOffset = 128;
constexpr std::size_t kSlotOffset = 256;
constexpr std::size_t kPartialOffset = kSlotOffset + kSlots * sizeof(Slot);
constexpr std::size_t kResultBytes = kPartialOffset + kReduceBlocks * sizeof(Partial);

/// The inverse of support.cu's ordered().
std::uint64_t from_ordered(const Reduction& of, std::uint64_t image) {
  if (of.floating()) return image & kSignBit ? image ^ kSignBit : ~image;
  return is_signed(of.out) ? image ^ kSignBit : image;
}

/// What two shares of a reduction have together; extremes as images.
void join(Totals& all, const Partial& part) {
  const double sum = all.sum + part.sum;
  const double added = sum - all.sum;
  all.lost += ((all.sum - (sum - added)) + (part.sum - added)) + part.lost;
  all.sum = sum;
  all.magnitude += part.magnitude;
  all.product *= part.product;
  all.integer_sum += part.integer_sum;
  all.integer_product *= part.integer_product;
  all.conjunction &= part.conjunction;
  all.disjunction |= part.disjunction;
  all.parity ^= part.parity;
  all.minimum_bits = std::min(all.minimum_bits, part.minimum);
  all.maximum_bits = std::max(all.maximum_bits, part.maximum);
}

/// Of the even and the odd elements.
GuardValues guard_bits(const GuardZone& zone, Guard variant) {
  const GuardValues high_first = zone.values.value_or(GuardValues{highest_bits(zone.type), lowest_bits(zone.type)});
  return variant == Guard::HighFirst ? high_first : GuardValues{high_first[1], high_first[0]};
}

/// Calls `launch(regions, how many, index of the first)` for every kMostRegions zones.
template <class Launch>
void in_launches(const std::vector<GuardZone>& zones, Guard variant, Launch launch) {
  for (std::size_t first = 0; first < zones.size(); first += kMostRegions) {
    Regions all{};
    const std::size_t count = std::min(kMostRegions, zones.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& zone = zones[first + i];
      const int element_bytes = spec::size_bytes(zone.type);
      const auto [even, odd] = guard_bits(zone, variant);
      all.regions[i] = {zone.start, Support::kGuardBytes / static_cast<std::size_t>(element_bytes), even, odd, element_bytes};
    }
    launch(all, static_cast<unsigned>(count), first);
  }
}

}  // namespace

Support::Support(const std::string& cubin, const spec::DeviceInfo& device, const gpu::Stream& stream)
    : device_(&device),
      stream_(&stream),
      module_(cubin),
      fill_(module_.function("attune_fill")),
      check_fill_(module_.function("attune_check_fill")),
      guard_(module_.function("attune_guard")),
      check_guard_(module_.function("attune_check_guard")),
      check_zero_(module_.function("attune_check_zero")),
      compare_(module_.function("attune_compare")),
      reduce_(module_.function("attune_reduce")),
      extreme_(module_.function("attune_extreme")),
      find_extreme_(module_.function("attune_find_extreme")),
      read_(module_.function("attune_read")),
      reduce_rows_(module_.function("attune_reduce_rows")),
      join_rows_(module_.function("attune_join_rows")),
      compare_rows_(module_.function("attune_compare_rows")),
      fill_histogram_(module_.function("attune_fill_histogram")),
      count_(module_.function("attune_count")),
      compare_counts_(module_.function("attune_compare_counts")),
      evict_buffer_(static_cast<std::size_t>(std::max<std::int64_t>(4 * device.l2_bytes, std::int64_t{64} << 20))),
      results_(kResultBytes) {
  set_bytes(evict_buffer_.address(), evict_buffer_.bytes(), 1);
}

unsigned Support::blocks_for(std::uint64_t count) const {
  const std::uint64_t most = static_cast<std::uint64_t>(device_->sm_count) * kBlocksPerSm;
  return static_cast<unsigned>(std::clamp<std::uint64_t>((count + kThreads - 1) / kThreads, 1, most));
}

void Support::launch(const gpu::Function& kernel, unsigned blocks, unsigned threads, void** parameters, unsigned rows) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.gridDimY = rows;
  config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = threads;
  config.hStream = stream_->get();
  check(Driver::get().cuLaunchKernelEx(&config, kernel.handle, parameters, nullptr), "cuLaunchKernelEx",
        "launching " + kernel.name);
}

void Support::fill(CUdeviceptr target, std::int64_t count, spec::ElementType type, const Filling& filling, std::uint64_t seed) {
  if (count <= 0) return;
  if (filling.histogram) return fill_histogram(target, count, *filling.histogram, seed);
  auto elements = static_cast<std::uint64_t>(count);
  int type_code = static_cast<int>(type);
  int fill_code = static_cast<int>(filling.kind);
  std::uint64_t rarity = filling.rarity;
  double offset = filling.offset;
  void* parameters[] = {&target, &elements, &type_code, &fill_code, &seed, &rarity, &offset};
  launch(fill_, blocks_for(elements), kThreads, parameters);
}

void Support::guard(const std::vector<GuardZone>& zones, Guard variant) {
  in_launches(zones, variant, [&](Regions& all, unsigned count, std::size_t) {
    void* parameters[] = {&all};
    launch(guard_, 1, kThreads, parameters, count);
  });
}

void Support::set_bytes(CUdeviceptr target, std::size_t bytes, int byte) {
  if (bytes == 0) return;
  check(Driver::get().cuMemsetD8Async(target, static_cast<unsigned char>(byte), bytes, stream_->get()),
        "cuMemsetD8Async", "setting memory");
}

void Support::copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes) {
  if (bytes == 0) return;
  check(Driver::get().cuMemcpyDtoDAsync(target, source, bytes, stream_->get()), "cuMemcpyDtoDAsync",
        "copying device memory");
}

void Support::evict() {
  read(evict_buffer_.address(), evict_buffer_.bytes(), static_cast<unsigned>(device_->sm_count) * 4, 512);
}

void Support::read(CUdeviceptr source, std::size_t bytes, unsigned blocks, unsigned threads) {
  std::uint64_t vectors = bytes / 16;
  CUdeviceptr sink = results_.address() + kSinkOffset;
  void* parameters[] = {&source, &vectors, &sink};
  launch(read_, blocks, threads, parameters);
}

void Support::begin_checks() {
  labels_.clear();
  set_bytes(results_.address() + kSlotOffset, kSlots * sizeof(Slot), 0);
}

CUdeviceptr Support::next_slot(const std::string& what) {
  if (labels_.size() == kSlots) throw Error("failed checking the buffers of a template: it has more than 100 buffers");
  labels_.push_back(what);
  return results_.address() + kSlotOffset + (labels_.size() - 1) * sizeof(Slot);
}

void Support::check_fill(const std::string& what, CUdeviceptr source, std::int64_t count, spec::ElementType type,
                         const Filling& filling, std::uint64_t seed) {
  if (count <= 0) return;
  if (filling.histogram) return check_histogram(what, source, count, *filling.histogram, seed);
  auto elements = static_cast<std::uint64_t>(count);
  int type_code = static_cast<int>(type);
  int fill_code = static_cast<int>(filling.kind);
  std::uint64_t rarity = filling.rarity;
  double offset = filling.offset;
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&source, &elements, &type_code, &fill_code, &seed, &rarity, &offset, &slot};
  launch(check_fill_, blocks_for(elements), kThreads, parameters);
}

void Support::check_guards(const std::vector<GuardZone>& zones, Guard variant) {
  in_launches(zones, variant, [&](Regions& all, unsigned count, std::size_t first) {
    CUdeviceptr slots = next_slot(zones[first].what);  // slots of one launch are neighbours
    for (std::size_t i = 1; i < count; ++i) static_cast<void>(next_slot(zones[first + i].what));
    void* parameters[] = {&all, &slots};
    launch(check_guard_, 1, kThreads, parameters, count);
  });
}

void Support::check_zero(const std::string& what, CUdeviceptr source, std::size_t bytes) {
  if (bytes == 0) return;
  std::uint64_t size = bytes;
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&source, &size, &slot};
  launch(check_zero_, blocks_for(size / 8 + 1), kThreads, parameters);
}

void Support::compare(const std::string& what, CUdeviceptr got, CUdeviceptr want, std::int64_t count,
                      spec::ElementType type, double relative, double scale) {
  if (count <= 0) return;
  auto elements = static_cast<std::uint64_t>(count);
  int type_code = static_cast<int>(type);
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&got, &want, &elements, &type_code, &relative, &scale, &slot};
  launch(compare_, blocks_for(elements), kThreads, parameters);
}

void Support::compare_rows(const std::string& what, CUdeviceptr got, spec::ElementType type, std::int64_t rows,
                           const RowAnswers& answers) {
  if (rows <= 0) return;
  auto count = static_cast<std::uint64_t>(rows);
  int type_code = static_cast<int>(type);
  CUdeviceptr wanted = answers.wanted.address();
  CUdeviceptr allowed = answers.allowed.address();
  CUdeviceptr slot = next_slot(what);
  void* parameters[] = {&got, &wanted, &allowed, &count, &type_code, &slot};
  launch(compare_rows_, blocks_for(count), kThreads, parameters);
}

std::optional<Finding> Support::findings() {
  std::vector<Slot> slots(labels_.size());
  if (!slots.empty()) {
    check(Driver::get().cuMemcpyDtoHAsync(slots.data(), results_.address() + kSlotOffset, slots.size() * sizeof(Slot),
                                          stream_->get()),
          "cuMemcpyDtoHAsync", "reading verdicts");
  }
  stream_->synchronize();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].count > 0) return Finding{labels_[i], slots[i].count, ~slots[i].first_inverse};
  }
  return std::nullopt;
}

Totals Support::reduce(CUdeviceptr source, std::int64_t count, spec::ElementType type) {
  return reduce(source, source, Reduction{type, type, count});
}

Totals Support::reduce(CUdeviceptr source, CUdeviceptr other, const Reduction& of) {
  if (of.count <= 0) return {};
  auto elements = static_cast<std::uint64_t>(of.count);
  int type_code = static_cast<int>(of.in);
  Mapping mapping{static_cast<int>(of.transform), of.floating() ? 0 : 8 * spec::size_bytes(of.out), is_signed(of.out) ? 1 : 0,
                  of.shift.value, of.shift.integer};
  CUdeviceptr partials = results_.address() + kPartialOffset;
  void* parameters[] = {&source, &other, &elements, &type_code, &mapping, &partials};
  launch(reduce_, kReduceBlocks, kThreads, parameters);
  std::vector<Partial> parts(kReduceBlocks);
  check(Driver::get().cuMemcpyDtoHAsync(parts.data(), partials, parts.size() * sizeof(Partial), stream_->get()),
        "cuMemcpyDtoHAsync", "reading a reference");
  stream_->synchronize();
  Totals totals;
  totals.minimum_bits = ~std::uint64_t{0};
  for (const Partial& part : parts) join(totals, part);
  totals.has_extremes = totals.minimum_bits <= totals.maximum_bits;
  totals.minimum_bits = from_ordered(of, totals.minimum_bits);
  totals.maximum_bits = from_ordered(of, totals.maximum_bits);
  return totals;
}

RowAnswers Support::reduce_rows(const Matrix& matrix, RowOperation operation, double relative) {
  const std::size_t bytes = static_cast<std::size_t>(matrix.rows) * sizeof(double);
  RowAnswers answers{gpu::Buffer(bytes), gpu::Buffer(bytes)};
  if (matrix.rows == 0) return answers;
  // Few rows are shared by many threads; many are taken in turns, so that parts of rows need little memory.
  auto columns = static_cast<std::uint64_t>(matrix.columns);
  const std::uint64_t most_rows = kRowParts;
  std::uint64_t chunks =
      std::clamp<std::uint64_t>(kRowParts / static_cast<std::uint64_t>(matrix.rows), 1,
                                std::clamp<std::uint64_t>(columns / kLeastOfChunk, 1, kMostChunks));
  const gpu::Buffer parts(std::min<std::uint64_t>(most_rows, static_cast<std::uint64_t>(matrix.rows)) * chunks *
                          sizeof(RowPart));
  int type_code = static_cast<int>(matrix.type);
  int operation_code = static_cast<int>(operation);
  CUdeviceptr parts_address = parts.address();
  const std::uint64_t row_bytes = columns * static_cast<std::uint64_t>(spec::size_bytes(matrix.type));
  for (std::uint64_t first = 0; first < static_cast<std::uint64_t>(matrix.rows); first += most_rows) {
    std::uint64_t rows = std::min(most_rows, static_cast<std::uint64_t>(matrix.rows) - first);
    CUdeviceptr source = matrix.start + first * row_bytes;
    CUdeviceptr wanted = answers.wanted.address() + first * sizeof(double);
    CUdeviceptr allowed = answers.allowed.address() + first * sizeof(double);
    void* of_parts[] = {&source, &rows, &columns, &chunks, &type_code, &operation_code, &parts_address};
    launch(reduce_rows_, blocks_for(rows * chunks), kThreads, of_parts);
    void* of_rows[] = {&parts_address, &rows, &chunks, &type_code, &operation_code, &relative, &wanted, &allowed};
    launch(join_rows_, blocks_for(rows), kThreads, of_rows);
  }
  stream_->synchronize();  // `parts` goes
  return answers;
}

std::optional<ExtremeElement> Support::find_extreme(CUdeviceptr source, std::int64_t count, spec::ElementType type,
                                                    Extreme which) {
  if (count <= 0) return std::nullopt;
  auto elements = static_cast<std::uint64_t>(count);
  int type_code = static_cast<int>(type);
  int least = which == Extreme::Least ? 1 : 0;
  CUdeviceptr extreme = results_.address() + kExtremeOffset;
  set_bytes(extreme, sizeof(RankedExtreme), 0);
  void* parameters[] = {&source, &elements, &type_code, &least, &extreme};
  launch(extreme_, blocks_for(elements), kThreads, parameters);
  launch(find_extreme_, blocks_for(elements), kThreads, parameters);
  RankedExtreme found{};
  check(Driver::get().cuMemcpyDtoHAsync(&found, extreme, sizeof found, stream_->get()), "cuMemcpyDtoHAsync",
        "reading a reference");
  stream_->synchronize();
  if (found.first_inverse == 0) return std::nullopt;
  const std::uint64_t index = ~found.first_inverse;
  return ExtremeElement{static_cast<std::int64_t>(index),
                        load_element(source + index * static_cast<std::uint64_t>(spec::size_bytes(type)), type)};
}

std::uint64_t Support::load_element(CUdeviceptr source, spec::ElementType type) {
  std::uint64_t bits = 0;
  check(
      Driver::get().cuMemcpyDtoHAsync(&bits, source, static_cast<std::size_t>(spec::size_bytes(type)), stream_->get()),
      "cuMemcpyDtoHAsync", "reading an element");
  stream_->synchronize();
  return bits;
}

std::vector<std::uint64_t> Support::load_elements(const std::vector<ElementAt>& elements) {
  std::vector<std::uint64_t> words(elements.size(), 0);
  if (elements.empty()) return words;
  const std::size_t bytes = elements.size() * kWordBytes;
  if (gathered_.bytes() < bytes) gathered_ = gpu::Buffer(bytes);
  set_bytes(gathered_.address(), bytes, 0);  // an element may be less than a word
  for (std::size_t i = 0; i < elements.size(); ++i)
    copy(gathered_.address() + i * kWordBytes, elements[i].address, static_cast<std::size_t>(spec::size_bytes(elements[i].type)));
  check(Driver::get().cuMemcpyDtoHAsync(words.data(), gathered_.address(), bytes, stream_->get()), "cuMemcpyDtoHAsync", "reading elements");
  stream_->synchronize();
  return words;
}

void Support::store_words(CUdeviceptr target, const std::vector<std::uint64_t>& words) {
  if (words.empty()) return;
  check(Driver::get().cuMemcpyHtoDAsync(target, words.data(), words.size() * kWordBytes, stream_->get()), "cuMemcpyHtoDAsync", "writing elements");
  stream_->synchronize();
}

void Support::store_element(CUdeviceptr target, spec::ElementType type, std::uint64_t bits) {
  check(
      Driver::get().cuMemcpyHtoDAsync(target, &bits, static_cast<std::size_t>(spec::size_bytes(type)), stream_->get()),
      "cuMemcpyHtoDAsync", "writing an element");
  stream_->synchronize();
}

}  // namespace attune::measure
