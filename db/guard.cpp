#include "db/guard.hpp"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "attune/error.hpp"
#include "db/lock_wait.hpp"

namespace attune::db {
namespace {

/// Steps of SQLite's machine between two questions: some hundred microseconds.
constexpr int kStepsBetween = 10000;

/// A sound file is read, checked and indexed anew at tens of megabytes a second; whatever takes a hundred times as long does
/// something else.
constexpr double kLeastAllowedS = 5, kAllowedSPerMiB = 2;

double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// No CREATE statement of ours comes near; a file of kilobytes may hold many references to one text of megabytes.
constexpr int kLongestOfSchema = 64 << 10;

/// Pauses that double up to the longest, which nearly all attempts take.
template <int kShortestUs, int kLongestUs>
int wait_for_lock(void* guard, int attempts) {
  if (attempts >= kBusyTimeoutMs / (kLongestUs / 1000)) return 0;
  const LockWait wait;
  if (!static_cast<Guard*>(guard)->keeps_going()) return 0;
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(kShortestUs * (1 << std::min(attempts, 8)), kLongestUs)));
  return 1;
}

}  // namespace

void harden(SQLite::Database& sqlite) {
  sqlite3* const handle = sqlite.getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int off :
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_DQS_DML}) {
    sqlite3_db_config(handle, off, 0, nullptr);
  }
  // VACUUM attaches a database by itself.
  constexpr std::array<std::pair<int, int>, 8> kLimits{{{SQLITE_LIMIT_LENGTH, kLongestOfSchema},
                                                        {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                                        {SQLITE_LIMIT_COLUMN, 64},
                                                        {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                                        {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                                                        {SQLITE_LIMIT_ATTACHED, 1},
                                                        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100}}};
  for (const auto& [what, most] : kLimits) sqlite3_limit(handle, what, most);
  sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
  // What is taken out is overwritten, however this SQLite was built: salvage reads pages that nothing leads to any more.
  sqlite3_exec(handle, "PRAGMA secure_delete = ON", nullptr, nullptr, nullptr);
}

void take_long_values(SQLite::Database& sqlite) { sqlite3_limit(sqlite.getHandle(), SQLITE_LIMIT_LENGTH, kLongestValue); }

/// Several tuning processes commit a thousand times a second into one file, for some 30 us each: SQLite's own handler, which
/// sleeps 1 to 100 ms, leaves them waiting for a lock that is long free.
void wait_often(SQLite::Database& sqlite, Guard& guard) { sqlite3_busy_handler(sqlite.getHandle(), &wait_for_lock<50, 1000>, &guard); }
void wait_seldom(SQLite::Database& sqlite, Guard& guard) { sqlite3_busy_handler(sqlite.getHandle(), &wait_for_lock<2000, 100000>, &guard); }

Guard::Guard(SQLite::Database& sqlite, std::filesystem::path path, KeepGoing keep_going, Limit limit)
    : sqlite_(sqlite), path_(std::move(path)), keep_going_(std::move(keep_going)), allowed_s_(allowed_s()), timed_(limit == Limit::ByFile) {
  sqlite3_progress_handler(sqlite_.getHandle(), kStepsBetween, &Guard::ask, this);
}

Guard::~Guard() {
  sqlite3_progress_handler(sqlite_.getHandle(), 0, nullptr, nullptr);
  sqlite3_busy_handler(sqlite_.getHandle(), nullptr, nullptr);  // it may ask this guard
}

double Guard::allowed_s() const {
  double bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    struct stat status {};
    if (::stat((path_.string() + suffix).c_str(), &status) != 0) continue;
    // What it takes on disk: a file may claim any size. One that was written a moment ago may take nothing yet.
    constexpr double kBelieved = 64 << 20;
    bytes += std::max(512.0 * static_cast<double>(status.st_blocks), std::min(static_cast<double>(status.st_size), kBelieved));
  }
  return kLeastAllowedS + kAllowedSPerMiB * bytes / (1 << 20);
}

void Guard::begin(const char* doing) {
  begin_ending();
  if (!keeps_going()) explain_interruption(doing);
}

void Guard::begin_ending() {
  late_ = false;
  begun_s_ = kNotAsked;
}

int Guard::ask(void* guard) {
  auto* const self = static_cast<Guard*>(guard);
  if (!self->keeps_going()) return 1;
  if (!self->timed_) return 0;
  if (self->begun_s_ == kNotAsked) self->begun_s_ = thread_cpu_s();
  if (thread_cpu_s() - self->begun_s_ < self->allowed_s_) return 0;
  // It may have grown since it was opened.
  self->allowed_s_ = self->allowed_s();
  self->late_ = thread_cpu_s() - self->begun_s_ >= self->allowed_s_;
  return self->late_ ? 1 : 0;
}

void Guard::explain_interruption(const std::string& doing) const {
  if (stopped_) throw Error(fmt::format("interrupted {} database '{}'", doing, path_.string()), ExitCode::Interrupted);
  if (!late_) return;
  throw DatabaseError(path_.string(),
                      fmt::format("failed {} database '{}': it takes more than {:.0f} s of processor time, which no sound file of its size "
                                  "does; `attune db check` lists what is wrong with it",
                                  doing, path_.string(), allowed_s_));
}

Guard::Without::Without(Guard& guard, KeepGoing keep_going)
    : guard_(guard), before_(std::exchange(guard.keep_going_, std::move(keep_going))), timed_before_(std::exchange(guard.timed_, false)) {
  guard_.stopped_ = false;
}

Guard::Without::~Without() {
  guard_.keep_going_ = std::move(before_);
  guard_.timed_ = timed_before_;
  guard_.stopped_ = false;
}

}  // namespace attune::db
