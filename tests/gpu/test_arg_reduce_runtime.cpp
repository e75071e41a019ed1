// The typed front end of argreduce on the device, against a plain loop on the host.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "tests/gpu/runtime_fixture.hpp"
#include "tuner/spec/element.hpp"

namespace test_arg_reduce_runtime {

using namespace attune;
using namespace attune::test;
using spec::ElementType;

namespace {

using Bits = std::uint64_t;

constexpr std::size_t kMostElements = (std::size_t{1} << 20) + 16;

/// Device memory for one type's searches.
struct Arena {
  gpu::Buffer in{kMostElements * 8};
  gpu::Buffer value{8};
  gpu::Buffer index{8};
};

void to_device(CUdeviceptr target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  gpu::check(gpu::Driver::get().cuMemcpyHtoDAsync(target, source, bytes, nullptr), "cuMemcpyHtoDAsync", "writing");
}

Bits from_device(CUdeviceptr source, std::size_t bytes) {
  Bits bits = 0;
  gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(&bits, source, bytes, nullptr), "cuMemcpyDtoHAsync", "reading");
  gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
  return bits;
}

/// Whether a comes before b: as integers where these are wider than a double.
bool better(ElementType type, ArgOp op, Bits a, Bits b) {
  if (op == ArgOp::Min) std::swap(a, b);
  if (spec::is_floating(type)) return spec::to_double(type, a) > spec::to_double(type, b);
  a = spec::extend(type, a);
  b = spec::extend(type, b);
  return spec::is_signed(type) ? static_cast<std::int64_t>(a) > static_cast<std::int64_t>(b) : a > b;
}

bool is_nan(ElementType type, Bits bits) { return spec::is_floating(type) && std::isnan(spec::to_double(type, bits)); }

struct Answer {
  Bits bits;
  std::int64_t index = -1;
};

Answer answer_of(ElementType type, ArgOp op, const std::vector<Bits>& in) {
  Answer answer{op == ArgOp::Max ? spec::lowest_bits(type) : spec::highest_bits(type)};
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (is_nan(type, in[i]) || (answer.index >= 0 && !better(type, op, in[i], answer.bits))) continue;
    answer = {in[i], static_cast<std::int64_t>(i)};
  }
  return answer;
}

template <class T>
void check(Runtime& runtime, const Arena& arena, ElementType type, ArgOp op, const std::vector<Bits>& in, std::size_t offset) {
  const auto size = static_cast<std::size_t>(spec::size_bytes(type));
  std::vector<unsigned char> bytes(in.size() * size);
  for (std::size_t i = 0; i < in.size(); ++i) std::memcpy(bytes.data() + i * size, &in[i], size);
  const CUdeviceptr start = arena.in.address() + offset * size;
  to_device(start, bytes.data(), bytes.size());
  runtime.arg_reduce<T>(op)(reinterpret_cast<const T*>(start), static_cast<std::int64_t>(in.size()),
                            reinterpret_cast<T*>(arena.value.address()), reinterpret_cast<std::int64_t*>(arena.index.address()), nullptr);
  const Answer wanted = answer_of(type, op, in);
  const Bits got = from_device(arena.value.address(), size);
  CAPTURE(spec::name(type));
  CAPTURE(in.size());
  CAPTURE(offset);
  CAPTURE(static_cast<int>(op));
  CHECK(static_cast<std::int64_t>(from_device(arena.index.address(), 8)) == wanted.index);
  CHECK_FALSE(better(type, op, got, wanted.bits));
  CHECK_FALSE(better(type, op, wanted.bits, got));
  CHECK_FALSE(is_nan(type, got));
}

/// The contents that could break it; elements are made of bits, so that all types are treated alike.
template <class T>
void check_type(ElementType type) {
  Runtime runtime;
  const Arena arena;
  std::mt19937_64 random(static_cast<unsigned>(type));
  const Bits mask = spec::size_bytes(type) == 8 ? ~Bits{0} : (Bits{1} << 8 * spec::size_bytes(type)) - 1;
  const auto low = spec::lowest_bits(type), high = spec::highest_bits(type);
  const std::vector<std::function<Bits(std::size_t)>> contents = {
      [&](std::size_t) { return random() & mask; },                   // anything, NaN and infinities too
      [&](std::size_t) { return Bits{random() % 3}; },                // many equal
      [&](std::size_t) { return Bits{1}; },                           // all equal
      [&](std::size_t i) { return i % 2 == 0 ? low : high; },         // infinities, limits
      [&](std::size_t) { return low; },                               // the identity of max everywhere
      [&](std::size_t) { return high; },                              // and that of min
      [&](std::size_t) { return mask; },                              // NaN in every floating format
      [&](std::size_t i) { return i % 1021 == 1020 ? low : mask; }};  // infinities among NaN
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33}, std::size_t{1023}}) {
    for (const auto& content : contents) {
      std::vector<Bits> in(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = content(i);
      for (const ArgOp op : {ArgOp::Max, ArgOp::Min})
        for (const std::size_t offset : {0, 1, 3}) check<T>(runtime, arena, type, op, in, offset);
    }
  }
  for (const std::size_t content : {0, 2, 7}) {
    std::vector<Bits> in((std::size_t{1} << 20) + 3);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = contents[content](i);
    check<T>(runtime, arena, type, ArgOp::Max, in, 1);
    check<T>(runtime, arena, type, ArgOp::Min, in, 0);
  }
}

}  // namespace

TEST_CASE_FIXTURE(RuntimeFixture, "arg_reduce agrees with a loop on the host for every type") {
  check_type<std::int8_t>(ElementType::I8);
  check_type<std::uint8_t>(ElementType::U8);
  check_type<std::int32_t>(ElementType::I32);
  check_type<std::uint32_t>(ElementType::U32);
  check_type<std::int64_t>(ElementType::I64);
  check_type<std::uint64_t>(ElementType::U64);
  check_type<__half>(ElementType::F16);
  check_type<__nv_bfloat16>(ElementType::BF16);
  check_type<float>(ElementType::F32);
  check_type<double>(ElementType::F64);
}

}  // namespace test_arg_reduce_runtime
