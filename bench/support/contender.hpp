#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/support/batch.hpp"

namespace attune::bench {

/// One of those that are compared in one process: what it enqueues, and where its results go.
struct Contender {
  std::string name;
  gpu::Buffer output;
  std::optional<Batch> batch;
  std::function<double()> uncaptured;  ///< without a batch: makes and times one call that no graph can hold
  std::vector<double> samples_us;

  [[nodiscard]] void* out() const { return reinterpret_cast<void*>(output.address()); }
  [[nodiscard]] int calls() const { return batch ? batch->calls() : 1; }
  [[nodiscard]] double sample_us() const { return batch ? batch->sample_us() : uncaptured(); }
};

/// Device memory of at least this size, and not none, that is zero.
[[nodiscard]] gpu::Buffer zeroed(std::size_t bytes, const gpu::Stream& stream);

/// Interleaved samples: each round takes one of each, in random order.
void measure_rounds(std::vector<Contender*> contenders, int rounds, std::mt19937& random);

/// The results of one more sample over poisoned memory; its last call works on window 0.
[[nodiscard]] std::vector<unsigned char> results_of(const Contender& contender, const gpu::Stream& stream);

/// Median of the rounds' other / attune, with its spread.
[[nodiscard]] measure::PairedComparison ratio_to(const Contender& attune, const Contender& other);

/// What a row of a result file says of times and ratio. `input_bytes`: what one call reads.
[[nodiscard]] nlohmann::ordered_json comparison_fields(const Contender& attune, const Contender& peer, std::size_t input_bytes);

/// share_of_ceiling and what belongs to it; `ceiling` only reads the same bytes.
[[nodiscard]] nlohmann::ordered_json ceiling_fields(const Contender& attune, const Contender& ceiling);

}  // namespace attune::bench
