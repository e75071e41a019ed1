// An image: bytes of the input or of the output in shared memory, as they lie in memory, and as far from boundaries of 16 bytes as there.
// So whole vectors of 16 bytes go in and out at any alignment. Elements that follow each other in the other matrix lie a pitch apart in the
// image; they are gathered from it or scattered to it one at a time.
//
// Banks: lanes hold vectors that follow each other, so their elements lie 16 / kElement pitches from each other: 16 * N bytes, where N is
// the pitch in elements. 128 bytes are a wavefront, 8 slots of 16 bytes or 32 banks.
// - N is odd: each of 8 lanes has another slot, and the next 8 lanes have the same ones. So every 8 lanes begin with another word of their
//   vector, whose elements lie in another bank of the slot. "rotated" counts by the lane, which is right where a warp has vectors of one
//   column (or row) of the image. "fitted" goes by the address as well, which is right for shorter columns too, for more instructions.
// - N is 2^k * m: lanes meet in few slots. "swizzled" changes the places of the words of every 128 bytes by the bits of the address from
//   4 + k on, which count the lanes (times m, which is odd): 32 lanes of one column lie in 32 banks whatever N is, for still more
//   instructions.

constexpr unsigned kVector = 16;
constexpr unsigned kOfVector = kVector / kElement;       // elements of a vector
constexpr unsigned kPart = kElement > 4 ? kElement : 4;  // what a vector is made of
constexpr unsigned kParts = kVector / kPart;
constexpr unsigned kOfPart = kPart / kElement;          // elements of a part
constexpr unsigned kLoads = ATTUNE_LOADS;               // vectors that a thread reads before it uses the first
constexpr unsigned kPlaces = kPart == 8 ? 0x78 : 0x7c;  // the bits of an address that say which part of 128 bytes it is

using Part = Bits<kPart>::Type;
struct alignas(kVector) Vector {
  Part part[kParts];
};

extern __shared__ Vector image_vectors[];

struct Image {
  unsigned begin;    // where the first element lies
  unsigned pitch;    // bytes from an element to the one that follows it in the other matrix
  unsigned swizzle;  // how far the bits that count lanes stand from the bits that they change
};

__device__ __forceinline__ Image image_at(unsigned begin, unsigned pitch) {
  // The bits from 4 + k on, over the lowest of kPlaces: 2 for parts of 4 bytes, 3 of 8.
  return {begin, pitch, static_cast<unsigned>(__ffs(static_cast<int>(pitch / kElement))) + 3 - (kPart == 8 ? 3 : 2)};
}

__device__ __forceinline__ unsigned change_of(const Image& image, unsigned address) {
  return ATTUNE_STAGING_SWIZZLED ? (address >> image.swizzle) & kPlaces : 0;
}

/// Parts trade places by the bits of `change`; doing it twice undoes it.
__device__ __forceinline__ Vector exchange_parts(Vector vector, unsigned change) {
  if constexpr (ATTUNE_STAGING_SWIZZLED) {
#pragma unroll
    for (unsigned bit = 1; bit < kParts; bit *= 2) {
      const Vector before = vector;
      const bool trade = (change & bit * kPart) != 0;
#pragma unroll
      for (unsigned p = 0; p < kParts; ++p) vector.part[p] = trade ? before.part[p ^ bit] : before.part[p];
    }
  }
  return vector;
}

/// Parts move `by` places to the front: what was part `by` becomes part 0.
__device__ __forceinline__ Vector rotate_parts(Vector vector, unsigned by) {
  if constexpr (ATTUNE_STAGING_ROTATED || ATTUNE_STAGING_FITTED) {
#pragma unroll
    for (unsigned bit = 1; bit < kParts; bit *= 2) {
      const Vector before = vector;
      const bool move = (by & bit) != 0;
#pragma unroll
      for (unsigned p = 0; p < kParts; ++p) vector.part[p] = move ? before.part[(p + bit) % kParts] : before.part[p];
    }
  }
  return vector;
}

/// The part with which a thread begins a vector whose first element is at `address`.
__device__ __forceinline__ unsigned first_part(const Image& image, unsigned address) {
  if constexpr (ATTUNE_STAGING_ROTATED) return threadIdx.x / 8 % kParts;
  // As many parts, of 4 * N bytes, as lead to the bank of the slot that is left to these eight lanes. N is its own inverse modulo kParts.
  if constexpr (ATTUNE_STAGING_FITTED) return (threadIdx.x / 8 - address / kPart) * (image.pitch / kElement) % kParts;
  return 0;
}

__device__ __forceinline__ Vector* vector_at(unsigned address) { return image_vectors + address / kVector; }
__device__ __forceinline__ Element* element_at(const Image& image, unsigned address) {
  return reinterpret_cast<Element*>(reinterpret_cast<unsigned char*>(image_vectors) + (address ^ change_of(image, address)));
}

/// `address` is one of a vector.
__device__ __forceinline__ void put_vector(const Image& image, unsigned address, const Vector& vector) {
  const unsigned change = change_of(image, address);
  *vector_at(address ^ change) = exchange_parts(vector, change);
}
__device__ __forceinline__ Vector get_vector(const Image& image, unsigned address) {
  const unsigned change = change_of(image, address);
  return exchange_parts(*vector_at(address ^ change), change);
}

__device__ __forceinline__ unsigned joined(const unsigned char (&x)[4]) {
  return __byte_perm(__byte_perm(x[0], x[1], 0x0040), __byte_perm(x[2], x[3], 0x0040), 0x5410);
}
__device__ __forceinline__ unsigned joined(const unsigned short (&x)[2]) { return __byte_perm(x[0], x[1], 0x5410); }
__device__ __forceinline__ Part joined(const Part (&x)[1]) { return x[0]; }

/// The elements from `address` on, a pitch from each other.
__device__ __forceinline__ Vector gather(const Image& image, unsigned address) {
  const unsigned first = first_part(image, address);
  Vector vector;
#pragma unroll
  for (unsigned p = 0; p < kParts; ++p) {
    const unsigned from = address + (p + first) % kParts * kOfPart * image.pitch;
    Element elements[kOfPart];
#pragma unroll
    for (unsigned i = 0; i < kOfPart; ++i) elements[i] = *element_at(image, from + i * image.pitch);
    vector.part[p] = joined(elements);
  }
  return rotate_parts(vector, kParts - first);
}

/// The elements of `vector` go to places a pitch from each other, from `address` on.
__device__ __forceinline__ void scatter(const Image& image, unsigned address, const Vector& vector) {
  const unsigned first = first_part(image, address);
  const Vector rotated = rotate_parts(vector, first);
#pragma unroll
  for (unsigned p = 0; p < kParts; ++p) {
    const unsigned to = address + (p + first) % kParts * kOfPart * image.pitch;
#pragma unroll
    for (unsigned i = 0; i < kOfPart; ++i) {
      *element_at(image, to + i * image.pitch) = static_cast<Element>(rotated.part[p] >> (i * kElement * 8));
    }
  }
}

/// Divides numbers below 2^17 by one from 2 to 2^15, by a multiplication.
struct Divider {
  unsigned by, inverse;
};
__device__ __forceinline__ Divider divider(unsigned by) { return {by, 0xffffffffU / by + 1}; }
__device__ __forceinline__ unsigned quotient(unsigned i, const Divider& divider) { return __umulhi(i, divider.inverse); }

__device__ __forceinline__ Vector load_vector(const unsigned char* from) { return *reinterpret_cast<const Vector*>(from); }
