#pragma once
// Vectors of 1, 2, 4, 8 or 16 bytes, loaded by one instruction, and the elements in them.
#include <attune/element.cuh>

namespace attune {

/// Bytes, signed: the end of an input less a tile may lie below 0.
using Address = long long;

template <class T>
__device__ __forceinline__ Address address_of(const T* pointer) {
  return reinterpret_cast<Address>(pointer);
}

/// Bytes from `at` to the next address that vectors of `Bytes` bytes can be loaded from; less than a vector.
template <unsigned Bytes>
__device__ __forceinline__ unsigned bytes_to_vector(Address at) {
  return static_cast<unsigned>(-at) & (Bytes - 1);
}

template <unsigned Bytes>
struct Vector {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 || Bytes == 16, "no load has this width");
  static constexpr unsigned kWords = Bytes < 4 ? 1 : Bytes / 4;
  unsigned word[kWords];  ///< above a vector of one or two bytes: zeros
};

/// Requires: an address of global memory that Bytes divides.
/// Volatile, so that the compiler keeps the loads of a tile together and ahead of their use.
template <unsigned Bytes>
__device__ __forceinline__ Vector<Bytes> load_vector(Address at) {
  Vector<Bytes> v;
  if constexpr (Bytes == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(at));
  else if constexpr (Bytes == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(at));
  else if constexpr (Bytes == 4)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  else if constexpr (Bytes == 2)
    asm volatile("ld.global.u16 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  else
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
  return v;
}

/// The same where `there` says so; else `v` stays what it is, and nothing is read. One instruction, without a branch.
template <unsigned Bytes>
__device__ __forceinline__ void load_vector_if(bool there, Address at, Vector<Bytes>& v) {
  const unsigned wanted = there;
  if constexpr (Bytes == 16)
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
                 : "+r"(v.word[0]), "+r"(v.word[1]), "+r"(v.word[2]), "+r"(v.word[3])
                 : "l"(at), "r"(wanted));
  else if constexpr (Bytes == 8)
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p ld.global.v2.u32 {%0, %1}, [%2];\n}" : "+r"(v.word[0]), "+r"(v.word[1]) : "l"(at), "r"(wanted));
  else if constexpr (Bytes == 4)
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.u32 %0, [%1];\n}" : "+r"(v.word[0]) : "l"(at), "r"(wanted));
  else if constexpr (Bytes == 2)
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.u16 %0, [%1];\n}" : "+r"(v.word[0]) : "l"(at), "r"(wanted));
  else
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.u8 %0, [%1];\n}" : "+r"(v.word[0]) : "l"(at), "r"(wanted));
}

/// A vector whose elements all have these bits.
template <class T, unsigned Bytes>
__device__ __forceinline__ Vector<Bytes> filled(typename Element<T>::Bits bits) {
  Vector<Bytes> v;
  if constexpr (sizeof(bits) == 8) {
#pragma unroll
    for (unsigned k = 0; k < Bytes / 8; ++k) {
      v.word[2 * k] = static_cast<unsigned>(bits);
      v.word[2 * k + 1] = static_cast<unsigned>(bits >> 32);
    }
  } else {
    unsigned word = bits;
    if constexpr (sizeof(bits) == 1 && Bytes > 1) word |= word << 8;
    if constexpr (sizeof(bits) <= 2 && Bytes > 2) word |= word << 16;
#pragma unroll
    for (unsigned k = 0; k < Vector<Bytes>::kWords; ++k) v.word[k] = word;
  }
  return v;
}

/// The bits of the k-th element. Requires: k is below Bytes / sizeof(T), and known when the kernel is compiled.
template <class T, unsigned Bytes>
__device__ __forceinline__ typename Element<T>::Bits element_bits(const Vector<Bytes>& v, unsigned k) {
  using Bits = typename Element<T>::Bits;
  if constexpr (sizeof(Bits) == 8) {
    return static_cast<Bits>(v.word[2 * k + 1]) << 32 | v.word[2 * k];
  } else {
    constexpr unsigned kPerWord = 4 / sizeof(Bits);
    return static_cast<Bits>(v.word[k / kPerWord] >> 8 * sizeof(Bits) * (k % kPerWord));
  }
}

/// The k-th element as its accumulator.
template <class T, unsigned Bytes>
__device__ __forceinline__ typename Element<T>::Value element(const Vector<Bytes>& v, unsigned k) {
  return Element<T>::widen(element_bits<T>(v, k));
}

/// One element anywhere in global memory as its accumulator.
template <class T>
__device__ __forceinline__ typename Element<T>::Value load_element(const T* at) {
  return Element<T>::widen(*reinterpret_cast<const typename Element<T>::Bits*>(at));
}

/// A single element as it is loaded.
template <class T>
using Single = Vector<sizeof(typename Element<T>::Bits)>;

/// Keeps the compiler from computing with a vector before this place: it would wait for the load there.
template <unsigned Bytes>
__device__ __forceinline__ void keep_here(Vector<Bytes>& v) {
#pragma unroll
  for (unsigned k = 0; k < Vector<Bytes>::kWords; ++k) asm volatile("" : "+r"(v.word[k]));
}

template <class T>
__device__ __forceinline__ void store_element(T* at, typename Element<T>::Value v) {
  *reinterpret_cast<typename Element<T>::Bits*>(at) = Element<T>::narrow(v);
}

}  // namespace attune
