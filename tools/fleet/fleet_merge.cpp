#include "tools/fleet/fleet_merge.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "attune/error.hpp"
#include "db/contents_error.hpp"
#include "db/merge_in_turn.hpp"
#include "tools/commands.hpp"
#include "tools/fleet/agreement.hpp"
#include "tools/fleet/file_version.hpp"
#include "tools/fleet/manifest.hpp"
#include "tools/fleet/merge_report.hpp"
#include "tools/fleet/plan_files.hpp"
#include "tools/fleet/run_notes.hpp"
#include "tools/fleet/shard_goal.hpp"
#include "tools/fleet/work_ahead.hpp"
#include "tools/output.hpp"
#include "tools/progress_line.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/tune/exchange_rules.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void throw_when_stopped() {
  if (stop_asked()) throw Error("interrupted while merging; the same command completes it", ExitCode::Interrupted);
}

class FleetMerge {
 public:
  FleetMerge(const FleetMergeOptions& options, const Manifest& manifest)
      : options_(options), manifest_(manifest), agreement_(options.tolerance), versions_(manifest.shards.size()) {
    for (std::size_t i = 0; i < manifest.shards.size(); ++i) report_.shards.push_back(look_for(i));
    find_controls();
  }

  MergeReport run() {
    const bool any = std::any_of(report_.shards.begin(), report_.shards.end(), [](const auto& one) { return !one.path.empty(); });
    if (!any)
      throw UsageError(fmt::format("failed merging {}: no shard has a result yet; `attune fleet run {} --shard 0` makes one",
                                   options_.folder.string(), options_.folder.string()));
    auto database = db::Database::open(options_.database, db::OpenMode::ReadWrite, [] { return !stop_asked(); });
    print_notices(database);
    session::ExchangeRules rules;
    db::MergeInTurn merge(database, rules);
    take_all_rows(merge);
    for (auto& shard : report_.shards) {
      if (shard.path.empty()) continue;
      reading(shard, [&] { take_best(merge, shard); });
    }
    merge.finish();
    report_.merged = merge.report();
    report_.database = database.path().string();
    report_.agreement = agreement_.result();
    return std::move(report_);
  }

 private:
  [[nodiscard]] MergedShard look_for(std::size_t number) const {
    MergedShard shard;
    shard.number = number;
    shard.left = manifest_.shards[number].problems;
    std::error_code error;
    // A task that ends makes the whole before it removes the part: looked for in the other order, both might be missed.
    for (const auto& [path, state] : {std::pair(partial_path(options_.folder, number), MergedShard::State::Partial),
                                      {finished_path(options_.folder, number), MergedShard::State::Finished}}) {
      if (!fs::exists(path, error)) continue;
      shard.path = path;
      shard.state = state;
    }
    return shard;
  }

  /// The control problems stand first in every shard's file, so one that can be read is enough. Without any, devices are not compared.
  void find_controls() {
    if (manifest_.controls == 0) return;
    std::string why;
    for (const auto& shard : manifest_.shards) {
      try {
        std::istringstream lines(read_shard_problems(options_.folder, shard));
        std::string line;
        for (std::size_t i = 0; i < manifest_.controls && std::getline(lines, line); ++i) controls_.push_back(line);
        return;
      } catch (const Error& failure) {
        why = failure.what();
      }
    }
    base::tell_message(fmt::format("{}; no shard's problems can be read, so devices are not compared", why));
  }

  /// A shard's results, open: what the name leads to later is another file.
  struct OpenedShard {
    db::Database database;
    fs::path path;
    std::optional<FileVersion> version;  ///< nothing: of a file that changes all the time
  };

  /// `finished`: what a task that ends just now leaves in the place of its part. Throws: DatabaseError naming one of the two.
  [[nodiscard]] static OpenedShard open(const fs::path& found, const fs::path& finished) {
    constexpr int kMostTries = 5;
    for (int tries = 1;; ++tries) {
      std::error_code error;
      const fs::path& path = !fs::exists(found, error) && fs::exists(finished, error) ? finished : found;
      const auto before = version_of(path);
      const auto is_the_same = [&] { return before == version_of(path); };
      try {
        auto opened = db::Database::open(path, db::OpenMode::ReadOnly);
        if (is_the_same()) return {std::move(opened), path, before};
        if (tries == kMostTries) return {std::move(opened), path, std::nullopt};
      } catch (const DatabaseError&) {
        // Where a task has replaced or renamed the file meanwhile, the next try finds what it has left.
        if (is_the_same() || tries == kMostTries) throw;
      }
    }
  }

