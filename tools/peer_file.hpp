#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

/// What another library took for a problem, as a benchmark recorded it.
struct Peer {
  std::string name;           ///< "cub::DeviceReduce::Sum"
  std::string template_name;  ///< empty: the file does not say, and means any
  spec::Problem problem;
  double median_us = 0;
  std::string version;  ///< "CUB 3.0.1"; empty: not recorded
  std::string driver;
  std::string date;
};

/// The rows of a benchmark's result file (bench/results/<device>/*.json) that compare a peer.
struct PeerFile {
  std::vector<Peer> peers;       ///< of the asked device and policy
  std::string other_device;      ///< of the file, when it is not the asked one; `peers` is empty then
  std::size_t other_policy = 0;  ///< rows left out for their policy

  /// Throws: UsageError (no such file), SpecError (no result file, a row that cannot be read) naming file and row.
  [[nodiscard]] static PeerFile load(const std::filesystem::path& path, const spec::DeviceInfo& device, const std::string& policy);
  [[nodiscard]] std::vector<Peer> of(const std::string& template_name, const spec::Problem& problem) const;
  /// Takes over another file's peers.
  void add(PeerFile other);
};

}  // namespace attune::tools
