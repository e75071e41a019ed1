#include "db/tables.hpp"

#include <charconv>
#include <utility>

namespace attune::db {

std::string Table<TemplateFileRow>::key(const TemplateFileRow& row) {
  return base::ContentHasher().add(row.template_hash).add(row.name).key();
}

std::string Table<RecordRow>::key(const RecordRow& row) {
  return base::ContentHasher().add(row.template_hash).add(row.problem).add(row.device_key).add(row.policy).add(row.configuration).key();
}

std::string Table<BestRow>::key(const BestRow& row) {
  return base::ContentHasher().add(row.template_hash).add(row.problem).add(row.device_key).add(row.policy).add(row.objective).key();
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
  builder.add("t.objective = ?", query.objective);
  return builder.take();
}

}  // namespace attune::db