  /// A shard whose rows have all been checked, still open.
  struct CheckedShard {
    OpenedShard opened;
    db::CheckedRows rows;
    Agreement controls;  ///< the shard's own times, to be compared with the others'

    [[nodiscard]] std::size_t bytes() const { return rows.bytes(); }
  };

  /// Far enough to go on while a transaction is written, which takes seconds.
  [[nodiscard]] static AheadLimits how_far_ahead() {
    constexpr std::size_t kMostThreads = 8;  // one stores
    constexpr std::size_t kMostShards = 64;  // each is open until it is stored
    constexpr std::size_t kMostBytes = std::size_t{256} << 20;
    constexpr std::size_t kDescriptors = 4;  // of an open database
    constexpr std::size_t kOtherDescriptors = 32;
    rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
    const rlim_t left = std::max<rlim_t>(limit.rlim_cur, kOtherDescriptors) - kOtherDescriptors;
    const std::size_t shards = std::clamp<rlim_t>(left / kDescriptors, 1, kMostShards);
    return {std::min(base::available_cpus().size() + 1, kMostThreads), shards, kMostBytes};
  }

  /// Throws: as db::check_rows.
  [[nodiscard]] CheckedShard check(std::size_t shard, OpenedShard opened) const {
    session::ExchangeRules rules;
    auto rows = db::check_rows(opened.database, rules, [](std::uint64_t) { throw_when_stopped(); });
    Agreement controls(options_.tolerance);
    db::Query query = records_of_plan(manifest_);
    for (const auto& control : controls_) {
      query.problem = control;
      opened.database.for_each_record(query, [&](const db::RecordRow& record) { controls.add(shard, record); });
    }
    return {std::move(opened), std::move(rows), std::move(controls)};
  }

  void take_all_rows(db::MergeInTurn& merge) {
    std::vector<MergedShard*> found;
    for (auto& shard : report_.shards) {
      if (!shard.path.empty()) found.push_back(&shard);
    }
    // Where they are now: `found` itself is followed while the threads are at work.
    std::vector<std::pair<fs::path, fs::path>> places;
    for (const auto* shard : found) places.emplace_back(shard->path, finished_path(options_.folder, shard->number));
    WorkAhead<CheckedShard> ahead(found.size(), how_far_ahead(),
                                  [&](std::size_t i) { return check(found[i]->number, open(places[i].first, places[i].second)); });
    for (auto* shard : found) {
      if (!ahead.wait_for(merge.left())) merge.finish();  // others may write meanwhile
      reading(*shard, [&] {
        const CheckedShard checked = ahead.take();
        follow(*shard, checked.opened.path);
        store_rows(merge, *shard, checked);
        agreement_.add(checked.controls);
        look_into(*shard, checked.opened.database);
      });
    }
  }

  /// A shard that cannot be read, or has vanished, costs itself alone. Throws: what concerns the target, and being interrupted.
  template <class Work>
  void reading(MergedShard& shard, Work&& work) {
    throw_when_stopped();
    try {
      work();
    } catch (const DatabaseError& error) {
      if (!is_of(shard, error.path())) throw;
      // What is no file does not become one by waiting.
      std::error_code unknown;
      const auto type = fs::status(shard.path, unknown).type();
      const bool may_be_one = type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::unknown;
      shard.cannot_be_read(error.what(), may_be_one && dynamic_cast<const db::ContentsError*>(&error) == nullptr);
    } catch (const SpecError& error) {
      shard.cannot_be_read(error.what(), false);
    }
  }

