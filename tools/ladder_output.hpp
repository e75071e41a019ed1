#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/peer_file.hpp"
#include "tuner/session/variants/ladder_result.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace attune::tools {

/// The table of one problem: a line a rung, then the peers that were measured on the same problem.
[[nodiscard]] std::string ladder_table(const session::LadderResult& result, const std::string& template_name, const std::string& policy,
                                       const std::vector<Peer>& peers);
/// "Fastest of each vector_bytes in the winning rung, us": a line a problem, for each tabulated parameter. Empty without tables.
[[nodiscard]] std::string value_tables(const std::vector<session::LadderResult>& results, const spec::VariantLadder& ladder);
/// "GB/s over bins, T=i32 n=2^24": a line a rung, a column a problem, for problems that differ in one of several sizes. Of several such
/// sizes the one is taken along which most problems lie. A table of GFLOP/s follows where arithmetic matters (base/roofline.hpp). Empty
/// where problems have one size or nothing to compare.
[[nodiscard]] std::string curve_tables(const std::vector<session::LadderResult>& results);
/// Why each rung, and what was published about it, with the hardware of that.
[[nodiscard]] std::string ladder_legend(const spec::VariantLadder& ladder);
/// The `ladder` event: problem, rungs, tables, peers.
[[nodiscard]] nlohmann::json ladder_event(const session::LadderResult& result, const spec::VariantLadder& ladder,
                                          const std::vector<Peer>& peers);

}  // namespace attune::tools
