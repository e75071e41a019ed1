#pragma once
#include <string>

namespace attune::fake_nvml {

inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 3;
inline constexpr int kNotFound = 6;

/// Notes the call. True when it has to fail.
[[nodiscard]] bool fails(const std::string& function);

/// Notes the call and answers it with the member `key` of ATTUNE_FAKE_NVML, or fails.
[[nodiscard]] int answer(const char* function, const char* key, unsigned* value);
[[nodiscard]] int answer(const char* function, const char* key, unsigned long long* value);

/// Of the machine's monotonic clock.
[[nodiscard]] unsigned long long counts_of_20_ms();

[[nodiscard]] bool is_device(const char* uuid);

}  // namespace attune::fake_nvml