  /// Under either of its names: a task may end, and remove its part, at any time.
  [[nodiscard]] bool is_of(const MergedShard& shard, const fs::path& path) const {
    const auto names_it = [&](const fs::path& own) {
      std::error_code unknown;
      return path == own || fs::weakly_canonical(path, unknown) == fs::weakly_canonical(own, unknown);
    };
    return names_it(finished_path(options_.folder, shard.number)) || names_it(partial_path(options_.folder, shard.number));
  }

  void store_rows(db::MergeInTurn& merge, const MergedShard& shard, const CheckedShard& found) {
    versions_[shard.number] = found.opened.version;
    merge.take_rows(found.opened.database, found.rows, [&](std::uint64_t rows) {
      throw_when_stopped();
      if (line_.due()) line_.show(fmt::format("merging shard {} of {}: {} rows", shard.number, report_.shards.size(), rows));
    });
    line_.clear();
  }

  /// Where a task has finished the shard since it was found, its results have another name.
  void follow(MergedShard& shard, const fs::path& path) const {
    if (shard.path == path) return;
    shard.path = path;
    shard.state = MergedShard::State::Finished;
  }

  void take_best(db::MergeInTurn& merge, MergedShard& shard) {
    OpenedShard opened = open(shard.path, finished_path(options_.folder, shard.number));
    follow(shard, opened.path);
    const auto take = [&](const db::Database& of) { merge.take_best(of, [](std::uint64_t) { throw_when_stopped(); }); };
    if (opened.version && opened.version == versions_[shard.number]) return take(opened.database);
    // A task that is at work, or has just ended, has published more: its records come before its best rows.
    const CheckedShard found = check(shard.number, std::move(opened));
    store_rows(merge, shard, found);
    count_left(shard, found.opened.database);
    take(found.opened.database);
  }

  /// What the report tells of it.
  void look_into(MergedShard& shard, const db::Database& other) {
    for (const auto& row : other.devices()) shard.devices.push_back(base::try_parse_json(row.info_json));
    count_left(shard, other);
    try {
      shard.runs = read_runs(runs_path(options_.folder, shard.number));
    } catch (const Error& failure) {
      // Notes only: of this shard it is not told where it was tuned.
      base::tell_message(fmt::format("{}; the hosts of shard {} are not told", failure.what(), shard.number));
    }
  }

  /// What lacks searches of the plan's problems is not finished, whatever it is called: it may be another plan's.
  void count_left(MergedShard& shard, const db::Database& other) const {
    try {
      const auto& entry = manifest_.shards[shard.number];
      shard.left = unfinished_of(planned_problems(options_.folder, entry), manifest_, other).size();
    } catch (const DatabaseError&) {
      throw;
    } catch (const Error& failure) {
      shard.left = 0;
      base::tell_message(fmt::format("{}; whether shard {} has results of all its problems is not known", failure.what(), shard.number));
      return;
    }
    const bool is_whole = shard.left == 0 && shard.path == finished_path(options_.folder, shard.number);
    shard.state = is_whole ? MergedShard::State::Finished : MergedShard::State::Partial;
  }

  const FleetMergeOptions& options_;
  const Manifest& manifest_;
  Agreement agreement_;
  std::vector<std::optional<FileVersion>> versions_;
  std::vector<std::string> controls_;
  MergeReport report_;
  ProgressLine line_{options_.json};
};

}  // namespace

int merge_fleet(const FleetMergeOptions& options) {
  const auto manifest = Manifest::load(options.folder);
  std::error_code error;
  if (fs::equivalent(fs::weakly_canonical(fs::absolute(options.database), error).parent_path(), options.folder / "results", error))
    throw UsageError(fmt::format("failed merging into {}: tasks write into this folder, and would take it for a result; name another file",
                                 options.database.string()));
  refuse_shipped(options.database, "merging into");
  stop_on_signals();
  const MergeReport report = FleetMerge(options, manifest).run();
  if (options.json)
    print_json(report.to_json(), 1);
  else
    base::print("{}", base::Lines{report.text(options.folder.string())});
  return options.strict && !report.complete() ? static_cast<int>(ExitCode::Internal) : static_cast<int>(ExitCode::Ok);
}

}  // namespace attune::tools
