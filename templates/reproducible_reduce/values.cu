// What is accumulated: values, pairs of a sum and what rounding took from it, or multiples of the resolution.
#include <attune/memory.cuh>
#include <attune/reduction.cuh>

using namespace attune::reduction;
using attune::Address;

constexpr unsigned kThreads = 256;  // this and kRowBytes stand in template.json too: they fix the order of combination
constexpr unsigned kItems = ATTUNE_ITEMS;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kWidth = 16 / sizeof(In);  // elements of a row that a thread has
constexpr unsigned kRowBytes = kThreads * 16;
constexpr unsigned kRow = kThreads * kWidth;

// What the caller passes beside the input, and what follows from it.
struct Setting {
  Scalars scalars;
  Value resolution;
  Value per_unit;  // 1 / resolution
  Value most;      // multiples of the resolution that an element may be, so that no sum leaves 64 bits
};

__device__ __forceinline__ Setting setting_of(const Scalars& scalars, Value resolution, Index n) {
  return {scalars, resolution, Value{1} / resolution, static_cast<Value>(4611686018427387904.0) / static_cast<Value>(n == 0 ? 1 : n)};
}

#if ATTUNE_ACCUMULATE_FIXED_ORDER

struct Total {
  using Sum = Value;
  __device__ static Sum none() { return Operator::identity(); }
  __device__ static Sum add(Sum sum, Value x, const Setting&) { return Operator::combine(sum, x); }
  __device__ static Sum combine(Sum a, Sum b) { return Operator::combine(a, b); }
  __device__ static Value result(Sum sum, const Setting&) { return sum; }
  __device__ static Sum from_lane(Sum sum, unsigned distance) { return __shfl_down_sync(~0u, sum, distance); }
};

#elif ATTUNE_ACCUMULATE_COMPENSATED

// Neumaier's variant of Kahan's summation: `lost` is what rounding took from `sum`, exact for each addition.
struct Total {
  struct Sum {
    Value sum, lost;
  };
  __device__ static Sum none() { return {Value{0}, Value{0}}; }
  __device__ static Sum add(Sum a, Value x, const Setting&) {
    const Value sum = a.sum + x;
    const bool larger = fabs(a.sum) >= fabs(x);
    const Value great = larger ? a.sum : x, small = larger ? x : a.sum;
    return {sum, a.lost + ((great - sum) + small)};
  }
  __device__ static Sum combine(Sum a, Sum b) {
    Sum both = add(a, b.sum, Setting{});
    both.lost += b.lost;
    return both;
  }
  // Behind an infinity or NaN stands no correction: what was lost is NaN there.
  __device__ static Value result(Sum a, const Setting&) { return fabs(a.sum) < attune::Element<In>::highest() ? a.sum + a.lost : a.sum; }
  __device__ static Sum from_lane(Sum a, unsigned distance) {
    return {__shfl_down_sync(~0u, a.sum, distance), __shfl_down_sync(~0u, a.lost, distance)};
  }
};

#else

// Multiples of the resolution, rounded to nearest for each element. An element that is NaN or too large for the sum to be
// sure of its 64 bits makes the result NaN.
struct Total {
  using Sum = long long;
  static constexpr Sum kInvalid = -9223372036854775807ll - 1;
  __device__ static Sum none() { return 0; }
  __device__ static Sum add(Sum sum, Value x, const Setting& setting) {
    const Value units = x * setting.per_unit;
    if (!(fabs(units) <= setting.most)) return kInvalid;
    return combine(sum, sizeof(Value) == 8 ? __double2ll_rn(units) : __float2ll_rn(units));
  }
  __device__ static Sum combine(Sum a, Sum b) { return a == kInvalid || b == kInvalid ? kInvalid : a + b; }
  __device__ static Value result(Sum sum, const Setting& setting) {
    if (sum == kInvalid) return attune::Element<In>::highest() - attune::Element<In>::highest();
    return static_cast<Value>(static_cast<double>(sum) * static_cast<double>(setting.resolution));
  }
  __device__ static Sum from_lane(Sum sum, unsigned distance) { return __shfl_down_sync(~0u, sum, distance); }
};

#endif

using Sum = Total::Sum;

#if ATTUNE_OP_CUSTOM || ATTUNE_TRANSFORM_CUSTOM  // attune itself computes the others
extern "C" __global__ void reduce_reference(const In* in, const In* other, Index n, Value shift, Value scale, Value bias, Value* out) {
  reduce_plainly(in, other, n, Scalars{shift, scale, bias}, out);
}
#endif
