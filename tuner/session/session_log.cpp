#include "tuner/session/session_log.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Whether the process that opened a session still runs. One of another host is taken to live: its database is shared.
bool owner_lives(const db::SessionRow& session) {
  const json summary = base::parse_json(session.summary_json.empty() ? "{}" : session.summary_json);
  const std::string host = summary.value("host", "");
  if (host.empty()) return false;
  const int pid = summary.value("pid", 0);
  return host != host_name() || ::kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace

void SessionLog::open(db::SessionRow row, const std::string& run) {
  row_ = std::move(row);
  row_.state = "running";
  row_.started_at = base::utc_now();
  row_.summary_json = base::dump_json(json{{"host", host_name()}, {"pid", ::getpid()}, {"run", run}});
  base::ContentHasher hasher;
  for (const std::string& part : {row_.template_hash, row_.problem, row_.device_key, row_.policy, row_.strategy,
                                  std::to_string(row_.seed), row_.started_at, row_.summary_json, run}) {
    hasher.add(part);
  }
  row_.key = hasher.key();
  settle_dead_sessions();
  database_.put(row_);
}

/// Sessions that a killed process left "running": named once, with what was on the GPU when they died.
void SessionLog::settle_dead_sessions() {
  const auto flying = database_.in_flight();
  const db::Query query{row_.template_hash, std::nullopt, row_.problem, row_.device_key, row_.policy};
  for (auto session : database_.sessions(query)) {
    if (session.state != "running" || session.key == row_.key || owner_lives(session)) continue;
    session.state = "interrupted";
    database_.put(session);
    for (const auto& [key, configurations] : flying) {
      if (key != session.key) continue;
      // The first was being measured; those behind it waited in the worker's queue.
      notice_(fmt::format("an earlier run of {} ended while {} was on the GPU; it is measured again", row_.problem,
                          configurations.substr(0, configurations.find('\n'))));
    }
    database_.clear_in_flight(session.key);
  }
}

void SessionLog::hand_over(const std::vector<std::string>& in_hand) {
  database_.set_in_flight(row_.key, fmt::format("{}", fmt::join(in_hand, "\n")));
}

void SessionLog::close(const std::string& state, const json& summary) {
  database_.clear_in_flight(row_.key);
  row_.state = state;
  row_.finished_at = base::utc_now();
  row_.summary_json = base::dump_json(summary);
  database_.put(row_);
}

}  // namespace attune::session
