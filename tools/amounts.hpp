#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace attune::tools {

/// How old: "36h", "90d", "26w", "2y" (of 365 days). `option` names it in the message. Throws: UsageError; also for less than an hour and
/// more than a hundred years.
[[nodiscard]] std::chrono::hours parse_age(const std::string& text, const char* option);

/// How many bytes: "4096", "200M", "1.5G", "64MiB", in multiples of 1024. Throws: UsageError, as parse_age.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text, const char* option);

/// "37.5 KiB", "1.2 MiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// A moment as rows tell it, without a fraction: "2026-11-28T14:00:00Z".
[[nodiscard]] std::string moment_text(std::chrono::system_clock::time_point moment);

}  // namespace attune::tools
