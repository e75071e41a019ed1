#pragma once
// Reports of rows_fixture.hpp, and what is looked for in their text.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/report/rows_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/report/report.hpp"

namespace attune::test {

inline report::Report toy_report() {
  auto rows = toy_rows();
  rows.sessions.push_back(session(1024, "2026-03-04T05:00:00Z", R"({"measured": 5, "reused": 0, "failed": {"wrong_result": 1},
      "read_ceiling_bytes_per_s": 4.096e9, "budget": "100%", "run": "one-command", "convergence": [[1, 0.5, 4.0], [4, 1.5, 2.0]], "attune_version": "0.1.0"})"));
  return report::build(rows, {});
}

/// The same with markup, quotes and separators wherever data can hold them.
inline report::Report hostile_report() {
  auto rows = toy_rows();
  const std::string nasty = "</script><script>alert(\"1\")</script>, | & '\n@@DATA@@";
  rows.templates[0].spec_json = base::dump_json(nlohmann::json{{"summary", nasty}});
  rows.records[4].detail_json = base::dump_json(nlohmann::json{{"detail", nasty}, {"throttle", nasty}});
  rows.records[3].driver = nasty;
  rows.records[3].origin = "recording:" + nasty;
  rows.records.push_back(record(1024, base::dump_json(nlohmann::json{{nasty, nasty}}), 9.0));
  rows.sessions.push_back(session(1024, nasty, base::dump_json(nlohmann::json{{"budget", nasty}, {"replayed_from", nasty}})));
  return report::build(rows, {});
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace attune::test
