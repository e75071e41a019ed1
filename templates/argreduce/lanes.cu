// The running state of a thread for elements of two bytes and more.

// One value, and the number of the vector that it came from, for each place in a vector: an element costs a minimum, a
// comparison and a selection, without a branch.
struct State {
  static constexpr unsigned kSpan = 1u << 31;  // vectors that numbers can count
  // Floating-point values start as NaN, so that an infinity is found, and NaN passed over, without a further test; the
  // others start as the identity, which is the value of the first vector's element where no better one comes.
  Value value[kWidth];
  unsigned number[kWidth];

  __device__ __forceinline__ State() {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) {
      if constexpr (!Type::kFloating) value[k] = Best::identity().value;
      else if constexpr (sizeof(Value) == 4) value[k] = __uint_as_float(0x7fffffffu);
      else value[k] = __longlong_as_double(0x7fffffffffffffffll);
      number[k] = 0;
    }
  }
  __device__ __forceinline__ void add(const attune::Vector<kVectorBytes>& v, unsigned n) {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) {
      const Value x = attune::element<ATTUNE_T>(v, k);
      if constexpr (Type::kFloating && sizeof(Value) == 4) {
        const Value best = kMax ? fmaxf(value[k], x) : fminf(value[k], x);  // NaN only while both are
        number[k] = best == value[k] ? number[k] : n;
        value[k] = best;
      } else {
        const bool take = replaces(x, value[k]);
        value[k] = take ? x : value[k];
        number[k] = take ? n : number[k];
      }
    }
  }
  // `any`: whether a vector was added.
  __device__ __forceinline__ Place place(bool any) const {
    Place p = best_of<0, kWidth>();
    p.found = any && p.value == p.value;
    return p;
  }

 private:
  __device__ static bool replaces(Value x, Value now) {
    if constexpr (Type::kFloating) return x == x && !(kMax ? x <= now : x >= now);  // also a `now` that is NaN
    else return better(x, now);
  }
  template <unsigned First, unsigned Count>
  __device__ __forceinline__ Place best_of() const {
    if constexpr (Count == 1) {
      return {value[First], number[First], First, true};
    } else {
      const Place a = best_of<First, Count / 2>(), b = best_of<First + Count / 2, Count / 2>();
      return replaces(b.value, a.value) || (b.value == a.value && b.number < a.number) ? b : a;
    }
  }
};
