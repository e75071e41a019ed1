#pragma once
// Combining the values of a warp's lanes.
#include <attune/operators.cuh>

namespace attune {

/// The same in every lane, in an order that does not depend on the data. Requires: all 32 lanes call it.
template <class Op>
__device__ __forceinline__ typename Op::Value warp_combine(typename Op::Value x) {
  if constexpr (Op::kWholeWarp) {
    return Op::warp(x);
  } else {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) x = Op::combine(x, __shfl_xor_sync(~0u, x, offset));
    return x;
  }
}

}  // namespace attune
