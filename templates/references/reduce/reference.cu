// What is expected of a reduction's result, and how far off it may be.

namespace reduce_reference {

/// The combined elements before they are finished.
struct Combined {
  double value;
  double lost;     // to be added, where one double is too few digits
  double allowed;  // how far off a right accumulation may be
  u64 integer;     // instead, modulo 2^64, where everything is integers
};

__device__ __forceinline__ double unit(const Reduction& of) { return is_floating(of.out) ? unit_roundoff(of.out) : 0.5; }
__device__ __forceinline__ double growth(u64 count) { return 8.0 + sqrt(static_cast<double>(count)); }
__device__ __forceinline__ bool is_power_of_two(double x) { return x > 0.0 && (static_cast<u64>(__double_as_longlong(x)) << 12) == 0; }
__device__ __forceinline__ bool has_extremes(const Totals& totals) { return totals.minimum <= totals.maximum; }

/// The inverse of ordered(), of doubles.
__device__ __forceinline__ double double_of(u64 image) {
  return __longlong_as_double(static_cast<long long>(image >> 63 ? image ^ (1ull << 63) : ~image));
}

/// Roundings that a transformed element has had, in units of its last place.
__device__ __forceinline__ double term_roundings(const Reduction& of) {
  if (of.transform == ATTUNE_TRANSFORM_SHIFTED_SQUARE) return 3.0;
  return of.transform == ATTUNE_TRANSFORM_SQUARE || of.transform == ATTUNE_TRANSFORM_TIMES ? 1.0 : 0.0;
}

/// Whether an accumulator of the output's type holds every partial result of this data exactly.
__device__ __forceinline__ bool is_exact(const Reduction& of, const Totals& totals, int data) {
  const bool wide = !is_floating(of.out) || of.out == ATTUNE_TYPE_F32 || of.out == ATTUNE_TYPE_F64;
  if (data != ATTUNE_DATA_INTEGERS || !wide) return false;
  if (of.transform == ATTUNE_TRANSFORM_SHIFTED_SQUARE && floor(of.shift) != of.shift) return false;
  if (of.op == ATTUNE_OP_PRODUCT) return true;  // a power of two
  if (of.accumulate == ATTUNE_ACCUMULATE_FIXED_POINT && (!is_power_of_two(of.resolution) || of.resolution > 1.0)) return false;
  const double most = 1.0 / unit(of);
  if (!is_floating(of.out) || totals.magnitude <= most) return true;
  // A random walk of steps of at most 4, far below the limit for every count that fits a device.
  const bool random_signs = is_signed(of.in) && (of.transform == ATTUNE_TRANSFORM_IDENTITY || of.transform == ATTUNE_TRANSFORM_TIMES);
  return random_signs && fabs(totals.sum) <= most / 2.0;
}

__device__ __forceinline__ double identity(const Reduction& of) {
  switch (of.op) {
    case ATTUNE_OP_PRODUCT: return 1.0;
    case ATTUNE_OP_MIN: return is_floating(of.in) ? infinity() : number_of(of.in, highest_bits(of.in));
    case ATTUNE_OP_MAX: return is_floating(of.in) ? -infinity() : number_of(of.in, lowest_bits(of.in));
    default: return 0.0;
  }
}

/// Transformed elements have the limits of the output: the limits of the elements do not bound them.
__device__ __forceinline__ u64 integer_identity(const Reduction& of) {
  const int type = of.transform == ATTUNE_TRANSFORM_IDENTITY ? of.in : of.out;
  switch (of.op) {
    case ATTUNE_OP_PRODUCT: return 1;
    case ATTUNE_OP_MIN: return extend(type, highest_bits(type));
    case ATTUNE_OP_MAX: return extend(type, lowest_bits(type));
    case ATTUNE_OP_AND: return extend(type, ~0ull);
    default: return 0;
  }
}

__device__ __forceinline__ u64 combined_integer(const Reduction& of, const Totals& totals) {
  const u64 sign = is_signed(of.out) ? 1ull << 63 : 0;  // of ordered()
  if (of.count == 0) return integer_identity(of);
  switch (of.op) {
    case ATTUNE_OP_PRODUCT: return totals.integer_product;
    case ATTUNE_OP_MIN: return totals.minimum ^ sign;
    case ATTUNE_OP_MAX: return totals.maximum ^ sign;
    case ATTUNE_OP_AND: return totals.conjunction;
    case ATTUNE_OP_OR: return totals.disjunction;
    case ATTUNE_OP_XOR: return totals.parity;
    default: return totals.integer_sum;
  }
}

/// The error that is allowed where sums are finite. The usual bound of recursive summation is n u sum|x|; rounding errors
/// of a fixed order behave like a random walk and trees are shorter still, so that sqrt(n) already is generous. With
/// compensation that bound has u^2, and what is left is the rounding of the elements and of the result.
/// `rounded`: the magnitude of the elements whose transform may be rounded.
__device__ __forceinline__ double allowed_of_sum(const Reduction& of, const Totals& totals, double rounded) {
  const double u = unit(of), n = static_cast<double>(of.count), terms = term_roundings(of) * u * rounded;
  if (of.accumulate == ATTUNE_ACCUMULATE_COMPENSATED) return 4.0 * u * fabs(totals.sum) + terms + 2.0 * u * u * growth(of.count) * totals.magnitude;
  if (of.accumulate == ATTUNE_ACCUMULATE_FIXED_POINT)  // each element is off by half the resolution at most, independently
    return 2.0 * u * fabs(totals.sum) + terms + of.resolution * fmin(n / 2.0, 8.0 + 2.0 * sqrt(n));
  return u * growth(of.count) * totals.magnitude;
}

/// Whether an element is so large that multiples of the resolution might not add up in 64 bits.
__device__ __forceinline__ bool leaves_fixed_point(const Reduction& of, const Totals& totals) {
  if (!has_extremes(totals)) return true;
  const double greatest = fmax(fabs(double_of(totals.minimum)), fabs(double_of(totals.maximum)));
  return greatest > of.resolution * power_of_two(62) / static_cast<double>(of.count);
}

__device__ __noinline__ Combined combined(const Reduction& of, const Totals& totals, int data, double rounded) {
  if (!of.floating()) return Combined{0.0, 0.0, 0.0, combined_integer(of, totals)};
  if (of.count == 0) return Combined{identity(of), 0.0, 0.0, 0};
  const bool exact = is_exact(of, totals, data);
  if (of.op != ATTUNE_OP_SUM) {
    const bool product = of.op == ATTUNE_OP_PRODUCT;
    if (!product && !has_extremes(totals)) return Combined{identity(of), 0.0, 0.0, 0};
    const double value = product ? totals.product : double_of(of.op == ATTUNE_OP_MIN ? totals.minimum : totals.maximum);
    const double units = product ? (1.0 + term_roundings(of)) * growth(of.count) : term_roundings(of);
    return Combined{value, 0.0, exact || !is_finite(value) ? 0.0 : units * unit(of) * fabs(value), 0};
  }
  const bool fixed = of.accumulate == ATTUNE_ACCUMULATE_FIXED_POINT;
  if (!is_finite(totals.sum)) return Combined{fixed ? not_a_number() : totals.sum, 0.0, 0.0, 0};
  if (fixed && leaves_fixed_point(of, totals)) return Combined{not_a_number(), 0.0, 0.0, 0};
  return Combined{totals.sum, totals.lost, exact ? 0.0 : allowed_of_sum(of, totals, rounded), 0};
}

/// The root of a sum that rounding may have made negative.
__device__ __forceinline__ Expected root_of(const Combined& right, double u) {
  const double sum = is_finite(right.value) ? right.value + right.lost : right.value;
  const double least = sum - right.allowed, most = sum + right.allowed;
  if (sum != sum || most < 0.0) return about(not_a_number(), 0.0);
  const double value = sqrt(fmax(sum, 0.0));
  if (!is_finite(value)) return about(value, 0.0);
  const double off = fmax(sqrt(most) - value, value - sqrt(fmax(least, 0.0))) + 2.0 * u * value;
  return least < 0.0 ? between_or_nan(value - off, value + off) : about(value, off);
}

__device__ __noinline__ Expected finished(const Reduction& of, const Combined& right) {
  if (!of.floating()) {  // modulo 2^width of the output
    return exactly(of.finish == ATTUNE_FINISH_SCALE_BIAS ? of.scale_integer * right.integer + of.bias_integer : right.integer);
  }
  const double u = unit(of);
  switch (of.finish) {
    case ATTUNE_FINISH_MEAN: {
      const double n = static_cast<double>(of.count), value = right.value / n;
      return about(value, right.allowed / n + 2.0 * u * fabs(value), right.lost / n);
    }
    case ATTUNE_FINISH_ROOT: return root_of(right, u);
    case ATTUNE_FINISH_SCALE_BIAS: {
      const double scaled = of.scale * right.value;
      return about(scaled + of.bias, fabs(of.scale) * right.allowed + 2.0 * u * (fabs(scaled) + fabs(of.bias)), of.scale * right.lost);
    }
    default: return about(right.value, right.allowed, right.lost);
  }
}

}  // namespace reduce_reference

/// `base`: the totals of the data that are altered, or these: what is planted is exact.
extern "C" __global__ void reduce_expect(const void* totals, const void* base, unsigned long long count, int type, int out_type, int op, int transform,
                                         int finish, int accumulate, double shift, double scale, double bias, unsigned long long scale_integer,
                                         unsigned long long bias_integer, double resolution, int data, attune::reference::Expected* out) {
  using namespace reduce_reference;
  const Reduction of{count, type, out_type, op, transform, finish, accumulate, shift, scale, bias, resolution, 0, scale_integer, bias_integer};
  *out = finished(of, combined(of, *static_cast<const Totals*>(totals), data, static_cast<const Totals*>(base)->magnitude));
}
