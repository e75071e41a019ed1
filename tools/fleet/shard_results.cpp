#include "tools/fleet/shard_results.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "attune/error.hpp"
#include "db/contents_error.hpp"
#include "db/exchange.hpp"
#include "db/merge_in_turn.hpp"
#include "tools/fleet/manifest.hpp"
#include "tools/fleet/plan_files.hpp"
#include "tools/fleet/shard_goal.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/session/tune/exchange_rules.hpp"

namespace attune::tools {

namespace fs = std::filesystem;

namespace {

/// Throws: EnvironmentError where the file system does not give the file's bytes.
void require_readable(const fs::path& path) {
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, std::size_t{64} << 10> piece{};
  ssize_t got = file.open() ? 1 : -1;
  while (got > 0 || (got < 0 && errno == EINTR)) got = ::read(file.get(), piece.data(), piece.size());
  if (got < 0)
    throw EnvironmentError(fmt::format("failed reading {}: {}; it stays as it is", path.string(), base::errno_text("read", errno)));
}

/// Why what a database holds cannot be used; empty when it can. Throws: DatabaseError and EnvironmentError, of what says nothing of that
/// and may pass: a lock, a limit, a file server that is away, a later attune's schema.
std::string fault_of(const fs::path& path) {
  std::string why;
  try {
    const auto report = db::Database::open(path, db::OpenMode::ReadOnly).check();
    if (!report.ok && !report.problems.empty()) why = report.problems.front();
  } catch (const db::ContentsError& failure) {
    why = failure.what();
  }
  if (!why.empty()) require_readable(path);
  return why;
}

/// Why what another task has published cannot be taken: damaged, or with rows that no merge takes. Empty when it can. Throws: what says
/// nothing of the rows.
std::string fault_of_published(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) return "it is no regular file";
  if (std::string why = fault_of(path); !why.empty()) return why;
  try {
    session::ExchangeRules rules;
    static_cast<void>(db::check_rows(db::Database::open(path, db::OpenMode::ReadOnly), rules));
    return {};
  } catch (const SpecError& failure) {
    return failure.what();
  }
}

constexpr const char* kDamaged = ".damaged-";

void set_file_aside(const fs::path& path, std::size_t shard, const std::string& why) {
  const fs::path aside = fmt::format("{}{}{}", path.string(), kDamaged, base::utc_stamp());
  std::error_code error;
  fs::rename(path, aside, error);
  if (error == std::errc::no_such_file_or_directory) return;  // another task has done so just now
  if (error) throw EnvironmentError(fmt::format("failed setting aside {}: {}", path.string(), error.message()));
  base::tell_message(
      fmt::format("what earlier tasks had of shard {} cannot be used ({}); it is kept as {}, and what it held is measured again", shard,
                  why, aside.string()));
}

/// Only asked where a node has published and the folder has nothing: it may have thousands of files.
bool has_set_aside(const fs::path& folder, std::size_t shard) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "results", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(shard_name(shard) + ".") && name.find(kDamaged) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

bool is_finished(const fs::path& folder, const Manifest& manifest, std::size_t shard) {
  const fs::path path = finished_path(folder, shard);
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return false;
  std::string why = fault_of_published(path);
  if (why.empty()) {
    const auto planned = planned_problems(folder, manifest.shard(shard));
    const auto left = unfinished_of(planned, manifest, db::Database::open(path, db::OpenMode::ReadOnly));
    if (left.empty()) return true;
    why = fmt::format("it has no search of {} of the plan's {} problems, so it is another plan's", left.size(), planned.size());
  }
  set_file_aside(path, shard, why);
  return false;
}

ShardResults::ShardResults(fs::path folder, const Manifest& manifest, std::size_t shard, fs::path scratch)
    : folder_(std::move(folder)),
      scratch_(std::move(scratch)),
      database_(scratch_ / (shard_name(shard) + ".db")),
      manifest_(manifest),
      plan_(version_of(manifest_path(folder_))),
      shard_(shard) {}

bool ShardResults::finished() const {
  std::error_code error;
  return fs::exists(finished_path(folder_, shard_), error);
}

void ShardResults::take_in() {
  const fs::path partial = partial_path(folder_, shard_);
  const auto version = version_of(partial);
  if (!version || version == own_) return;
  if (const std::string why = fault_of_published(partial); !why.empty()) return set_file_aside(partial, shard_, why);
  std::error_code error;
  if (!fs::exists(database_, error)) {
    // With the code of winners, which rows that are merged leave behind.
    db::Database::open(partial, db::OpenMode::ReadOnly).export_to(database_);
  } else {
    // What fails here is the node's own fault, its disk's or its database's: the copy of the others is sound.
    try {
      const auto others = db::open_for_merging(database_, {partial});
      auto database = db::Database::open(database_, db::OpenMode::ReadWrite);
      session::ExchangeRules rules;
      static_cast<void>(db::merge_opened(database, others, rules));
    } catch (const UsageError&) {
      return;  // another task has finished the shard just now
    }
  }
  own_ = version;
}

fs::path ShardResults::mark_of_publishing() const { return scratch_ / (shard_name(shard_) + ".published"); }

/// Every task notes that it runs before it measures, and marks on its node that it has published: where the plan's folder has no note, or
/// no copy of what was published, somebody has removed it.
bool ShardResults::were_removed() const {
  // In this order: a task that ends makes the whole before it removes the part.
  std::error_code error;
  if (fs::exists(partial_path(folder_, shard_), error) || finished()) return false;
  if (!fs::exists(runs_path(folder_, shard_), error)) return true;
  return fs::exists(mark_of_publishing(), error) && !has_set_aside(folder_, shard_);
}

void ShardResults::set_node_aside(const char* as, const std::string& why) const {
  const fs::path aside = fmt::format("{}.{}-{}", database_.string(), as, base::utc_stamp());
  // What a killed task did not write into the file itself is in its log, which SQLite finds by the file's name.
  for (const char* suffix : {"-wal", "-shm", ""}) {
    std::error_code error;
    fs::rename(database_.string() + suffix, aside.string() + suffix, error);
    if (error && error != std::errc::no_such_file_or_directory)
      throw EnvironmentError(fmt::format("failed setting aside {}{}: {}", database_.string(), suffix, error.message()));
  }
  std::error_code ignored;
  fs::remove(mark_of_publishing(), ignored);
  base::tell_message(fmt::format("{}; the database on this node is kept as {}", why, aside.string()));
}

void ShardResults::begin() {
  std::error_code error;
  // What an earlier task left on this node helps where it can be used; else the copy of the plan's folder is begun from.
  if (fs::exists(database_, error)) {
    if (const std::string why = fault_of(database_); !why.empty())
      set_node_aside("damaged", fmt::format("what an earlier task left on this node cannot be read ({})", why));
    else if (were_removed() && db::Database::open(database_, db::OpenMode::ReadOnly).info().records > 0)
      set_node_aside("removed", fmt::format("the files of shard {} were removed from the plan's folder, so it is measured again", shard_));
  }
  take_in();
}

void ShardResults::remove_node_files() const {
  std::error_code ignored;  // most of them are not there
  for (const char* suffix : {".db", ".db-wal", ".db-shm", ".db.lock", ".copy.db", ".published"})
    fs::remove(scratch_ / (shard_name(shard_) + suffix), ignored);
}

void ShardResults::remove_partial() const {
  std::error_code ignored;  // another task may have done so
  fs::remove(partial_path(folder_, shard_), ignored);
}

/// Whoever plans anew into a folder may do so while tasks of the former plan are at work.
void ShardResults::require_same_plan() {
  const auto version = version_of(manifest_path(folder_));
  if (version && version == plan_) return;
  const auto failure_of = [&](const char* why) {
    return fmt::format("failed publishing results of shard {}: {}; what was measured is in {}", shard_, why, database_.string());
  };
  std::string key;
  try {
    key = Manifest::load(folder_).key();
  } catch (const Error& failure) {
    throw EnvironmentError(failure_of(failure.what()));  // it may be the file server's, and pass
  }
  if (key != manifest_.key()) throw PlanReplaced(failure_of("the folder has another plan by now"));
  plan_ = version;
}

void ShardResults::publish(State state) {
  require_same_plan();
  if (finished() && is_finished(folder_, manifest_, shard_)) return remove_partial();  // by another task
  take_in();
  const fs::path copy = scratch_ / (shard_name(shard_) + ".copy.db");
  std::error_code error;
  fs::remove(copy, error);
  db::Database::open(database_, db::OpenMode::ReadOnly).export_to(copy);
  if (state == State::Finished) {
    copy_whole(copy, finished_path(folder_, shard_));
  } else {
    copy_whole(copy, partial_path(folder_, shard_));
    own_ = version_of(partial_path(folder_, shard_));
    base::write_output(mark_of_publishing(), "");
  }
  fs::remove(copy, error);
  if (finished()) remove_partial();  // also where another task has finished the shard meanwhile
}

}  // namespace attune::tools
