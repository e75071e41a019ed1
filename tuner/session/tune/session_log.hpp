#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.hpp"

namespace attune::session {

/// Whether the process that opened a "running" session still runs. One of another host is taken to live: its database is shared.
[[nodiscard]] bool owner_lives(const db::SessionRow& session);

/// The stored row of one problem's tuning: opened before anything is measured, closed with a summary, and found "running" by
/// the next run when the process was killed.
class SessionLog {
 public:
  SessionLog(db::Database& database, const std::function<void(const std::string&)>& notice) : database_(database), notice_(notice) {}

  /// `row` without key, state and times. Also settles sessions of the same problem whose process is gone.
  void open(db::SessionRow row, const std::string& run);
  /// Names what a GPU worker is about to hold, the configuration being measured first.
  void hand_over(const std::vector<std::string>& in_hand);
  void close(const std::string& state, const nlohmann::json& summary);
  [[nodiscard]] const std::string& problem() const noexcept { return row_.problem; }

 private:
  void settle_dead_sessions();

  db::Database& database_;
  const std::function<void(const std::string&)>& notice_;
  db::SessionRow row_;
};

}  // namespace attune::session
