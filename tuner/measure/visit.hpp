#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/measure/measurement.hpp"

// What the executor asks of the GPU worker, and what that answers.
namespace attune::measure {

/// What the GPU worker is asked to do with one configuration of the prepared problem.
struct VisitRequest {
  std::string configuration;  ///< spec::to_text; identifies it in the worker
  std::string cubin_key;
  std::string cubin;    ///< sent only when the worker does not hold `cubin_key` yet (the executor decides)
  bool verify = false;  ///< before timing: full verification (docs/measurement.md)
  bool once = false;    ///< with `verify`: one that two calls tell is far behind is let go unverified (docs/measurement.md)
  double best_us = 0;   ///< screening reference; 0: none. Drops after two samples over kScreeningRatio x best
  int max_samples = 6;  ///< of this visit; 0: it is not timed
  bool power = false;   ///< the device's power is measured as well, unless it is screened out
};

/// A configuration whose faster of the first two samples exceeds this many times the best is dropped
/// (docs/measurement.md).
inline constexpr double kScreeningRatio = 1.25;
/// Kernels that take so long are timed with as few calls as tell whether they may win (docs/measurement.md).
inline constexpr double kCostly_us = 1000;

struct VisitReply {
  std::string configuration;  ///< of the request
  Outcome outcome = Outcome::Ok;
  bool verified = false;
  bool screened_out = false;
  std::vector<double> samples_us;  ///< per call
  int calls_per_sample = 0;        ///< over all groups of windows
  int sm_clock_mhz = 0;
  std::string throttle;
  std::string detail;
  Power power;             ///< where it was asked for and could be read
  double worked_s = 0;     ///< the worker's time on this visit
  double verifying_s = 0;  ///< of it, on guarded calls and comparing
};

/// One epoch of a run-off: every configuration is loaded afresh, then sampled once a round in random order. The
/// worker must have verified them before.
struct RunOffRequest {
  std::vector<VisitRequest> configurations;
  int rounds = 5;
  std::uint64_t seed = 1;  ///< of the orders and of what data comes first
};

struct RunOffReply {
  Outcome outcome = Outcome::Ok;
  std::vector<std::vector<double>> rounds_us;  ///< [round][configuration], per call
  std::string detail;
};

}  // namespace attune::measure
