// Elements that a reduction is tried on beside its data: ones that decide the result, NaN, infinities, what cancels.

namespace reduce_reference {

constexpr u64 kMultiple = 3;             // odd, so that a product modulo 2^n changes
constexpr int kMostExponent = 14;        // of planted numbers: their products with small integers are exact in every type
constexpr int kCancellingDigits = 6;     // binary ones that a plain sum loses of numbers near 1
constexpr double kBeyondFixedPoint = 4;  // times what 64 bits hold

/// The nearest element to a number that the type holds, or nearly.
__device__ __noinline__ u64 nearest(int type, double value) {
  return is_floating(type) ? floating_bits(type, value) : static_cast<u64>(static_cast<long long>(value)) & all_bits(type);
}

/// The second input's element, of the transform times only.
__device__ __noinline__ double neighbour(const Reduction& of, const void* other, u64 position) {
  return of.transform == ATTUNE_TRANSFORM_TIMES ? number_of(of.in, load_bits(other, of.in, position)) : 1.0;
}

/// What contributes more than any small integer, or less.
__device__ __forceinline__ u64 extreme_element(const Reduction& of, double y) {
  const bool least = of.op == ATTUNE_OP_MIN, times = of.transform == ATTUNE_TRANSFORM_TIMES;
  if (of.transform == ATTUNE_TRANSFORM_IDENTITY) return least ? lowest_finite_bits(of.in) : highest_finite_bits(of.in);
  if (least && of.transform == ATTUNE_TRANSFORM_SHIFTED_SQUARE) return is_floating(of.in) ? nearest(of.in, of.shift) : of.shift_integer & all_bits(of.in);
  if (least && (!times || !is_signed(of.in))) return 0;
  int exponent = bits_of_type(of.in) - 2;
  exponent = bits_of_type(of.out) / 2 - 2 < exponent ? bits_of_type(of.out) / 2 - 2 : exponent;
  exponent = kMostExponent < exponent ? kMostExponent : exponent;
  const bool negative = times && (least != (y < 0.0));
  return nearest(of.in, (negative ? -1.0 : 1.0) * power_of_two(exponent));
}

/// A multiple of the factor `x`; of x - shift where that is what is multiplied.
__device__ __forceinline__ u64 multiple(const Reduction& of, u64 x) {
  const bool shifted = of.transform == ATTUNE_TRANSFORM_SHIFTED_SQUARE;
  if (!is_floating(of.in)) {
    const u64 shift = shifted ? of.shift_integer : 0;
    return (kMultiple * (extend(of.in, x) - shift) + shift) & all_bits(of.in);
  }
  const double shift = shifted ? of.shift : 0.0;
  return nearest(of.in, 2.0 * (number_of(of.in, x) - shift) + shift);
}

__device__ __forceinline__ u64 lowest_bit(u64 x) { return x & (0 - x); }

/// What takes the place of the small integer or factor `x`, so that a kernel that drops or repeats it shows: an extreme, a multiple, a bit
/// of its own; `x` itself where no element does that.
__device__ __noinline__ u64 deciding_element(const Reduction& of, const Totals& whole, u64 x, double y) {
  const u64 all = extend(of.in, ~0ull), absent = ~whole.disjunction & all, common = whole.conjunction & all;
  const bool plain = of.transform == ATTUNE_TRANSFORM_IDENTITY;  // bits of transformed elements are nobody's own
  switch (of.op) {
    case ATTUNE_OP_PRODUCT: return multiple(of, x);
    case ATTUNE_OP_MIN: case ATTUNE_OP_MAX: return extreme_element(of, y);
    case ATTUNE_OP_AND: return plain ? x & ~lowest_bit(common) : x;
    case ATTUNE_OP_OR: return (plain ? x | lowest_bit(absent) : x) & all_bits(of.in);
    case ATTUNE_OP_XOR: return x ^ 1;
    default: return x;
  }
}

__device__ __forceinline__ double term_number(const Reduction& of, u64 x, double y) { return transformed(number_of(of.in, x), y, of); }
__device__ __forceinline__ u64 term_integer(const Reduction& of, u64 x, u64 y) {
  return transformed(extend(of.in, x), extend(of.in, y), is_signed(of.in) && number_of(of.in, x) < 0.0, of);
}

/// What elements combine to after `planted` took the place of `x`.
__device__ __noinline__ Combined with_planted(const Reduction& of, Combined all, u64 x, u64 planted, u64 y_bits) {
  const double y = number_of(of.in, y_bits), before = term_number(of, x, y), after = term_number(of, planted, y);
  const u64 integer = term_integer(of, planted, y_bits);
  switch (of.op) {
    case ATTUNE_OP_PRODUCT: {  // integers have no quotients, but the multiples are known
      const bool squared = of.transform == ATTUNE_TRANSFORM_SQUARE || of.transform == ATTUNE_TRANSFORM_SHIFTED_SQUARE;
      all.value *= after / before;
      all.allowed *= fabs(after / before);
      all.integer *= squared ? kMultiple * kMultiple : kMultiple;
      break;
    }
    case ATTUNE_OP_MIN: case ATTUNE_OP_MAX:
      all.value = after;
      all.integer = integer;
      break;
    case ATTUNE_OP_AND: all.integer &= integer; break;
    case ATTUNE_OP_OR: all.integer |= integer; break;
    case ATTUNE_OP_XOR: all.integer ^= term_integer(of, x, y_bits) ^ integer; break;
  }
  return all;
}

/// Alters one element.
__device__ __noinline__ void alter_at(attune::reference::Alteration* alteration, u64 position, u64 bits) {
  alteration->position[alteration->count] = position;
  alteration->bits[alteration->count] = bits;
  alteration->count += 1;
}

__device__ __forceinline__ u64 signed_infinity(int type, double sign) { return sign < 0.0 ? lowest_bits(type) : highest_bits(type); }

/// Two numbers so large that a plain sum rounds the others away, and that add up to nothing.
__device__ __forceinline__ void alter_cancelling(attune::reference::Alteration* alteration, const Reduction& of, double y_first, double y_last) {
  const int digits = kCancellingDigits + mantissa_bits(of.out) + 1;
  const double large = power_of_two(of.in == ATTUNE_TYPE_F16 ? kMostExponent : digits);  // f16 has no powers of two beyond 15
  alter_at(alteration, 0, nearest(of.in, large * y_last));
  alter_at(alteration, of.count - 1, nearest(of.in, -large * y_first));
}

}  // namespace reduce_reference

