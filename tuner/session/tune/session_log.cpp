#include "tuner/session/tune/session_log.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

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

/// When a process began, in ticks since the machine did; 0 when there is none. A number of a process is given anew: this is
/// not. Field 22 of proc(5), behind the name in parentheses, which may hold anything.
std::uint64_t start_of(long pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(behind_name + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  std::uint64_t ticks = 0;
  std::from_chars(field.data(), field.data() + field.size(), ticks);
  return ticks;
}

}  // namespace

bool owner_lives(const db::SessionRow& session) {
  const json summary = base::try_parse_json(session.summary_json);
  if (!summary.is_object() || !summary.contains("host") || !summary["host"].is_string() || summary["host"] == "") return false;
  if (summary["host"] != host_name()) return true;
  const auto number = [&](const char* name) {
    return summary.contains(name) && summary[name].is_number_integer() ? summary[name].get<std::int64_t>() : 0;
  };
  const std::int64_t pid = number("pid");
  if (pid <= 0 || pid > std::numeric_limits<int>::max()) return false;
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno != EPERM) return false;
  const auto start = start_of(pid), told = static_cast<std::uint64_t>(number("start"));
  return start == 0 || told == 0 || start == told;
}

void SessionLog::open(db::SessionRow row, const std::string& run) {
  row_ = std::move(row);
  row_.state = "running";
  row_.started_at = base::utc_now();
  row_.summary_json = base::dump_json(json{{"host", host_name()}, {"pid", ::getpid()}, {"start", start_of(::getpid())}, {"run", run}});
  base::ContentHasher hasher;
  for (const std::string& part : {row_.template_hash, row_.problem, row_.device_key, row_.policy, row_.strategy, std::to_string(row_.seed),
                                  row_.started_at, row_.summary_json, run}) {
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
  for (const auto& session : database_.sessions(query)) {
    if (session.state != "running" || session.key == row_.key || owner_lives(session)) continue;
    db::SessionRow settled = session;
    settled.state = "interrupted";
    // Its process may have closed it and ended since it was read.
    if (!database_.settle(session, settled)) continue;
    for (const auto& [key, configurations] : flying) {
      if (key != session.key) continue;
      // The first was being measured; those behind it waited in the worker's queue.
      notice_(fmt::format("an earlier run of {} ended while {} was on the GPU; it is measured again", row_.problem,
                          configurations.substr(0, configurations.find('\n'))));
    }
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
