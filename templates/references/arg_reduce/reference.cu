// What is right of "arg_reduce": exact.
#include <attune/reference.cuh>

namespace arg_reduce_reference {

using namespace attune::reference;

/// What a search for an extreme keeps; all bytes zero before it.
struct Best {
  u64 rank;
  u64 first_inverse;  // ~index of the first element of that rank
};

/// The greater the nearer to the extreme that is looked for; the same for equal values, so that -0 is +0. No NaN.
__device__ __forceinline__ u64 rank_of(int type, u64 bits, int op) {
  const u64 image = is_floating(type) ? ordered(number_of(type, bits) + 0.0) : ordered_integer(type, extend(type, bits));
  return op == ATTUNE_OP_MIN ? ~image : image;
}

__device__ __forceinline__ bool is_number(int type, u64 bits) { return !is_floating(type) || !is_nan(number_of(type, bits)); }

__device__ __forceinline__ Expected value_of(int type, u64 bits) {
  const double value = number_of(type, bits);
  return is_floating(type) ? between(value, value) : exactly(extend(type, bits));
}

}  // namespace arg_reduce_reference

/// The rank of the extreme. NaN is passed over.
extern "C" __global__ void arg_reduce_rank(const void* in, unsigned long long count, int type, int op, void* best) {
  using namespace arg_reduce_reference;
  u64 highest = 0;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const u64 bits = load_bits(in, type, i), rank = is_number(type, bits) ? rank_of(type, bits, op) : 0;
    highest = rank > highest ? rank : highest;
  }
  atomicMax(&static_cast<Best*>(best)->rank, highest);
}

/// Where the first element of that rank stands. NaN alone: first_inverse stays zero.
extern "C" __global__ void arg_reduce_find(const void* in, unsigned long long count, int type, int op, void* best) {
  using namespace arg_reduce_reference;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const u64 bits = load_bits(in, type, i);
    if (!is_number(type, bits) || rank_of(type, bits, op) != static_cast<Best*>(best)->rank) continue;
    atomicMax(&static_cast<Best*>(best)->first_inverse, ~i);
    break;  // the thread's later ones have higher indices
  }
}

extern "C" __global__ void arg_reduce_expect(const void* in, int type, int op, const void* best, attune::reference::Expected* value,
                                             attune::reference::Expected* index) {
  using namespace arg_reduce_reference;
  const u64 first = static_cast<const Best*>(best)->first_inverse;
  const bool found = first != 0;
  *value = value_of(type, found ? load_bits(in, type, ~first) : op == ATTUNE_OP_MIN ? highest_bits(type) : lowest_bits(type));
  *index = exactly(found ? ~first : ~0ull);
}

/// Infinities win; for types without them this is one extreme more.
extern "C" __global__ void arg_reduce_alter(attune::reference::Alteration* alteration, unsigned long long count, int type, int op) {
  using namespace arg_reduce_reference;
  if (count == 0 || thread_index() != 0) return;
  alteration->count = 1;
  alteration->position[0] = count / 2;
  alteration->bits[0] = op == ATTUNE_OP_MIN ? lowest_bits(type) : highest_bits(type);
}

/// The extreme of numbers; among NaN the infinity that loses against every number.
extern "C" __global__ void arg_reduce_plant(attune::reference::Plant* plants, unsigned long long count, int type, int op, int data) {
  using namespace arg_reduce_reference;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    Plant& plant = plants[i];
    const bool least = op == ATTUNE_OP_MIN;
    plant.bits = data == ATTUNE_DATA_ALL_BITS ? (least ? highest_bits(type) : lowest_bits(type))
                                              : (least ? lowest_finite_bits(type) : highest_finite_bits(type));
    plant.changes = 2;
    plant.expected[0] = value_of(type, plant.bits);
    plant.output[1] = 1;
    plant.expected[1] = exactly(plant.position);
  }
}
