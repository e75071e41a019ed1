#pragma once
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tools/peer_file.hpp"
#include "tuner/session/variants/ladder_result.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

struct LadderPage {
  const db::Database& database;
  const spec::KernelTemplate& kernel;
  const std::vector<session::LadderResult>& ladders;
  std::string device_key;
  std::string policy;
  const PeerFile& peers;
};

/// Writes the report of these problems, with their ladders and the peers beside them.
/// Throws: Error when the file cannot be written.
void write_ladder_page(const std::string& path, const LadderPage& page);

}  // namespace attune::tools
