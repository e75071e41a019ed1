// The running state of a thread for elements of one byte.

// An element and the number of its vector are one integer, the element on top, so that one maximum or minimum keeps both.
// A maximum wants the complement of the number, because the lower number is the better one.
struct State {
  static constexpr unsigned kNumberMask = (1u << 24) - 1;
  static constexpr unsigned kSpan = kNumberMask - 2 * kItems;  // vectors that numbers can count
  using Key = Value;                                           // as signed as the elements are
  Key key[kWidth];

  __device__ __forceinline__ State() {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k)  // the identity with the number kNumberMask, which no vector has
      key[k] = static_cast<Key>(static_cast<unsigned>(Best::identity().value) << 24 | (kMax ? 0u : kNumberMask));
  }
  __device__ __forceinline__ void add(const attune::Vector<kVectorBytes>& v, unsigned n) {
    const unsigned low = kMax ? ~n : n;
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) {
      const Key x = static_cast<Key>(__byte_perm(v.word[k / 4], low, k % 4 << 12 | 0x654));
      key[k] = kMax ? max(key[k], x) : min(key[k], x);
    }
  }
  __device__ __forceinline__ Place place(bool) const {
    const Lane best = best_of<0, kWidth>();
    const unsigned low = static_cast<unsigned>(best.key) & kNumberMask;
    const unsigned number = kMax ? kNumberMask - low : low;
    return {best.key >> 24, number, best.lane, number != kNumberMask};
  }

 private:
  struct Lane {
    Key key;
    unsigned lane;
  };
  template <unsigned First, unsigned Count>
  __device__ __forceinline__ Lane best_of() const {
    if constexpr (Count == 1) {
      return {key[First], First};
    } else {
      const Lane a = best_of<First, Count / 2>(), b = best_of<First + Count / 2, Count / 2>();
      return better(b.key, a.key) ? b : a;
    }
  }
};
