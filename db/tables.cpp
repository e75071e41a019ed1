#include "db/tables.hpp"

#include <charconv>
#include <utility>

namespace attune::db {

const char* const Table<DeviceRow>::kSelect = "SELECT hard_key, checksum, hard_key, hard_json, info_json FROM devices";

const char* const Table<TemplateRow>::kSelect = "SELECT hash, checksum, hash, name, spec_json FROM templates";

const char* const Table<TemplateFileRow>::kSelect =
    "SELECT key, checksum, template_hash, name, contents FROM template_files";

// LEFT JOIN: a record whose problem or configuration is lost is a bad row to be counted, not one to be overlooked.
const char* const Table<RecordRow>::kSelect =
    "SELECT t.key, t.checksum, t.template_hash, p.text, t.device_key, t.policy, c.text, t.outcome, t.stage, t.verified,"
    " m.value, m.low, m.high, m.samples, t.detail_json, t.driver, t.nvrtc, t.recorded_at, t.origin"
    " FROM records t LEFT JOIN problems p ON p.key = t.problem_key"
    " LEFT JOIN configurations c ON c.key = t.configuration_key"
    " LEFT JOIN metrics m ON m.record_key = t.key AND m.name = 'time_us'";

const char* const Table<SessionRow>::kSelect =
    "SELECT t.key, t.checksum, t.key, t.template_hash, p.text, t.device_key, t.policy, t.strategy, t.seed, t.state,"
    " t.space_size, t.started_at, t.finished_at, t.summary_json"
    " FROM sessions t LEFT JOIN problems p ON p.key = t.problem_key";

const char* const Table<BestRow>::kSelect =
    "SELECT t.key, t.checksum, t.template_hash, t.template_name, t.family, p.text, t.sizes_json, t.device_key, "
    "t.policy,"
    " t.objective, c.text, t.median_us, t.default_us, t.tie, t.cubin_key, t.driver, t.recorded_at, t.detail_json"
    " FROM best t LEFT JOIN problems p ON p.key = t.problem_key"
    " LEFT JOIN configurations c ON c.key = t.configuration_key";

const char* const Table<InFlightRow>::kSelect =
    "SELECT session_key, checksum, session_key, configuration FROM in_flight";

const char* const Table<CubinRow>::kSelect = "SELECT key, checksum, key, cubin, detail_json FROM cubins";

std::string Table<TemplateFileRow>::key(const TemplateFileRow& row) {
  return base::ContentHasher().add(row.template_hash).add(row.name).key();
}

std::string Table<RecordRow>::key(const RecordRow& row) {
  return base::ContentHasher()
      .add(row.template_hash)
      .add(row.problem)
      .add(row.device_key)
      .add(row.policy)
      .add(row.configuration)
      .key();
}

std::string Table<BestRow>::key(const BestRow& row) {
  return base::ContentHasher()
      .add(row.template_hash)
      .add(row.problem)
      .add(row.device_key)
      .add(row.policy)
      .add(row.objective)
      .key();
}

// As spec::KernelTemplate::content_hash is made; db/ knows no specification, and a test holds the two together.
std::string content_hash(const TemplateRow& row) {
  base::ContentHasher hasher;
  hasher.add(row.spec_json);
  for (const auto& [name, contents] : row.files) hasher.add(name).add(contents);
  return hasher.key();
}

std::string checksum_text(double number) {
  char text[32];
  // + 0.0: a negative zero is stored, and read back, as zero.
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), number + 0.0);
  return {text, end.ptr};
}

namespace {

class FilterBuilder {
 public:
  void add(const char* condition, const std::optional<std::string>& value) {
    if (!value) return;
    filter_.where += filter_.where.empty() ? " WHERE " : " AND ";
    filter_.where += condition;
    filter_.values.push_back(*value);
  }
  void add_common(const Query& query) {
    add("t.template_hash = ?", query.template_hash);
    if (query.problem) add("t.problem_key = ?", base::content_key(*query.problem));
    add("t.device_key = ?", query.device_key);
    add("t.policy = ?", query.policy);
  }
  [[nodiscard]] Filter take() { return std::move(filter_); }

 private:
  Filter filter_;
};

Filter filter_by_template_table(const Query& query) {
  FilterBuilder builder;
  builder.add_common(query);
  builder.add("t.template_hash IN (SELECT hash FROM templates WHERE name = ?)", query.template_name);
  return builder.take();
}

}  // namespace

template <>
Filter filter_of<RecordRow>(const Query& query) {
  return filter_by_template_table(query);
}

template <>
Filter filter_of<SessionRow>(const Query& query) {
  return filter_by_template_table(query);
}

template <>
Filter filter_of<BestRow>(const Query& query) {
  FilterBuilder builder;
  builder.add_common(query);
  builder.add("t.template_name = ?", query.template_name);
  return builder.take();
}

// The order of the index: no sort. Within a problem, records come as they were first stored.
const char* const Table<RecordRow>::kOrder = " ORDER BY t.template_hash, t.problem_key, t.device_key, t.policy, t.id";

const char* const Table<SessionRow>::kOrder = " ORDER BY t.started_at, t.key";

const char* const Table<BestRow>::kOrder =
    " ORDER BY t.template_name, t.template_hash, t.family, t.device_key, t.policy, t.objective, p.text";

const char* const Table<DeviceRow>::kOrder = " ORDER BY hard_key";

const char* const Table<TemplateRow>::kOrder = " ORDER BY name, hash";

const char* const Table<TemplateFileRow>::kOrder = " ORDER BY template_hash, name";

const char* const Table<InFlightRow>::kOrder = " ORDER BY session_key";

const char* const Table<CubinRow>::kOrder = " ORDER BY key";

const char* const Table<DeviceRow>::kWhereKey = " WHERE hard_key = ?";
const char* const Table<TemplateRow>::kWhereKey = " WHERE hash = ?";
const char* const Table<TemplateFileRow>::kWhereKey = " WHERE key = ?";
const char* const Table<RecordRow>::kWhereKey = " WHERE t.key = ?";
const char* const Table<SessionRow>::kWhereKey = " WHERE t.key = ?";
const char* const Table<BestRow>::kWhereKey = " WHERE t.key = ?";
const char* const Table<InFlightRow>::kWhereKey = " WHERE session_key = ?";
const char* const Table<CubinRow>::kWhereKey = " WHERE key = ?";

}  // namespace attune::db
