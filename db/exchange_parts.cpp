#include "db/exchange_parts.hpp"

#include <fmt/core.h>

#include "db/tables.hpp"

namespace attune::db {

std::uint64_t& count_of(RowCounts& counts, const DeviceRow&) { return counts.devices; }
std::uint64_t& count_of(RowCounts& counts, const TemplateRow&) { return counts.templates; }
std::uint64_t& count_of(RowCounts& counts, const SessionRow&) { return counts.sessions; }
std::uint64_t& count_of(RowCounts& counts, const RecordRow&) { return counts.records; }
std::uint64_t& count_of(RowCounts& counts, const BestRow&) { return counts.best; }

std::string name_of(const DeviceRow& row) { return "the device " + row.hard_key; }
std::string name_of(const TemplateRow& row) { return fmt::format("the template '{}' {}", row.name, row.hash); }
std::string name_of(const SessionRow& row) { return "the session " + row.key; }
std::string name_of(const RecordRow& row) { return fmt::format("the record of {} for {}", row.configuration, row.problem); }
std::string name_of(const BestRow& row) { return fmt::format("the best row for {}", row.problem); }

Query problem_of(const RecordRow& row) { return {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; }
Query problem_of(const BestRow& row) { return {row.template_hash, std::nullopt, row.problem, row.device_key, row.policy}; }

std::string record_key_of(const BestRow& row) {
  RecordRow record;
  record.template_hash = row.template_hash;
  record.problem = row.problem;
  record.device_key = row.device_key;
  record.policy = row.policy;
  record.configuration = row.configuration;
  return Table<RecordRow>::key(record);
}

}  // namespace attune::db
