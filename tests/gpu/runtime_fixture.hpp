#pragma once
#include <cstdint>
#include <vector>

#include "attune/runtime.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::test {

/// A device array of floats and one result, filled with small integers: every partial sum is exact.
class Input {
 public:
  explicit Input(std::int64_t n, std::int64_t offset = 0) : n_(n), offset_(offset), memory_(bytes(n + offset)), out_(sizeof(float)) {
    std::vector<float> values(static_cast<std::size_t>(n + offset),
                              1e30f);  // what lies before the offset must not count
    for (std::int64_t i = 0; i < n; ++i) {
      const auto value = i * 7 % 11 - 4;
      values[static_cast<std::size_t>(offset + i)] = static_cast<float>(value);
      sum_ += value;
    }
    copy(memory_.address(), values.data(), values.size() * sizeof(float));
    poison();
  }
  void poison() const {
    const float nothing = -12345.0f;
    copy(out_.address(), &nothing, sizeof nothing);
  }
  [[nodiscard]] const float* in() const { return reinterpret_cast<const float*>(memory_.address()) + offset_; }
  [[nodiscard]] float* out() const { return reinterpret_cast<float*>(out_.address()); }
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] float expected() const { return static_cast<float>(sum_); }
  /// Waits for the whole context.
  [[nodiscard]] float result() const {
    const auto& driver = gpu::Driver::get();
    float value = 0;
    gpu::check(driver.cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
    gpu::check(driver.cuMemcpyDtoHAsync(&value, out_.address(), sizeof value, nullptr), "cuMemcpyDtoHAsync", "reading the result");
    gpu::check(driver.cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
    return value;
  }

 private:
  static std::size_t bytes(std::int64_t count) { return static_cast<std::size_t>(count > 0 ? count : 1) * sizeof(float); }
  static void copy(CUdeviceptr to, const void* from, std::size_t count) {
    const auto& driver = gpu::Driver::get();
    if (count > 0) gpu::check(driver.cuMemcpyHtoDAsync(to, from, count, nullptr), "cuMemcpyHtoDAsync", "writing the input");
    gpu::check(driver.cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
  }
  std::int64_t n_;
  std::int64_t offset_;
  gpu::Buffer memory_;
  gpu::Buffer out_;
  std::int64_t sum_ = 0;
};

/// A context, no databases, and a compile cache of its own.
struct RuntimeFixture {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};
  Variable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  gpu::Context context{0};

  /// Device memory for a plan, zeroed.
  static gpu::Buffer workspace_of(const Plan& plan) {
    gpu::Buffer workspace(plan.workspace_bytes());
    gpu::check(gpu::Driver::get().cuMemsetD8Async(workspace.address(), 0, workspace.bytes(), nullptr), "cuMemsetD8Async", "zeroing");
    gpu::check(gpu::Driver::get().cuCtxSynchronize(), "cuCtxSynchronize", "waiting");
    return workspace;
  }
};

inline constexpr std::int64_t kLarge = 1000003;  // many blocks: the default configuration needs scratch

}  // namespace attune::test
