#include "bench/support/cub_reduce.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <climits>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>

#include "attune/error.hpp"

namespace attune::bench {
namespace {

using Operator = CubReduction::Operator;

/// f16 and bf16 are widened before they are added. A functor over plain pointers keeps CUB's vector loads, which a
/// transforming iterator would not.
struct AddAsFloat {
  template <class A, class B>
  __host__ __device__ float operator()(A a, B b) const {
    return static_cast<float>(a) + static_cast<float>(b);
  }
};

struct RowStart {
  std::int64_t columns;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * columns; }
};

/// What a call of CUB needs beside the type of the elements.
struct Call {
  const CubReduction& reduction;
  void* temporary;
  std::size_t& bytes;
  const void* in;
  void* out;
  CUstream_st* stream;

  template <class T>
  const T* input() const {
    return static_cast<const T*>(in);
  }
  template <class T>
  T* output() const {
    return static_cast<T*>(out);
  }
};

template <class T, class Result, class Count>
cudaError_t reduce(const Call& call, Count count) {
  const auto in = call.input<T>();
  const auto out = call.output<Result>();
  if (call.reduction.op == Operator::Max) return cub::DeviceReduce::Max(call.temporary, call.bytes, in, out, count, call.stream);
  if constexpr (std::is_same_v<T, Result>) return cub::DeviceReduce::Sum(call.temporary, call.bytes, in, out, count, call.stream);
  else if constexpr (std::is_same_v<Result, float>) return cub::DeviceReduce::Reduce(call.temporary, call.bytes, in, out, count, AddAsFloat{}, 0.0f, call.stream);
  else return cub::DeviceReduce::Sum(call.temporary, call.bytes, in, out, count, call.stream);  // accumulates in the result's type
}

template <class T, class Result>
cudaError_t reduce(const Call& call) {
  const std::int64_t count = call.reduction.columns;
  return count <= INT_MAX ? reduce<T, Result>(call, static_cast<int>(count)) : reduce<T, Result>(call, count);
}

cudaError_t arg_max(const Call& call) {
  auto* const index = reinterpret_cast<long long*>(call.output<char>() + 8);
  return cub::DeviceReduce::ArgMax(call.temporary, call.bytes, call.input<float>(), call.output<float>(), index,
                                   call.reduction.columns, call.stream);
}

cudaError_t reduce_rows(const Call& call) {
  const auto starts = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowStart{call.reduction.columns});
  return cub::DeviceSegmentedReduce::Sum(call.temporary, call.bytes, call.input<float>(), call.output<float>(), call.reduction.rows,
                                         starts, starts + 1, call.stream);
}

cudaError_t dispatch(const Call& call) {
  const CubReduction& reduction = call.reduction;
  if (!has_peer(reduction)) throw UsageError("failed reducing with CUB: the benchmarks have no such peer");
  if (reduction.rows > 1) return reduce_rows(call);
  if (reduction.op == Operator::ArgMax) return arg_max(call);
  switch (reduction.element) {
    case Element::F32: return reduce<float, float>(call);
    case Element::F64: return reduce<double, double>(call);
    case Element::I32: return reduce<int, int>(call);
    case Element::F16: return reduce<__half, float>(call);
    case Element::Bf16: return reduce<__nv_bfloat16, float>(call);
    case Element::I8: return reduce<signed char, int>(call);
  }
  return cudaErrorInvalidValue;
}

void run(const Call& call) {
  const cudaError_t result = dispatch(call);
  if (result == cudaSuccess) return;
  throw EnvironmentError("failed reducing " + std::to_string(call.reduction.rows) + " x " + std::to_string(call.reduction.columns) +
                         " elements: " + cub_name(call.reduction) + " returned " + cudaGetErrorName(result) + " (" +
                         cudaGetErrorString(result) + ")");
}

}  // namespace

std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

std::string cub_name(const CubReduction& reduction) {
  if (reduction.rows > 1) return "cub::DeviceSegmentedReduce::Sum";
  if (reduction.op == Operator::ArgMax) return "cub::DeviceReduce::ArgMax";
  if (reduction.op == Operator::Max) return "cub::DeviceReduce::Max";
  return reduction.element == Element::F16 || reduction.element == Element::Bf16 ? "cub::DeviceReduce::Reduce" : "cub::DeviceReduce::Sum";
}

bool has_peer(const CubReduction& reduction) {
  const bool plain = reduction.rows == 1 && reduction.op != Operator::ArgMax;
  return plain || (reduction.element == Element::F32 && reduction.op == (reduction.rows > 1 ? Operator::Sum : Operator::ArgMax));
}

std::size_t cub_bytes(const CubReduction& reduction) {
  std::size_t bytes = 0;
  run({reduction, nullptr, bytes, nullptr, nullptr, nullptr});
  return bytes;
}

void cub_reduce(const CubReduction& reduction, void* temporary, std::size_t bytes, const void* in, void* out, CUstream_st* stream) {
  run({reduction, temporary, bytes, in, out, stream});
}

}  // namespace attune::bench
