#pragma once
// What the reductions of one problem family have in common: the operator, what an element contributes and what becomes of
// the result, of templates whose problem has the axes T, op, transform, finish, combine, start and map and the type A.
#include <attune/bits.cuh>
#include <attune/operators.cuh>
#include <attune/vector.cuh>

namespace attune::reduction {

using In = ATTUNE_T;
using Value = ATTUNE_A;
using Index = unsigned long long;

constexpr bool kTwoInputs = ATTUNE_TRANSFORM_TIMES;

// What is combined: elements, or transformed ones, which the limits of a narrow element type do not bound.
template <bool Transformed, class Element, class Accumulator>
struct OperandOf {
  using Type = Element;
};
template <class Element, class Accumulator>
struct OperandOf<true, Element, Accumulator> {
  using Type = Accumulator;
};
using Operand = typename OperandOf<!ATTUNE_TRANSFORM_IDENTITY && !attune::Element<In>::kFloating, In, Value>::Type;

// The caller's own operator: any associative and commutative one with its identity.
struct Custom : attune::Operator<In> {
  static constexpr bool kWholeWarp = false;
  __device__ static Value identity() { return attune_start(); }
  __device__ static Value combine(Value a, Value b) { return attune_combine(a, b); }
};

#if ATTUNE_OP_SUM
using Operator = attune::Sum<Operand>;
#elif ATTUNE_OP_PRODUCT
using Operator = attune::Product<Operand>;
#elif ATTUNE_OP_MIN
using Operator = attune::Min<Operand>;
#elif ATTUNE_OP_MAX
using Operator = attune::Max<Operand>;
#elif ATTUNE_OP_AND
using Operator = attune::And<Operand>;
#elif ATTUNE_OP_OR
using Operator = attune::Or<Operand>;
#elif ATTUNE_OP_XOR
using Operator = attune::Xor<Operand>;
#else
using Operator = Custom;
#endif

/// What the caller passes beside the input.
struct Scalars {
  Value shift, scale, bias;
};

template <bool Signed, class V>
__device__ __forceinline__ V magnitude(V x) {
  if constexpr (Signed) return x < V{0} ? attune::Product<In>::combine(static_cast<V>(-1), x) : x;
  else return x;
}

/// What an element contributes. `y` is the second input's.
__device__ __forceinline__ Value mapped(Value x, Value y, const Scalars& scalars) {
#if ATTUNE_TRANSFORM_ABSOLUTE
  return magnitude<attune::Element<In>::kSigned>(x);
#elif ATTUNE_TRANSFORM_SQUARE
  return attune::Product<In>::combine(x, x);
#elif ATTUNE_TRANSFORM_SHIFTED_SQUARE
  const Value d = attune::Sum<In>::combine(x, attune::Product<In>::combine(static_cast<Value>(-1), scalars.shift));
  return attune::Product<In>::combine(d, d);
#elif ATTUNE_TRANSFORM_TIMES
  return attune::Product<In>::combine(x, y);
#elif ATTUNE_TRANSFORM_CUSTOM
  return attune_map(x);
#else
  return x;
#endif
}

/// Whether there is an element that changes nothing: what a ragged end lacks is filled with it then.
constexpr bool kHasNeutral = ATTUNE_TRANSFORM_IDENTITY ? !ATTUNE_OP_CUSTOM
                                                       : ATTUNE_OP_SUM && (ATTUNE_TRANSFORM_ABSOLUTE || ATTUNE_TRANSFORM_SQUARE || ATTUNE_TRANSFORM_TIMES);

/// Its bits; any where there is none.
__device__ __forceinline__ typename attune::Element<In>::Bits neutral() {
#if ATTUNE_TRANSFORM_IDENTITY && !ATTUNE_OP_CUSTOM
  return Operator::neutral();
#else
  return 0;
#endif
}

/// What becomes of the combined value.
__device__ __forceinline__ Value finished(Value x, Index n, const Scalars& scalars) {
#if ATTUNE_FINISH_MEAN
  return x / static_cast<Value>(n);
#elif ATTUNE_FINISH_ROOT
  if constexpr (sizeof(Value) == 8) return sqrt(x);
  else return sqrtf(static_cast<float>(x));
#elif ATTUNE_FINISH_SCALE_BIAS
  return attune::Sum<In>::combine(attune::Product<In>::combine(scalars.scale, x), scalars.bias);
#else
  return x;
#endif
}

/// What element `i` contributes.
__device__ __forceinline__ Value load_one(const In* in, const In* other, Index i, const Scalars& scalars) {
  return mapped(attune::load_element(in + i), kTwoInputs ? attune::load_element(other + i) : Value{0}, scalars);
}

/// The reference of what attune itself does not know: 1024 threads take every 1024th element each, then one combines what they have.
__device__ __forceinline__ void reduce_plainly(const In* in, const In* other, Index n, const Scalars& scalars, Value* out) {
  __shared__ Value partial[1024];
  Value x = Operator::identity();
  for (Index i = threadIdx.x; i < n; i += 1024) x = Operator::combine(x, load_one(in, other, i, scalars));
  partial[threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned t = 1; t < 1024; ++t) x = Operator::combine(x, partial[t]);
  *out = finished(x, n, scalars);
}

}  // namespace attune::reduction
