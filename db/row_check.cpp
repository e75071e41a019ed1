#include "db/row_check.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string_view>

#include "attune/error.hpp"
#include "db/exchange_lines.hpp"
#include "db/row_order.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/line_file.hpp"
#include "tuner/base/text.hpp"

namespace attune::db {
namespace {

constexpr std::size_t kLongestName = 256;                    // of a template, a policy, a version
constexpr std::size_t kLongestPath = 4096;                   // PATH_MAX
constexpr std::size_t kLongestText = std::size_t{16} << 20;  // of a detail, a specification, a source
constexpr double kLongestUs = 1e12;                          // eleven days

[[noreturn]] void refuse(const std::string& why) { throw Error(why); }

void check_length(const char* field, const std::string& text, std::size_t most) {
  if (text.size() > most) refuse(fmt::format("the field '{}' has {} bytes; at most {} are taken", field, text.size(), most));
}

void check_name(const char* field, const std::string& text) {
  if (text.empty()) refuse(fmt::format("the field '{}' is empty", field));
  check_length(field, text, kLongestName);
}

void check_us(const char* field, double us) {
  if (!std::isfinite(us) || us < 0 || us > kLongestUs) refuse(fmt::format("the field '{}' is {}; a time in us is needed", field, us));
}

/// "2026-11-20T13:17:05Z", perhaps with a fraction.
bool is_date(const std::string& text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kShape.size() + 1 || text.size() > 40 || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd' ? !base::is_digit(text[i]) : kShape[i] != text[i]) return false;
  }
  const std::string_view fraction = std::string_view(text).substr(kShape.size(), text.size() - 1 - kShape.size());
  if (fraction.empty()) return true;
  if (fraction.size() < 2 || fraction[0] != '.') return false;
  for (const char c : fraction.substr(1)) {
    if (!base::is_digit(c)) return false;
  }
  return true;
}

/// A date of the future is taken: the clock of the machine that measured may have erred, and what is measured again replaces the
/// row all the same (`supersede` of db/row_order.hpp).
void check_date(const char* field, const std::string& text) {
  if (!is_date(text)) refuse(fmt::format("the field '{}' is '{}'; a date as 2026-11-20T13:17:05Z is needed", field, text));
}

void check_detail(const std::string& detail_json) {
  check_length("detail_json", detail_json, kLongestText);
  if (revision_of(detail_json) > kMostRevision) refuse(fmt::format("the revision in its detail_json is above {}", kMostRevision));
}

/// "recording:<file>" names a file without its folder: where somebody keeps it is nobody else's business.
void check_origin(const std::string& origin) {
  check_length("origin", origin, kLongestPath);
  const bool recording = origin.starts_with("recording:") && origin.find('/') == std::string::npos;
  if (origin != "measured" && !recording) refuse(fmt::format("the origin '{}' is neither measured nor recording:<file>", origin));
}

}  // namespace

template <class Row>
void RowCheck::check_common(const Row& row) const {
  if (!templates_.contains(row.template_hash)) refuse(fmt::format("its template {} does not come before it", row.template_hash));
  if (!devices_.contains(row.device_key)) refuse(fmt::format("its device {} does not come before it", row.device_key));
  check_name("policy", row.policy);
  check_length("problem", row.problem, kLongestText);
}

void RowCheck::take(const DeviceRow& row) {
  check_length("hard_json", row.hard_json, kLongestText);
  check_length("info_json", row.info_json, kLongestText);
  if (row.hard_key != base::content_key(row.hard_json)) refuse("its hard_key is not the content key of its hard_json");
  devices_.insert(row.hard_key);
}

void RowCheck::take(const TemplateRow& row) {
  check_name("name", row.name);
  check_length("spec_json", row.spec_json, kLongestText);
  for (const auto& [name, contents] : row.files) {
    if (name.empty()) refuse("a file of its has no name");
    check_length("files", name, kLongestPath);
    check_length("files", contents, kLongestText);
  }
  if (const std::size_t bytes = line_of(row).size(); bytes > base::LineReader::kMaximumLine) {
    refuse(fmt::format("its line in an exported file would have {} bytes; at most {} are read", bytes, base::LineReader::kMaximumLine));
  }
  if (row.hash != content_hash(row)) refuse("its hash is not what its specification and sources hash to");
  templates_.insert(row.hash);
}

void RowCheck::take(const SessionRow& row) {
  check_common(row);
  check_name("key", row.key);
  check_name("strategy", row.strategy);
  check_length("summary_json", row.summary_json, kLongestText);
  check_date("started_at", row.started_at);
  if (!row.finished_at.empty()) check_date("finished_at", row.finished_at);
  if (row.state == "finished" && row.finished_at.empty()) refuse("the field 'finished_at' is empty, and the state is finished");
  if (row.state != "finished" && row.state != "interrupted") {
    refuse(fmt::format("the state '{}' is neither finished nor interrupted", row.state));
  }
}

void RowCheck::take(const RecordRow& row) {
  check_common(row);
  check_length("configuration", row.configuration, kLongestText);
  check_detail(row.detail_json);
  check_length("driver", row.driver, kLongestPath);
  check_length("nvrtc", row.nvrtc, kLongestPath);
  check_name("outcome", row.outcome);
  check_name("stage", row.stage);
  check_us("median_us", row.median_us);
  check_us("low_us", row.low_us);
  check_us("high_us", row.high_us);
  check_date("recorded_at", row.recorded_at);
  check_origin(row.origin);
  if (row.samples < 0) refuse("the field 'samples' is negative");
  // One that failed may have a time all the same: of a wrong result.
  if (row.outcome == "ok" && row.median_us == 0)
    refuse(fmt::format("the outcome {} does not go with a median of {} us", row.outcome, row.median_us));
}

void RowCheck::take(const BestRow& row) {
  check_common(row);
  check_name("template_name", row.template_name);
  check_name("objective", row.objective);
  check_length("family", row.family, kLongestText);
  check_length("sizes_json", row.sizes_json, kLongestText);
  check_length("configuration", row.configuration, kLongestText);
  check_detail(row.detail_json);
  check_length("driver", row.driver, kLongestPath);
  check_length("nvrtc", row.nvrtc, kLongestPath);
  check_us("median_us", row.median_us);
  check_us("default_us", row.default_us);
  if (row.median_us == 0) refuse("the field 'median_us' is 0; a best row has a time");
  check_date("recorded_at", row.recorded_at);
}

}  // namespace attune::db
