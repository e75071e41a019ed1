#include "db/row_order.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "tuner/base/characters.hpp"
#include "tuner/base/json.hpp"

namespace attune::db {
namespace {

using nlohmann::json;
using Ordering = std::strong_ordering;

Ordering compare(double a, double b) { return a < b ? Ordering::less : b < a ? Ordering::greater : Ordering::equal; }

/// Dates with and without a fraction of the second compare by time once the 'Z' is off.
std::string_view moment(std::string_view date) { return date.ends_with('Z') ? date.substr(0, date.size() - 1) : date; }

/// By all fields, as text: a total order that means nothing.
template <class Row>
Ordering by_content(const Row& a, const Row& b) {
  Ordering result = Ordering::equal;
  for_each_column<Row>([&](const auto& column) {
    if (result == Ordering::equal) result = checksum_text(a.*column.member) <=> checksum_text(b.*column.member);
  });
  return result;
}

int rank_of_stage(std::string_view stage) {
  if (stage == "run_off") return 3;
  if (stage == "measured") return 2;
  return stage == "screened" ? 1 : 0;
}

int rank_of_state(std::string_view state) {
  if (state == "finished") return 2;
  return state == "interrupted" ? 1 : 0;
}

/// The text member of a JSON object; empty when there is none, or no such object.
std::string member(const std::string& object, const char* name) {
  const json parsed = base::try_parse_json(object);
  if (!parsed.is_object()) return {};
  const auto found = parsed.find(name);
  return found != parsed.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// How many configurations a best row was chosen from in its run-off.
std::size_t finalists_of(const BestRow& row) {
  const json parsed = base::try_parse_json(row.detail_json);
  if (!parsed.is_object()) return 0;
  const auto found = parsed.find("asked");
  return found != parsed.end() && found->is_array() ? found->size() : 0;
}

/// "580.159.04" by its numbers: 9.1 is older than 10.0.
std::vector<std::uint64_t> version_numbers(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  bool within = false;
  for (const char c : text) {
    const bool digit = base::is_digit(c);
    if (digit && !within) numbers.push_back(0);
    if (digit && numbers.back() < 1000000000) numbers.back() = numbers.back() * 10 + static_cast<std::uint64_t>(c - '0');
    within = digit;
  }
  return numbers;
}

/// A detail that is no object stays as it is: nothing that is measured here has one.
template <class Row>
void come_after(Row& row, const Row& seen) {
  const std::uint64_t before = revision_of(seen.detail_json);
  const std::uint64_t revision = std::min(kMostRevision, moment(row.recorded_at) > moment(seen.recorded_at) ? before : before + 1);
  if (revision <= revision_of(row.detail_json)) return;
  json detail = base::try_parse_json(row.detail_json);
  if (!detail.is_object()) return;
  detail["revision"] = revision;
  row.detail_json = base::dump_json(detail);
}

}  // namespace

std::uint64_t revision_of(const std::string& detail_json) {
  if (detail_json.find("\"revision\"") == std::string::npos) return 0;  // nearly all rows: no need to parse them
  const json parsed = base::try_parse_json(detail_json);
  if (!parsed.is_object()) return 0;
  const auto found = parsed.find("revision");
  return found != parsed.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool replaces(const RecordRow& row, const RecordRow& seen) { return row.origin == "measured" || seen.origin != "measured"; }
bool replaces(const BestRow& row, const BestRow& seen) {
  return member(row.detail_json, "origin") == "measured" || member(seen.detail_json, "origin") != "measured";
}

void supersede(RecordRow& row, const RecordRow& seen) { come_after(row, seen); }
void supersede(BestRow& row, const BestRow& seen) { come_after(row, seen); }

Ordering order(const RecordRow& a, const RecordRow& b) {
  const auto rank = [](const RecordRow& row) {
    return std::tuple(row.origin == "measured", revision_of(row.detail_json), moment(row.recorded_at), row.outcome != "ok",
                      rank_of_stage(row.stage));
  };
  if (const auto ranked = rank(a) <=> rank(b); ranked != 0) return ranked;
  if (const auto faster = compare(b.median_us, a.median_us); faster != 0) return faster;
  return by_content(a, b);
}

Ordering order(const BestRow& a, const BestRow& b) {
  const auto measured = [](const BestRow& row) { return member(row.detail_json, "origin") == "measured"; };
  if (const auto ranked = measured(a) <=> measured(b); ranked != 0) return ranked;
  if (const auto later = revision_of(a.detail_json) <=> revision_of(b.detail_json); later != 0) return later;
  if (const auto newer = moment(a.recorded_at) <=> moment(b.recorded_at); newer != 0) return newer;
  if (const auto wider = finalists_of(a) <=> finalists_of(b); wider != 0) return wider;
  if (const auto faster = compare(b.median_us, a.median_us); faster != 0) return faster;
  BestRow said = a, other = b;
  said.cubin_key.clear();
  other.cubin_key.clear();
  return by_content(said, other);
}

Ordering order(const SessionRow& a, const SessionRow& b) {
  const auto rank = [](const SessionRow& row) { return std::tuple(rank_of_state(row.state), moment(row.finished_at)); };
  if (const auto ranked = rank(a) <=> rank(b); ranked != 0) return ranked;
  return by_content(a, b);
}

Ordering order(const DeviceRow& a, const DeviceRow& b) {
  const auto driver = [](const DeviceRow& row) { return version_numbers(member(row.info_json, "driver")); };
  if (const auto newer = driver(a) <=> driver(b); newer != 0) return newer;
  return by_content(a, b);
}

Ordering order(const TemplateRow& a, const TemplateRow& b) { return by_content(a, b); }
Ordering order(const TemplateFileRow& a, const TemplateFileRow& b) { return by_content(a, b); }

}  // namespace attune::db
