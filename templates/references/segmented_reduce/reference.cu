// What is right of "segmented_reduce": each row in double precision or exact integers.
#include <attune/reference.cuh>

namespace segmented_reduce_reference {

using namespace attune::reference;

/// A share of a row. Floating types use `value`, integers `integer` as well: extended to 64 bits, sums and products modulo 2^64.
struct RowPart {
  double value;
  double magnitude;  // sum of |x|
  u64 integer;
};

__device__ __forceinline__ RowPart no_elements(int type, int op) {
  switch (op) {
    case ATTUNE_OP_PRODUCT: return RowPart{1.0, 0.0, 1};
    case ATTUNE_OP_MIN: return RowPart{infinity(), 0.0, extend(type, highest_bits(type))};
    case ATTUNE_OP_MAX: return RowPart{-infinity(), 0.0, extend(type, lowest_bits(type))};
    default: return RowPart{0.0, 0.0, 0};
  }
}

/// Minimum and maximum pass over NaN: no comparison with one is true, and `a` begins as no_elements.
__device__ __forceinline__ void add_part(RowPart& a, const RowPart& b, int type, int op) {
  const u64 old = ordered_integer(type, a.integer), other = ordered_integer(type, b.integer);
  a.magnitude += b.magnitude;
  switch (op) {
    case ATTUNE_OP_SUM:
      a.value += b.value;
      a.integer += b.integer;
      break;
    case ATTUNE_OP_PRODUCT:
      a.value *= b.value;
      a.integer *= b.integer;
      break;
    case ATTUNE_OP_MIN:
      if (b.value < a.value) a.value = b.value;
      if (other < old) a.integer = b.integer;
      break;
    case ATTUNE_OP_MAX:
      if (b.value > a.value) a.value = b.value;
      if (other > old) a.integer = b.integer;
      break;
  }
}

/// The elements first, first + stride, first + 2 * stride, ... of the `columns` ones from `start` on.
__device__ __noinline__ RowPart part_of(const void* in, u64 start, u64 columns, u64 first, u64 stride, int type, int op) {
  RowPart part = no_elements(type, op);
#pragma unroll 1
  for (u64 column = first; column < columns; column += stride) {
    const u64 bits = load_bits(in, type, start + column);
    const double value = number_of(type, bits);
    add_part(part, RowPart{value, fabs(value), extend(type, bits)}, type, op);
  }
  return part;
}

/// Sums and products of the small integers are exact in these types whatever the order: a random walk of steps of at most 2, far below
/// 2^24 for every count that fits a device.
__device__ __forceinline__ bool holds_integers(int type) {
  return !is_floating(type) || type == ATTUNE_TYPE_F32 || type == ATTUNE_TYPE_F64;
}

__device__ __forceinline__ bool is_extreme(int op) { return op == ATTUNE_OP_MIN || op == ATTUNE_OP_MAX; }

/// The usual bound of recursive summation is n u sum|x|; rounding errors of a fixed order behave like a random walk and trees are shorter
/// still, so that sqrt(n) already is generous.
__device__ __forceinline__ double allowed_of(const RowPart& all, u64 columns, int op, int out_type, int data) {
  if (is_extreme(op) || !is_floating(out_type) || (data == ATTUNE_DATA_INTEGERS && holds_integers(out_type))) return 0.0;
  const double relative = unit_roundoff(out_type) * (8.0 + sqrt(static_cast<double>(columns)));
  return relative * (op == ATTUNE_OP_PRODUCT ? fabs(all.value) : all.magnitude);
}

}  // namespace segmented_reduce_reference

extern "C" __global__ void segmented_reduce_fill(attune::reference::Filling filling, unsigned long long columns) {
  using namespace attune::reference;
  fill(filling, [&](u64 i) { return factor(filling.type, hash(i, filling.seed), filling.data != ATTUNE_DATA_INTEGERS, factor_rarity(columns), 0.0); });
}

/// parts[row * chunks + k]: the elements k, k + chunks, k + 2 * chunks, ... of the row.
extern "C" __global__ void segmented_reduce_parts(const void* in, void* parts, unsigned long long rows, unsigned long long columns,
                                                  unsigned long long chunks, int type, int op) {
  using namespace segmented_reduce_reference;
  for (u64 i = thread_index(); i < rows * chunks; i += thread_count())
    static_cast<RowPart*>(parts)[i] = part_of(in, i / chunks * columns, columns, i % chunks, chunks, type, op);
}

extern "C" __global__ void segmented_reduce_expect(const void* in, const void* parts, unsigned long long rows, unsigned long long columns,
                                                   unsigned long long chunks, int type, int op, int out_type, int data,
                                                   attune::reference::Expected* out) {
  using namespace segmented_reduce_reference;
  for (u64 row = thread_index(); row < rows; row += thread_count()) {
    RowPart all = no_elements(type, op);
    if (chunks == 1) all = part_of(in, row * columns, columns, 0, 1, type, op);
#pragma unroll 1
    for (u64 k = 0; k < chunks && chunks > 1; ++k) add_part(all, static_cast<const RowPart*>(parts)[row * chunks + k], type, op);
    if (!is_floating(type) && !is_floating(out_type)) out[row] = exactly(all.integer);
    else out[row] = about(all.value, allowed_of(all, columns, op, out_type, data));
  }
}

/// Plants an extreme, or a multiple: only that row's result is another.
extern "C" __global__ void segmented_reduce_plant(attune::reference::Plant* plants, unsigned long long count, unsigned long long columns, int type,
                                                  int op, int out_type, const attune::reference::Expected* out) {
  using namespace segmented_reduce_reference;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    Plant& plant = plants[i];
    const bool integers = !is_floating(type) && !is_floating(out_type);
    plant.changes = 1;
    plant.element[0] = plant.position / columns;
    const Expected before = out[plant.element[0]];
    if (is_extreme(op)) {
      plant.bits = op == ATTUNE_OP_MIN ? lowest_finite_bits(type) : highest_finite_bits(type);
      const double value = number_of(type, plant.bits);
      plant.expected[0] = integers ? exactly(extend(type, plant.bits)) : between(value, value);
    } else {  // twice a floating factor, three times an integer
      const u64 multiple = is_floating(type) ? 2 : 3;
      plant.bits = is_floating(type) ? plant.before + (1ull << mantissa_bits(type)) : (plant.before * 3) & all_bits(type);
      const double low = __longlong_as_double(static_cast<long long>(before.low)), high = __longlong_as_double(static_cast<long long>(before.high));
      plant.expected[0] = integers ? exactly(before.low * multiple) : between(low * multiple, high * multiple);
    }
  }
}
