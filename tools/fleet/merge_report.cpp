#include "tools/fleet/merge_report.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "tools/output.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using State = MergedShard::State;

/// More shards than a table of which anybody reads: then only those are shown that are not as they should be.
constexpr std::size_t kMostRows = 32;

const char* name(State state) {
  switch (state) {
    case State::Missing:
      return "missing";
    case State::Partial:
      return "partial";
    case State::Finished:
      return "finished";
    case State::Unreadable:
      return "unreadable";
  }
  return "";
}

json device_json(const json& device) {
  return {{"name", base::member_or(device, "name", "")},
          {"uuid", base::member_or(device, "uuid", "")},
          {"driver", base::member_or(device, "driver", "")}};
}

/// Values of the tasks' devices, each once, in the order in which they were met.
std::string of_runs(const MergedShard& shard, const char* member) {
  std::vector<std::string> values;
  std::set<std::string> met;
  const auto add = [&](const json& object) {
    const std::string value = base::member_or(object, member, "");
    if (!value.empty() && met.insert(value).second) values.push_back(value);
  };
  for (const auto& run : shard.runs) {
    if (const auto devices = run.find("devices"); devices != run.end() && devices->is_array()) {
      for (const auto& device : *devices) add(device);
    }
  }
  for (const auto& device : shard.devices) add(device);
  return base::escape_line(fmt::format("{}", fmt::join(values, ", ")));
}

std::string hosts_of(const MergedShard& shard) {
  std::set<std::string> hosts;
  for (const auto& run : shard.runs) hosts.insert(base::member_or(run, "host", ""));
  return base::escape_line(fmt::format("{}", fmt::join(hosts, ", ")));
}

}  // namespace

bool MergeReport::complete() const {
  return std::all_of(shards.begin(), shards.end(), [](const auto& shard) { return shard.state == State::Finished; }) &&
         std::none_of(agreement.begin(), agreement.end(), [](const auto& one) { return one.disagrees; });
}

json MergeReport::to_json() const {
  json list = json::array();
  for (const auto& shard : shards) {
    json one = {{"shard", shard.number}, {"state", name(shard.state)}, {"left", shard.left}, {"runs", shard.runs}};
    one["why"] = shard.why.empty() ? json(nullptr) : json(shard.why);
    one["may_pass"] = shard.state == State::Unreadable ? json(shard.may_pass) : json(nullptr);
    one["devices"] = json::array();
    for (const auto& device : shard.devices) one["devices"].push_back(device_json(device));
    one["controls"] = json::array();
    for (const auto& found : agreement_of(shard)) {
      one["controls"].push_back({{"device_key", found.device_key},
                                 {"ratio", found.ratio},
                                 {"compared", found.compared},
                                 {"apart", found.apart},
                                 {"disagrees", found.disagrees}});
    }
    list.push_back(std::move(one));
  }
  const auto& stored = merged.stored;
  return {{"database", database},
          {"complete", complete()},
          {"rows", {{"sessions", merged.rows.sessions}, {"records", merged.rows.records}, {"best", merged.rows.best}}},
          {"stored", {{"sessions", stored.sessions}, {"records", stored.records}, {"best", stored.best}}},
          {"shards", std::move(list)}};
}

std::span<const ShardAgreement> MergeReport::agreement_of(const MergedShard& shard) const {
  ShardAgreement of;
  of.shard = shard.number;
  const auto [begin, end] =
      std::equal_range(agreement.begin(), agreement.end(), of, [](const auto& a, const auto& b) { return a.shard < b.shard; });
  return {agreement.data() + (begin - agreement.begin()), static_cast<std::size_t>(end - begin)};
}

std::vector<std::string> MergeReport::numbers_of(State state) const {
  std::vector<std::string> numbers;
  for (const auto& shard : shards) {
    if (shard.state == state) numbers.push_back(std::to_string(shard.number));
  }
  return numbers;
}

std::string MergeReport::table() const {
  TextTable table({"shard", "state", "left", "device", "driver", "uuid", "host", "time by the fleet's"});
  std::size_t rows = 0;
  for (const auto& shard : shards) {
    std::string ratio = "-";
    bool disagrees = false;
    for (const auto& one : agreement_of(shard)) {
      ratio = fmt::format("{}{:.3f}", ratio == "-" ? "" : ratio + ", ", one.ratio);
      disagrees = disagrees || one.disagrees;
    }
    if (shards.size() > kMostRows && shard.state == State::Finished && !disagrees) continue;
    ++rows;
    table.add({std::to_string(shard.number), name(shard.state), std::to_string(shard.left), of_runs(shard, "name"),
               of_runs(shard, "driver"), of_runs(shard, "uuid"), hosts_of(shard), ratio});
  }
  return rows == 0 ? "" : table.text();
}

std::string MergeReport::text(const std::string& folder) const {
  const std::size_t finished = numbers_of(State::Finished).size();
  std::string text = table();
  text += fmt::format(
      "{}: {} of {} shards finished; read {} records and {} best, stored {} and {}; the others were there, as they are or newer\n",
      base::escape_line(database), finished, shards.size(), merged.rows.records, merged.rows.best, merged.stored.records,
      merged.stored.best);
  if (const auto missing = numbers_of(State::Missing); !missing.empty()) {
    text += fmt::format("missing: shard {} has no result; attune fleet run {} --shard N tunes one\n", fmt::join(missing, ", "),
                        base::escape_line(folder));
  }
  if (const auto partial = numbers_of(State::Partial); !partial.empty())
    text += fmt::format("not finished: shard {}; run again, each goes on, and then merge again\n", fmt::join(partial, ", "));
  for (const auto& shard : shards) {
    if (shard.state != State::Unreadable) continue;
    text += fmt::format("cannot be read: shard {} ({}); {}\n", shard.number, base::escape_line(shard.why),
                        shard.may_pass ? "that may pass, and it stays as it is: merge again, or run the shard again where its file is gone"
                                       : "remove its file and run the shard again");
  }
  for (const auto& one : agreement) {
    if (!one.disagrees) continue;
    text += fmt::format(
        "disagrees: shard {} took {:.3f} of the fleet's time ({} of {} configurations of the control problems lie apart): another device than "
        "it looks like, or one that is throttled or shared; remove its results and run it again elsewhere\n",
        one.shard, one.ratio, one.apart, one.compared);
  }
  return text;
}

}  // namespace attune::tools
