// Continues support.cu, with which it is compiled: reducing each row of a matrix in double precision, and comparing.
// Without barriers, so that any number of threads gives the same answer.

/// What rows are reduced with; numbered as measure::RowOperation.
enum RowOperation { kRowSum, kRowProduct, kRowMinimum, kRowMaximum };

/// A share of a row. Floating types use `value`, integers `integer`: extended to 64 bits, sums and products modulo 2^64.
struct RowPart {
  double value;
  double magnitude;  // sum of |x|
  u64 integer;
};

template <class T>
__device__ __forceinline__ RowPart no_elements(int operation) {
  constexpr u64 kInfinity = 0x7ff0000000000000ull, kSignBit = 1ull << 63;
  constexpr int kBits = 8 * sizeof(T);
  constexpr u64 kHighest = ~0ull >> (64 - kBits + (Element<T>::kSigned ? 1 : 0));
  constexpr u64 kLowest = Element<T>::kSigned ? ~kHighest : 0;
  switch (operation) {
    case kRowProduct: return RowPart{1.0, 0.0, 1};
    case kRowMinimum: return RowPart{__longlong_as_double(static_cast<long long>(kInfinity)), 0.0, kHighest};
    case kRowMaximum: return RowPart{__longlong_as_double(static_cast<long long>(kInfinity | kSignBit)), 0.0, kLowest};
    default: return RowPart{0.0, 0.0, 0};
  }
}

/// Order of 64-bit images of T.
template <class T>
__device__ __forceinline__ bool below(u64 a, u64 b) {
  if constexpr (Element<T>::kSigned) return static_cast<long long>(a) < static_cast<long long>(b);
  else return a < b;
}

/// Minimum and maximum pass over NaN: no comparison with one is true, and `a` begins as no_elements.
template <class T>
__device__ __forceinline__ void add_part(RowPart& a, const RowPart& b, int operation) {
  a.magnitude += b.magnitude;
  switch (operation) {
    case kRowSum:
      a.value += b.value;
      a.integer += b.integer;
      break;
    case kRowProduct:
      a.value *= b.value;
      a.integer *= b.integer;
      break;
    case kRowMinimum:
      if (b.value < a.value) a.value = b.value;
      if (below<T>(b.integer, a.integer)) a.integer = b.integer;
      break;
    case kRowMaximum:
      if (b.value > a.value) a.value = b.value;
      if (below<T>(a.integer, b.integer)) a.integer = b.integer;
      break;
  }
}

/// parts[row * chunks + k]: the elements k, k + chunks, k + 2 * chunks, ... of the row.
extern "C" __global__ void attune_reduce_rows(const void* source, u64 rows, u64 columns, u64 chunks, int type, int operation,
                                              RowPart* parts) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    for (u64 i = thread_index(); i < rows * chunks; i += thread_count()) {
      const T* const row = static_cast<const T*>(source) + i / chunks * columns;
      RowPart mine = no_elements<T>(operation);
      for (u64 column = i % chunks; column < columns; column += chunks) {
        const double value = Element<T>::to_double(row[column]);
        u64 integer = 0;
        if constexpr (!Element<T>::kFloating) integer = static_cast<u64>(static_cast<long long>(row[column]));
        add_part<T>(mine, RowPart{value, fabs(value), integer}, operation);
      }
      parts[i] = mine;
    }
  });
}

/// The answer for each row, and how far off a result may be.
extern "C" __global__ void attune_join_rows(const RowPart* parts, u64 rows, u64 chunks, int type, int operation, double relative,
                                            void* wanted, double* allowed) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    for (u64 row = thread_index(); row < rows; row += thread_count()) {
      RowPart all = no_elements<T>(operation);
      for (u64 k = 0; k < chunks; ++k) add_part<T>(all, parts[row * chunks + k], operation);
      if constexpr (Element<T>::kFloating) static_cast<double*>(wanted)[row] = all.value;
      else static_cast<u64*>(wanted)[row] = all.integer;
      const bool extreme = operation == kRowMinimum || operation == kRowMaximum;
      allowed[row] = extreme || relative == 0.0 ? 0.0 : relative * (operation == kRowProduct ? fabs(all.value) : all.magnitude);
    }
  });
}

/// Whether every row's result is its answer: integers in the bits that they have, floating types within what is allowed.
extern "C" __global__ void attune_compare_rows(const void* got_values, const void* wanted, const double* allowed, u64 rows,
                                               int type, Slot* slot) {
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const got = static_cast<const T*>(got_values);
    for (u64 row = thread_index(); row < rows; row += thread_count()) {
      if constexpr (Element<T>::kFloating) {
        const double a = Element<T>::to_double(got[row]);
        const double b = static_cast<const double*>(wanted)[row];
        if (!(a == b || fabs(a - b) <= allowed[row])) report(slot, row);
      } else {
        if (got[row] != static_cast<T>(static_cast<const u64*>(wanted)[row])) report(slot, row);
      }
    }
  });
}
