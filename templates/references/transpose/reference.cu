// What is right of "transpose": an element at a time, as raw bits.
#include <attune/reference.cuh>

namespace transpose_reference {

using namespace attune::reference;

/// Any bits, and in every third element what arithmetic on floating types of this size would change: a NaN of any payload, quiet or
/// signalling, a subnormal number, a zero or an infinity of either sign. Integers have them too, which a kernel may move as floats.
__device__ __forceinline__ u64 any_bits(int type, u64 h) {
  const int bits = bits_of_type(type);
  const int mantissa = is_floating(type) ? mantissa_bits(type) : bits == 8 ? 3 : bits == 16 ? 10 : bits == 32 ? 23 : 52;
  const u64 sign = 1ull << (bits - 1), fraction = (1ull << mantissa) - 1, exponent = sign - 1 - fraction;
  const u64 random = hash(h, 1);
  switch (h >> 32 & 7) {
    case 0: return (random & (sign | fraction)) | exponent;
    case 1: return random & (sign | fraction);
    case 2: return (random & sign) | (random & 1 ? exponent : 0);
    default: return random & all_bits(type);
  }
}

}  // namespace transpose_reference

extern "C" __global__ void transpose_fill(attune::reference::Filling filling) {
  using namespace transpose_reference;
  fill(filling, [&](u64 i) { return any_bits(filling.type, hash(i, filling.seed)); });
}

extern "C" __global__ void transpose_expect(const void* in, void* out, unsigned long long rows, unsigned long long columns, int type) {
  using namespace transpose_reference;
  for (u64 i = thread_index(); i < rows * columns; i += thread_count())
    store_bits(out, type, i, load_bits(in, type, i % rows * columns + i / rows));
}
