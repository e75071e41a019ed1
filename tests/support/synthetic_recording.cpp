#include "tests/support/synthetic_recording.hpp"

#include <algorithm>

#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::test {

const char* small_template_json() {
  return R"json({
  "attune": 1, "name": "double_it", "summary": "out = 2 * in", "sources": ["double_it.cu"],
  "problem": {"T": {"type": ["f32", "f64"]}, "n": {"size": {"min": 1}}},
  "parameters": {
    "block_size": {"values": [64, 128, 256, 512], "default": 128},
    "items": {"values": [1, 2, 4], "default": 1},
    "waves": {"values": [1, 2], "default": 1, "bind": "launch"}
  },
  "constraints": ["block_size * items <= 1024"],
  "let": {"grid": "clamp(ceil_div(n, block_size * items), 1, device.sm_count * waves)"},
  "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "T", "count": "n", "output": true}},
  // Shared memory that nobody uses: however small the problem is, no two values of "waves" make the same launch.
  "launches": [{"kernel": "double_it", "grid": "grid", "block": "block_size", "shared": "16 * waves", "args": ["in", "out", "n"]}],
  "reference": {"launches": [{"kernel": "double_it_reference", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "out", "n"]}]},
  "work": {"bytes": "2 * n * sizeof(T)"}
})json";
}

const char* small_template_source() {
  return R"cuda(extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE) double_it(const attune_T* in, attune_T* out, long long n) {
  const long long stride = (long long)gridDim.x * ATTUNE_BLOCK_SIZE;
#pragma unroll ATTUNE_ITEMS
  for (long long i = (long long)blockIdx.x * ATTUNE_BLOCK_SIZE + threadIdx.x; i < n; i += stride) out[i] = in[i] * 2;
}
extern "C" __global__ void double_it_reference(const attune_T* in, attune_T* out, long long n) {
  const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = in[i] * 2;
}
)cuda";
}

spec::KernelTemplate small_template() {
  return spec::KernelTemplate::parse(small_template_json(), {{"double_it.cu", small_template_source()}}, "double_it/template.json");
}

spec::Problem small_problem(std::int64_t n) {
  spec::Problem problem;
  problem.choices["T"] = "f32";
  problem.sizes["n"] = n;
  return problem;
}

session::Recording synthetic_recording(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                       const std::function<double(const std::string&, std::uint64_t)>& time_us) {
  session::Recording recording;
  recording.device = spec::DeviceInfo::of_architecture("sm_90");
  recording.device.name = "Synthetic GPU";
  recording.device.driver = "0.0";
  recording.date = "2026-01-02T03:04:05Z";
  recording.template_name = kernel.name;
  recording.template_hash = kernel.content_hash;
  recording.nvrtc = "synthetic";
  recording.policy = "cold/graph";
  recording.read_ceiling_bytes_per_s = 4e12;
  recording.coverage = "whole space";
  for (const auto& problem : problems) {
    const std::string default_text = spec::to_text(kernel, spec::default_configuration(kernel, problem, recording.device));
    const auto space = space::SearchSpace::build(kernel, problem, recording.device);
    session::RecordedProblem recorded;
    recorded.problem = problem;
    recorded.space_size = space.size();
    std::vector<std::pair<double, std::string>> ranked;
    for (std::uint64_t i = 0; i < space.size(); ++i) {
      measure::Measurement measurement;
      measurement.configuration = spec::to_text(kernel, space.at(i));
      const double us = time_us(measurement.configuration, i);
      if (us > 0) {
        measurement.stage = measure::Stage::Measured;
        measurement.verified = true;
        measurement.timing = {us, us, us, us, 0, 0, 9, 3, 100};
        measurement.resources.registers = 32;
        ranked.emplace_back(us, measurement.configuration);
      } else {
        measurement.outcome = measure::Outcome::WrongResult;
        measurement.detail = "made-up failure";
      }
      recorded.measurements.push_back(measurement);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<double> round;
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      if (i >= 3 && ranked[i].second != default_text) continue;
      recorded.finalists.push_back(ranked[i].second);
      round.push_back(ranked[i].first);
    }
    recorded.rounds_us.assign(15, round);
    recording.problems.push_back(std::move(recorded));
  }
  return recording;
}

}  // namespace attune::test
