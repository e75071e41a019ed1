// The elements of a reduction, and what they combine to in double precision or exact integers.
#include <attune/reference.cuh>

namespace reduce_reference {

using namespace attune::reference;

/// What is computed: of integers modulo 2^width of the output where input and output are integers, else in double precision.
struct Reduction {
  u64 count;
  int in, out;  // types
  int op, transform, finish, accumulate;
  double shift, scale, bias, resolution;
  u64 shift_integer, scale_integer, bias_integer;

  __device__ bool floating() const { return is_floating(in) || is_floating(out); }
};

/// Everything that transformed elements combine to. Minimum and maximum are order-preserving images (see ordered()).
struct Totals {
  double sum;
  double lost;       // what rounding took from `sum`
  double magnitude;  // sum of |x|
  double product;
  u64 integer_sum;  // these modulo 2^64
  u64 integer_product;
  u64 conjunction;
  u64 disjunction;
  u64 parity;
  u64 minimum;
  u64 maximum;
};

__device__ __forceinline__ Totals no_elements() { return Totals{0.0, 0.0, 0.0, 1.0, 0, 1, ~0ull, 0, 0, ~0ull, 0}; }

/// The sum is rounded, and what rounding took is exact (Knuth): together they have twice the digits.
__device__ __forceinline__ void combine(Totals& a, const Totals& b) {
  const double sum = __dadd_rn(a.sum, b.sum);
  const double added = __dsub_rn(sum, a.sum);
  a.lost += __dadd_rn(__dsub_rn(a.sum, __dsub_rn(sum, added)), __dsub_rn(b.sum, added)) + b.lost;
  a.sum = sum;
  a.magnitude += b.magnitude;
  a.product *= b.product;
  a.integer_sum += b.integer_sum;
  a.integer_product *= b.integer_product;
  a.conjunction &= b.conjunction;
  a.disjunction |= b.disjunction;
  a.parity ^= b.parity;
  a.minimum = b.minimum < a.minimum ? b.minimum : a.minimum;
  a.maximum = b.maximum > a.maximum ? b.maximum : a.maximum;
}

/// Not contracted with what follows: the rounded products are what is summed.
__device__ __forceinline__ double transformed(double x, double y, const Reduction& of) {
  const double d = __dsub_rn(x, of.shift);
  switch (of.transform) {
    case ATTUNE_TRANSFORM_ABSOLUTE: return fabs(x);
    case ATTUNE_TRANSFORM_SQUARE: return __dmul_rn(x, x);
    case ATTUNE_TRANSFORM_SHIFTED_SQUARE: return __dmul_rn(d, d);
    case ATTUNE_TRANSFORM_TIMES: return __dmul_rn(x, y);
    default: return x;
  }
}

/// Modulo 2^width of the output, extended to 64 bits.
__device__ __forceinline__ u64 transformed(u64 x, u64 y, bool negative, const Reduction& of) {
  const u64 d = x - of.shift_integer;
  switch (of.transform) {
    case ATTUNE_TRANSFORM_ABSOLUTE: x = negative ? 0 - x : x; break;
    case ATTUNE_TRANSFORM_SQUARE: x *= x; break;
    case ATTUNE_TRANSFORM_SHIFTED_SQUARE: x = d * d; break;
    case ATTUNE_TRANSFORM_TIMES: x *= y; break;
  }
  return extend(of.out, x);
}

/// One element as a reduction of its own. Raw bits of the input's type.
__device__ __forceinline__ Totals term(u64 x, u64 y, const Reduction& of) {
  Totals one = no_elements();
  const double number = number_of(of.in, x);
  if (!of.floating()) {
    const u64 value = transformed(extend(of.in, x), extend(of.in, y), is_signed(of.in) && number < 0.0, of);
    one.integer_sum = one.integer_product = one.conjunction = one.disjunction = one.parity = value;
    one.minimum = one.maximum = ordered_integer(of.out, value);
    return one;
  }
  const double value = transformed(number, number_of(of.in, y), of);
  one.sum = one.product = value;
  one.magnitude = fabs(value);
  if (!is_nan(value)) one.minimum = one.maximum = ordered(value);  // extremes pass over NaN
  return one;
}

/// Bits that combine without saturating: once in `rarity` elements one bit is set, in the others none.
__device__ __forceinline__ u64 lone_bit(int type, u64 h, u64 rarity) {
  return (h >> 20 & 0xffffffffffull) % rarity != 0 ? 0 : 1ull << (h % static_cast<u64>(bits_of_type(type)));
}

constexpr u64 kLoneElements = 4;  // of bits that stand alone: few, so that no result has all bits
constexpr u64 kSquareRarity = 4;  // squares are twice as far from 1 as factors are

}  // namespace reduce_reference

/// Factors of products, which neither vanish nor overflow, and bits of their own, which do not saturate.
extern "C" __global__ void reduce_fill(attune::reference::Filling filling, int op, int transform, double shift) {
  using namespace reduce_reference;
  const bool shifted = transform == ATTUNE_TRANSFORM_SHIFTED_SQUARE, squared = shifted || transform == ATTUNE_TRANSFORM_SQUARE;
  const u64 factors = factor_rarity(filling.count) * (squared ? kSquareRarity : 1);
  const u64 bits = filling.count / kLoneElements > 1 ? filling.count / kLoneElements : 1;
  fill(filling, [&](u64 i) {
    const u64 h = hash(i, filling.seed);
    if (op == ATTUNE_OP_OR) return lone_bit(filling.type, h, bits);
    if (op == ATTUNE_OP_AND) return ~lone_bit(filling.type, h, bits);
    return factor(filling.type, h, filling.data != ATTUNE_DATA_INTEGERS, factors, shifted ? shift : 0.0);
  });
}

/// shares[k]: the elements k, k + parts, k + 2 * parts, ...: the same in every run. `other`: of the transform times.
extern "C" __global__ void reduce_share(const void* in, const void* other, unsigned long long count, int type, int out_type, int transform, double shift,
                                        unsigned long long shift_integer, unsigned long long parts, void* shares) {
  using namespace reduce_reference;
  Reduction of{};
  of.in = type;
  of.out = out_type;
  of.transform = transform;
  of.shift = shift;
  of.shift_integer = shift_integer;
  const void* const second = transform == ATTUNE_TRANSFORM_TIMES ? other : in;
  for (u64 part = thread_index(); part < parts; part += thread_count()) {
    Totals mine = no_elements();
#pragma unroll 1
    for (u64 i = part; i < count; i += parts) combine(mine, term(load_bits(in, type, i), load_bits(second, type, i), of));
    static_cast<Totals*>(shares)[part] = mine;
  }
}

/// joined[k]: the shares from 512 k on, 512 of them.
extern "C" __global__ void reduce_join(const void* shares, unsigned long long count, void* joined) {
  using namespace reduce_reference;
  constexpr u64 kEach = 512;
  for (u64 k = thread_index(); k * kEach < count; k += thread_count()) {
    Totals all = no_elements();
    for (u64 i = k * kEach; i < count && i < (k + 1) * kEach; ++i) combine(all, static_cast<const Totals*>(shares)[i]);
    static_cast<Totals*>(joined)[k] = all;
  }
}