extern "C" __global__ void reduce_alter(attune::reference::Alteration* alteration, const void* other, unsigned long long count, int type, int out_type, int op,
                                        int transform, int accumulate, double resolution, int data) {
  using namespace reduce_reference;
  if (count == 0 || thread_index() != 0) return;
  Reduction of{};
  of.count = count;
  of.in = type;
  of.out = out_type;
  of.op = op;
  of.transform = transform;
  of.accumulate = accumulate;
  const u64 middle = count / 2, last = count - 1;
  const double y_first = neighbour(of, other, 0), y_middle = neighbour(of, other, middle), y_last = neighbour(of, other, last);
  switch (data) {
    case ATTUNE_DATA_NAN_MIDDLE: alter_at(alteration, middle, all_bits(type)); break;
    case ATTUNE_DATA_NAN_LAST: alter_at(alteration, last, all_bits(type)); break;
    case ATTUNE_DATA_INFINITE: alter_at(alteration, middle, signed_infinity(type, y_middle)); break;
    case ATTUNE_DATA_NAN_FIRST:
      if (count < 2) return;
      alter_at(alteration, 0, all_bits(type));
      alter_at(alteration, last, signed_infinity(type, op == ATTUNE_OP_MIN ? -y_last : y_last));
      break;
    case ATTUNE_DATA_OPPOSITE:
      if (count < 2) return;
      alter_at(alteration, 0, signed_infinity(type, y_first));
      alter_at(alteration, last, signed_infinity(type, -y_last));
      break;
    case ATTUNE_DATA_CANCELLING:
      if (count > 1) alter_cancelling(alteration, of, y_first, y_last);
      break;
    case ATTUNE_DATA_TOO_LARGE: {
      const double value = kBeyondFixedPoint * resolution * power_of_two(62) / static_cast<double>(count);
      const u64 bits = nearest(type, value);
      if (value <= number_of(type, highest_finite_bits(type)) && is_finite(number_of(type, bits))) alter_at(alteration, middle, bits);
      break;
    }
  }
}

extern "C" __global__ void reduce_plant(attune::reference::Plant* plants, unsigned long long plant_count, const void* other, const void* totals,
                                        unsigned long long count, int type, int out_type, int op, int transform, int finish, double shift,
                                        unsigned long long shift_integer, double scale, double bias, unsigned long long scale_integer,
                                        unsigned long long bias_integer) {
  using namespace reduce_reference;
  const Reduction of{count, type, out_type, op, transform, finish, ATTUNE_ACCUMULATE_FIXED_ORDER, shift, scale, bias, 0.0, shift_integer, scale_integer, bias_integer};
  const Totals& whole = *static_cast<const Totals*>(totals);
  for (u64 i = thread_index(); i < plant_count; i += thread_count()) {
    Plant& plant = plants[i];
    const u64 y = transform == ATTUNE_TRANSFORM_TIMES ? load_bits(other, type, plant.position) : 0;
    plant.bits = deciding_element(of, whole, plant.before, number_of(type, y));
    plant.changes = 1;
    const Combined base = combined(of, whole, ATTUNE_DATA_INTEGERS, whole.magnitude);
    plant.expected[0] = finished(of, with_planted(of, base, plant.before, plant.bits, y));
  }
}
