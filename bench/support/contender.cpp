#include "bench/support/contender.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/support/result_file.hpp"

namespace attune::bench {
namespace {

constexpr int kPoisonByte = 0xA5;

}  // namespace

gpu::Buffer zeroed(std::size_t bytes, const gpu::Stream& stream) {
  gpu::Buffer buffer(std::max<std::size_t>(bytes, 256));
  gpu::check(gpu::Driver::get().cuMemsetD8Async(buffer.address(), 0, buffer.bytes(), stream.get()), "cuMemsetD8Async", "clearing scratch");
  return buffer;
}

void measure_rounds(std::vector<Contender*> contenders, int rounds, std::mt19937& random) {
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(contenders.begin(), contenders.end(), random);
    for (Contender* contender : contenders) contender->samples_us.push_back(contender->sample_us());
  }
}

std::vector<unsigned char> results_of(const Contender& contender, const gpu::Stream& stream) {
  const auto& driver = gpu::Driver::get();
  std::vector<unsigned char> bytes(contender.output.bytes());
  gpu::check(driver.cuMemsetD8Async(contender.output.address(), kPoisonByte, bytes.size(), stream.get()), "cuMemsetD8Async",
             "poisoning the results");
  static_cast<void>(contender.sample_us());
  gpu::check(driver.cuMemcpyDtoHAsync(bytes.data(), contender.output.address(), bytes.size(), stream.get()), "cuMemcpyDtoHAsync",
             "reading the results");
  stream.synchronize();
  return bytes;
}

measure::PairedComparison ratio_to(const Contender& attune, const Contender& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < other.samples_us.size(); ++i) ratios.push_back(other.samples_us[i] / attune.samples_us[i]);
  return measure::compare_paired(ratios);
}

nlohmann::ordered_json comparison_fields(const Contender& attune, const Contender& peer, std::size_t input_bytes) {
  const auto ours = measure::summarise({attune.samples_us}, attune.calls());
  const auto theirs = measure::summarise({peer.samples_us}, peer.calls());
  const auto ratio = ratio_to(attune, peer);
  return {{"attune_us", ours.median_us},
          {"attune_spread", relative_half(ours.low_us, ours.high_us, ours.median_us)},
          {"peer", peer.name},
          {"peer_us", theirs.median_us},
          {"peer_spread", relative_half(theirs.low_us, theirs.high_us, theirs.median_us)},
          {"ratio", ratio.median_ratio},
          {"spread", relative_half(ratio.low, ratio.high, ratio.median_ratio)},
          {"bytes_per_s", static_cast<double>(input_bytes) / ours.median_us * 1e6},
          {"rounds", attune.samples_us.size()},
          {"attune_calls", attune.calls()},
          {"peer_calls", peer.calls()}};
}

nlohmann::ordered_json ceiling_fields(const Contender& attune, const Contender& ceiling) {
  const auto share = ratio_to(attune, ceiling);
  return {{"share_of_ceiling", share.median_ratio},
          {"share_spread", relative_half(share.low, share.high, share.median_ratio)},
          {"ceiling_us", measure::summarise({ceiling.samples_us}, ceiling.calls()).median_us}};
}

}  // namespace attune::bench
