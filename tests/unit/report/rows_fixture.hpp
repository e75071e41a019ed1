#pragma once
#include <string>

#include "tuner/report/report.hpp"

namespace attune::test {

inline constexpr const char* kHash = "0123456789abcdef0123456789abcdef";
inline constexpr const char* kDevice = "d0d0d0d0";
inline constexpr const char* kPolicy = "cold/graph";

[[nodiscard]] std::string problem_text(std::int64_t n);
[[nodiscard]] std::string configuration_text(int block, const std::string& stage);

/// A record that ran; `outcome` other than "ok" makes it a failure with `detail` as its reason.
[[nodiscard]] db::RecordRow record(std::int64_t n, const std::string& configuration, double median_us, const std::string& outcome = "ok",
                                   const std::string& detail = "");
[[nodiscard]] db::BestRow best_row(std::int64_t n, const std::string& configuration, double median_us, double default_us);
[[nodiscard]] db::SessionRow session(std::int64_t n, const std::string& started_at, const std::string& summary_json);

/// One template ("toy": block in {32, 64, 128}, default 64; stage in {tree, shuffle}, default tree), one device, n =
/// 1024 with five records (best 2 us with block 128 and shuffle, default 4 us, one failure) and n = 4096 with one
/// failure only.
[[nodiscard]] report::Rows toy_rows();
/// A device without a measured ceiling: 1 GHz x 1024 bit x 2 = 256 GB/s.
[[nodiscard]] db::DeviceRow toy_device();

}  // namespace attune::test
