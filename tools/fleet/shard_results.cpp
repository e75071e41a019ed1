#include "tools/fleet/shard_results.hpp"

#include <fmt/core.h>

#include <fstream>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "db/exchange.hpp"
#include "tools/fleet/manifest.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/session/tune/exchange_rules.hpp"

namespace attune::tools {

namespace fs = std::filesystem;

namespace {

/// Why a database cannot be used; empty when it can.
std::string fault_of(const fs::path& path) {
  try {
    const auto report = db::Database::open(path, db::OpenMode::ReadOnly).check();
    return report.ok || report.problems.empty() ? "" : report.problems.front();
  } catch (const DatabaseError& failure) {
    return failure.what();
  }
}

}  // namespace

void copy_whole(const fs::path& from, const fs::path& to) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  std::ifstream input(from, std::ios::binary);
  if (!input) throw EnvironmentError(fmt::format("failed copying {}: it cannot be opened", from.string()));
  base::OutputFile output(to);
  std::vector<char> piece(kPieceBytes);
  while (input.read(piece.data(), static_cast<std::streamsize>(piece.size())) || input.gcount() > 0) {
    output.write({piece.data(), static_cast<std::size_t>(input.gcount())});
  }
  if (input.bad()) throw EnvironmentError(fmt::format("failed copying {}: it cannot be read to its end", from.string()));
  output.commit();
}

ShardResults::ShardResults(fs::path folder, std::size_t shard, fs::path scratch)
    : folder_(std::move(folder)), scratch_(std::move(scratch)), database_(scratch_ / (shard_name(shard) + ".db")), shard_(shard) {}

bool ShardResults::finished() const {
  std::error_code error;
  return fs::exists(finished_path(folder_, shard_), error);
}

std::optional<ShardResults::Version> ShardResults::published() const {
  struct stat found {};
  if (::stat(partial_path(folder_, shard_).c_str(), &found) != 0) return std::nullopt;
  return Version{found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

void ShardResults::set_aside(const std::string& why) const {
  const fs::path partial = partial_path(folder_, shard_);
  const fs::path aside = fmt::format("{}.damaged-{}", partial.string(), base::utc_stamp());
  std::error_code error;
  fs::rename(partial, aside, error);
  if (error) throw EnvironmentError(fmt::format("failed setting aside {}: {}", partial.string(), error.message()));
  base::tell_message(
      fmt::format("what earlier tasks had of shard {} cannot be read ({}); it is kept as {}, and what it held is measured again", shard_,
                  why, aside.string()));
}

void ShardResults::take_in() {
  const auto version = published();
  if (!version || version == own_) return;
  const fs::path partial = partial_path(folder_, shard_);
  if (const std::string why = fault_of(partial); !why.empty()) return set_aside(why);
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

void ShardResults::begin() {
  std::error_code error;
  // What an earlier task left on this node helps where it can be used; else the copy of the plan's folder is begun from.
  if (fs::exists(database_, error)) {
    if (const std::string why = fault_of(database_); !why.empty()) {
      const fs::path aside = fmt::format("{}.damaged-{}", database_.string(), base::utc_stamp());
      fs::rename(database_, aside, error);
      if (error) throw EnvironmentError(fmt::format("failed setting aside {}: {}", database_.string(), error.message()));
      base::tell_message(fmt::format("what an earlier task left on this node cannot be read ({}); it is kept as {}", why, aside.string()));
    }
  }
  take_in();
}

void ShardResults::remove_partial() const {
  std::error_code ignored;  // another task may have done so
  fs::remove(partial_path(folder_, shard_), ignored);
}

void ShardResults::publish(State state) {
  if (finished()) return remove_partial();  // by another task, from the same problems
  take_in();
  const fs::path copy = scratch_ / (shard_name(shard_) + ".copy.db");
  std::error_code error;
  fs::remove(copy, error);
  db::Database::open(database_, db::OpenMode::ReadOnly).export_to(copy);
  if (state == State::Finished) {
    copy_whole(copy, finished_path(folder_, shard_));
  } else {
    copy_whole(copy, partial_path(folder_, shard_));
    own_ = published();
  }
  fs::remove(copy, error);
  if (finished()) remove_partial();  // also where another task has finished the shard meanwhile
}

}  // namespace attune::tools
