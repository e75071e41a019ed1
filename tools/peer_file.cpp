#include "tools/peer_file.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

/// `row`: that has a "policy" and a "peer_us".
Peer read_row(const base::JsonFields& row, const json& file) {
  Peer peer;
  peer.name = row.text("peer");
  json problem = row.at("problem");
  peer.template_name = base::member_or(problem, "template", "");
  if (problem.is_object()) problem.erase("template");
  peer.problem = spec::problem_from_text(base::dump_json(problem));
  peer.median_us = row.number("peer_us");
  if (peer.median_us == 0) row.fail("field 'peer_us' must be above 0");
  peer.version = base::member_or(file, "peer_version", "");
  peer.driver = base::member_or(file, "driver", "");
  peer.date = base::member_or(file, "date", "");
  return peer;
}

}  // namespace

PeerFile PeerFile::load(const std::filesystem::path& path, const spec::DeviceInfo& device, const std::string& policy) {
  if (!std::filesystem::is_regular_file(path)) throw UsageError(fmt::format("failed reading peers: there is no file {}", path.string()));
  const json file = base::try_parse_json(base::read_file(path));
  const bool usable =
      file.is_object() && file.contains("device") && file["device"].is_object() && file.contains("rows") && file["rows"].is_array();
  if (!usable)
    throw SpecError(path.string(), 0, 0,
                    "failed reading peers: it is no result file of a benchmark (an object with \"device\" and \"rows\")");
  PeerFile peers;
  try {
    const auto measured_on = spec::DeviceInfo::from_json(file["device"]);
    if (measured_on.hard_key() != device.hard_key()) {
      peers.other_device = measured_on.name;
      return peers;
    }
  } catch (const std::exception& error) {
    throw SpecError(path.string(), 0, 0, fmt::format("failed reading peers: its device cannot be read: {}", error.what()));
  }
  std::size_t number = 0;
  for (const json& row : file["rows"]) {
    ++number;
    try {
      const base::JsonFields fields(row, "");
      if (!fields.has("peer_us")) continue;  // it could not be measured, or compares nothing
      if (fields.text("policy") != policy) {
        ++peers.other_policy;
        continue;
      }
      peers.peers.push_back(read_row(fields, file));
    } catch (const Error& error) {
      throw SpecError(path.string(), 0, 0, fmt::format("failed reading peers: row {}: {}", number, error.what()));
    }
  }
  return peers;
}

std::vector<Peer> PeerFile::of(const std::string& template_name, const spec::Problem& problem) const {
  std::vector<Peer> found;
  std::copy_if(peers.begin(), peers.end(), std::back_inserter(found), [&](const Peer& peer) {
    return peer.problem == problem && (peer.template_name.empty() || peer.template_name == template_name);
  });
  return found;
}

void PeerFile::add(PeerFile other) {
  peers.insert(peers.end(), std::make_move_iterator(other.peers.begin()), std::make_move_iterator(other.peers.end()));
}

}  // namespace attune::tools
