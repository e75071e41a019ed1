#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune::base {

/// A count as people write it: "4096", "16M" (2^20 multiples: K, M, G, Ki, Mi, Gi alike), "2^24", "1e6", "100_000".
/// Throws: UsageError naming the text and the accepted forms; also when the value passes 2^62.
[[nodiscard]] std::int64_t parse_count(std::string_view text);

/// "2^10..2^28:x4" (geometric), "1K..4K:+1K" (arithmetic), "16M", or a comma list of these. Ascending, no duplicates.
/// A range without a step means ":x2". Throws: UsageError (empty, descending, factor below 2, more
/// than 65536 values).
[[nodiscard]] std::vector<std::int64_t> parse_counts(std::string_view text);

/// What to tell somebody who wrote a range without a step, where that leaves counts out: "1..10 takes 1, 2, 4, 8, for ...". Empty where
/// there is none. Requires: a text that parse_counts takes.
[[nodiscard]] std::string doubling_note(std::string_view text);

/// Exact when it can be: 1048576 -> "2^20", 16777216 -> "2^24", 3000017 -> "3000017".
[[nodiscard]] std::string format_count(std::int64_t count);

/// Why a text is no whole number from 0 to 2^64 - 1, naming it; empty when it is one. CLI11 wraps what is negative and takes the
/// largest number for what is larger.
[[nodiscard]] std::string whole_number_fault(std::string_view text);

/// "60s", "5m", "1h", "500ms" -> seconds. Throws: UsageError.
[[nodiscard]] double parse_seconds(std::string_view text);

/// Without the spaces at both ends, or without others of the characters that count as blanks.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " ");

/// UTC time as "2026-11-20T13:17:05Z".
[[nodiscard]] std::string utc_now();
/// The same to the microsecond, "2026-11-20T13:17:05.123456Z", and later with every call of one process: what dates rows of
/// which the newer one is kept. Texts of both forms compare by time once their 'Z' is taken off.
[[nodiscard]] std::string utc_stamp();

/// The candidate nearest in edit distance for "did you mean ..."; empty when none is near.
[[nodiscard]] std::string closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace attune::base
