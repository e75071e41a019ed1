#pragma once
// Global memory that the blocks of a grid share while they run: loads and stores with the order that PTX's memory model
// gives them at the scope of the GPU. Volatile accesses promise none.

namespace attune {

using Word = unsigned long long;

__device__ __forceinline__ void store_relaxed(unsigned* at, unsigned word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
__device__ __forceinline__ void store_relaxed(Word* at, Word word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* at) {
  unsigned word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
__device__ __forceinline__ Word load_relaxed(const Word* at) {
  Word word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}

/// Everything that this thread wrote or saw before is visible to whoever reads the word by load_acquire.
__device__ __forceinline__ void store_release(unsigned* at, unsigned word) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
__device__ __forceinline__ void store_release(Word* at, Word word) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ __forceinline__ unsigned load_acquire(const unsigned* at) {
  unsigned word;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
__device__ __forceinline__ Word load_acquire(const Word* at) {
  Word word;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}

/// Counts the callers from 0 to `last`, whose call sets the counter back to 0; everything that a caller wrote before is
/// visible to the last one.
__device__ __forceinline__ unsigned arrive(unsigned* counter, unsigned last) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

/// The same count without any order of memory: a number for each caller.
__device__ __forceinline__ unsigned take_ticket(unsigned* counter, unsigned last) {
  unsigned before;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

}  // namespace attune
