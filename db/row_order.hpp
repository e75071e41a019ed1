#pragma once
#include <compare>
#include <cstdint>
#include <string>

#include "db/records.hpp"
#include "db/tables.hpp"

namespace attune::db {

/// Which of two rows of one key a database keeps: the greater one. The order is total over what a row says, so that
/// neither the order of arrival nor that of merging shows in what is stored:
///
///   record    measured on a device > replayed from a recording; higher revision > lower; newer > older (recorded_at);
///             failed > ok, since a configuration that fails is not to be dispatched; run_off > measured > screened > none;
///             faster > slower
///   best      measured on a device > replayed (the "origin" of detail_json); higher revision > lower; newer > older; chosen
///             from more finalists > from fewer (of one recording all rows have one date); faster > slower
///   session   finished > interrupted > running; ended later > ended earlier
///   device    newer driver > older driver (the "driver" of info_json)
///
/// The revision (the "revision" of detail_json, 0 without one) is there because clocks err: whoever replaces a row that it
/// has seen makes it higher where the dates would say otherwise (`supersede`).
///
/// and last, for all of them, the content of the fields, which only makes the order total. Rows that say the same are
/// equal, whichever file's cubin a best row names: cubins do not travel.
[[nodiscard]] std::strong_ordering order(const RecordRow& a, const RecordRow& b);
[[nodiscard]] std::strong_ordering order(const BestRow& a, const BestRow& b);
[[nodiscard]] std::strong_ordering order(const SessionRow& a, const SessionRow& b);
[[nodiscard]] std::strong_ordering order(const DeviceRow& a, const DeviceRow& b);
/// A hash stands for one specification and its files, so these differ only where a file is damaged or forged.
[[nodiscard]] std::strong_ordering order(const TemplateRow& a, const TemplateRow& b);
[[nodiscard]] std::strong_ordering order(const TemplateFileRow& a, const TemplateFileRow& b);

/// The highest revision that a row of another database may have.
inline constexpr std::uint64_t kMostRevision = std::uint64_t{1} << 32;
[[nodiscard]] std::uint64_t revision_of(const std::string& detail_json);

/// Whether a row may take the place of one that its process has seen: a replayed one never that of a measured one.
[[nodiscard]] bool replaces(const RecordRow& row, const RecordRow& seen);
[[nodiscard]] bool replaces(const BestRow& row, const BestRow& seen);

/// Makes `row` come after `seen`, which has the same key, as far as dates decide: whatever clock dated `seen`, what was
/// measured after seeing it replaces it. Rows keep the dates that their clocks gave.
void supersede(RecordRow& row, const RecordRow& seen);
void supersede(BestRow& row, const BestRow& seen);

}  // namespace attune::db
