// What a database gives to other files: its rows in one order, and only those that another one may take.
#include <set>
#include <type_traits>

#include "db/database_state.hpp"
#include "db/exchange_parts.hpp"
#include "db/snapshot.hpp"

namespace attune::db {
namespace {

/// Of what is exported, the same for equal contents. Records of one problem together, in the order of an index as far as it goes: ten
/// million are not sorted in memory. Who merges takes them as they were stored, which sorts nothing and keeps how a search went.
constexpr const char* kExportedOrder = " ORDER BY t.template_hash, t.problem_key, t.device_key, t.policy, t.configuration_key";

class Travel {
 public:
  /// Database::State is private to Database, so this takes what it needs of it.
  template <class State>
  LeftOut run(State& state, RowSink& sink, Database::BestRows best) {
    const bool alone = best == Database::BestRows::Alone;
    only_verified_ = best == Database::BestRows::Verified;
    const auto damaged = [&](const std::string&) { ++left_.damaged; };
    state.template scan<DeviceRow>(
        state.template select_of<DeviceRow>() + Table<DeviceRow>::kOrder, {},
        [&](const DeviceRow& row) {
          devices_.insert(row.hard_key);
          sink.take(row);
          return true;
        },
        damaged);
    give_templates(state, sink, damaged);
    if (alone) {
      left_ = {};
    } else {
      give<SessionRow>(state, sink, " ORDER BY t.key", damaged);
      give<RecordRow>(state, sink, only_verified_ ? kExportedOrder : Table<RecordRow>::kOrder, damaged);
    }
    if (best != Database::BestRows::None) give<BestRow>(state, sink, Table<BestRow>::kOrder, damaged);
    return left_;
  }

 private:
  template <class State, class Damaged>
  void give_templates(State& state, RowSink& sink, const Damaged& damaged) {
    std::vector<TemplateRow> rows;
    const auto keep = [&](TemplateRow row) { return rows.push_back(std::move(row)), true; };
    state.template scan<TemplateRow>(state.template select_of<TemplateRow>() + Table<TemplateRow>::kOrder, {}, keep, damaged);
    for (TemplateRow& row : rows) {
      const auto add = [&](TemplateFileRow file) {
        if (file.template_hash != row.hash) return false;
        row.files.emplace(std::move(file.name), std::move(file.contents));
        return true;
      };
      state.template scan<TemplateFileRow>(state.template select_of<TemplateFileRow>() + " WHERE template_hash = ? ORDER BY name",
                                           {row.hash}, add, damaged);
      if (content_hash(row) != row.hash) {
        ++left_.unsourced;
        continue;
      }
      templates_.insert(row.hash);
      sink.take(row);
    }
  }

  template <class Row, class State, class Damaged>
  void give(State& state, RowSink& sink, const char* order, const Damaged& damaged) {
    const auto visit = [&](const Row& row) {
      if constexpr (std::is_same_v<Row, SessionRow>) {
        if (row.state == "running") return true;
      }
      if (!devices_.contains(row.device_key) || !templates_.contains(row.template_hash)) {
        ++left_.orphaned;
        return true;
      }
      if constexpr (std::is_same_v<Row, BestRow>) {
        if (only_verified_ && !has_verified_record(state, row)) {
          ++left_.unverified;
          return true;
        }
      }
      sink.take(row);
      return true;
    };
    state.template scan<Row>(state.template select_of<Row>() + order, {}, visit, damaged);
  }

  template <class State>
  static bool has_verified_record(State& state, const BestRow& best) {
    const std::string key = record_key_of(best);
    bool verified = false;
    const auto look = [&](const RecordRow& record) { return verified = is_verified(record) && Table<RecordRow>::key(record) == key, true; };
    state.template scan<RecordRow>(state.template select_of<RecordRow>() + where_key<RecordRow>(), {key}, look, [](const std::string&) {});
    return verified;
  }

  LeftOut left_;
  bool only_verified_ = true;
  std::set<std::string> devices_;
  std::set<std::string> templates_;
};

}  // namespace

LeftOut Database::for_each_row(RowSink& sink, BestRows best) const {
  return state_->reading([&] {
    const Snapshot snapshot(*state_->connection.sqlite);
    return Travel().run(*state_, sink, best);
  });
}

void Database::for_each_best(const std::function<void(const BestRow&)>& visit) const {
  const auto give = [&](const BestRow& row) { return visit(row), true; };
  state_->reading(
      [&] { state_->scan<BestRow>(state_->select_of<BestRow>() + Table<BestRow>::kOrder, {}, give, [](const std::string&) {}); });
}

}  // namespace attune::db
