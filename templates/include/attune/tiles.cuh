#pragma once
// How a block reads a long input: from the first address on that vectors can be loaded from, in tiles. The last tile may be ragged: the
// instructions that read the others read it too, with something that changes nothing in place of the vectors that it lacks. The few
// elements that no vector holds are "loose". Addresses are in bytes.
#include <attune/vector.cuh>

namespace attune {

/// `Items` vectors of each of `Threads` threads; those of neighbouring threads are neighbours.
template <unsigned Threads, unsigned Items, unsigned VectorBytes>
struct Tile {
  static constexpr Address kItemBytes = Address{Threads} * VectorBytes;  ///< from a thread's vector to its next one
  static constexpr Address kBytes = Items * kItemBytes;

  /// What of a tile at `at` lies before `end`, in bytes; at most a tile, and below 0 where it begins behind the end.
  static __device__ __forceinline__ int bytes_before(Address at, Address end) {
    return static_cast<int>(end - at < kBytes ? end - at : kBytes);
  }
  /// Whether this thread's k-th vector is among the tile's first `bytes`.
  static __device__ __forceinline__ bool holds(int bytes, unsigned k) {
    return static_cast<int>((k * Threads + threadIdx.x + 1) * VectorBytes) <= bytes;
  }
  /// This thread's vectors of the tile at `at`; elements of the bits `lacking` in place of those that it lacks.
  template <class T>
  static __device__ __forceinline__ void load(Vector<VectorBytes> (&v)[Items], Address at, int bytes, typename Element<T>::Bits lacking) {
    at += threadIdx.x * VectorBytes;
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
      v[k] = filled<T, VectorBytes>(lacking);
      load_vector_if(holds(bytes, k), at + k * kItemBytes, v[k]);
    }
  }
};

/// The loose elements of an input of n: `head` of them before the vectors, the others at the end; fewer than two vectors hold. A
/// thread each takes one.
struct Loose {
  unsigned head, count;

  /// `begin`: the first address from `start` on that vectors are loaded from.
  template <class T, unsigned VectorBytes>
  static __device__ __forceinline__ Loose of(Address start, Address begin, Address end, unsigned long long n) {
    const unsigned head = begin < end ? static_cast<unsigned>(begin - start) / sizeof(typename Element<T>::Bits) : static_cast<unsigned>(n);
    return {head, head + static_cast<unsigned>(n - head) % static_cast<unsigned>(VectorBytes / sizeof(typename Element<T>::Bits))};
  }
  [[nodiscard]] __device__ __forceinline__ bool there(unsigned thread) const { return thread < count; }
  [[nodiscard]] __device__ __forceinline__ unsigned long long index(unsigned thread, unsigned long long n) const {
    return thread < head ? thread : n - count + thread;
  }
};

}  // namespace attune
