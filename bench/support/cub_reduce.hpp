#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/support/element.hpp"

struct CUstream_st;

namespace attune::bench {

/// "13.0.2" of the toolkit's CUB; part of the peer's name in result files.
[[nodiscard]] std::string cub_version();

/// What is reduced, and to what: f16 and bf16 into f32, i8 into i32, modulo 2^32. ArgMax is of f32, segments are f32 sums: other elements
/// have no peer.
struct CubReduction {
  enum class Operator { Sum, Max, ArgMax } op = Operator::Sum;
  Element element = Element::F32;
  std::int64_t rows = 1;     ///< above 1: cub::DeviceSegmentedReduce over rows of `columns` elements; f32 sums only
  std::int64_t columns = 0;  ///< elements of a row
};

/// The function of CUB that computes it, e.g. "cub::DeviceReduce::Sum".
[[nodiscard]] std::string cub_name(const CubReduction& reduction);

/// Whether the benchmarks have CUB compute it.
[[nodiscard]] bool has_peer(const CubReduction& reduction);

/// Bytes of temporary storage. Throws: EnvironmentError, UsageError when CUB is not asked for this here.
[[nodiscard]] std::size_t cub_bytes(const CubReduction& reduction);

/// Enqueues it. `out`: rows results; of ArgMax the value at 0 and its index (i64) at byte 8. Counts below 2^31 are passed
/// as int, CUB's faster path. Throws: as cub_bytes.
void cub_reduce(const CubReduction& reduction, void* temporary, std::size_t bytes, const void* in, void* out, CUstream_st* stream);

}  // namespace attune::bench
