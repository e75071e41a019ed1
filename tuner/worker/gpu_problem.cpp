#include "tuner/worker/gpu_problem.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attune::worker {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{8} << 30;
constexpr double kPoolShare = 0.6;  // of the free memory: scratch and graphs need some too

std::size_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  gpu::check(gpu::Driver::get().cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo", "reading the free device memory");
  return free_bytes;
}

}  // namespace

GpuProblem::GpuProblem(spec::KernelTemplate kernel, spec::Problem problem, measure::CachePolicy cache, const std::string& reference_cubin,
                       const std::string& setup_cubin, verify::Support& support)
    : kernel_(std::move(kernel)),
      problem_(std::move(problem)),
      support_(&support),
      data_(kernel_, problem_, reference_cubin, support, setup_cubin) {
  allocate(cache);
  make_sound();
}

void GpuProblem::allocate(measure::CachePolicy cache) {
  const std::size_t window_bytes = data_.asked().layout.bytes();
  const std::size_t fixed_bytes = data_.fixed_bytes();
  const int groups = data_.groups();
  const std::size_t least_bytes = static_cast<std::size_t>(groups) * window_bytes + fixed_bytes;
  const std::size_t free_bytes = free_device_bytes();
  if (least_bytes > free_bytes) {
    throw EnvironmentError(fmt::format(
        "failed preparing {}: it needs {} bytes of device memory, {} are free; choose a smaller problem{} or end other programs on this device",
        spec::to_text(problem_), least_bytes, free_bytes,
        groups > 1 ? fmt::format(", or one that is timed on fewer than {} kinds of data,", groups) : ""));
  }
  const auto share = static_cast<std::size_t>(kPoolShare * static_cast<double>(free_bytes - fixed_bytes));
  windows_ = window_groups(groups, cache, window_bytes, std::min(kPoolBytes, share));
  data_.allocate(windows_.windows());
}

void GpuProblem::make_sound() {
  if (sound_) return;
  const auto standard = spec::default_configuration(kernel_);
  data_.expect_all(standard);
  windows_of_ = data_.adapt_timed(standard);
  fill_further_windows();
  support_->stream().synchronize();
  sound_ = true;
}

void GpuProblem::adapt(const spec::Configuration& configuration, const verify::UntimedCall* own_setup) {
  std::string text = data_.adapt_timed(configuration);
  if (windows_of_ != text) {
    windows_of_.reset();
    fill_further_windows();
    windows_of_ = std::move(text);
  }
  if (own_setup == nullptr) return;
  const bool already = prepared_by_ == configuration;
  prepared_by_.reset();
  for (int window = 0; window < windows_.windows(); ++window) {
    if (window > 0 && already) break;  // in the first one others may have been verified since
    data_.set_up(data_.asked(), own_setup, window);
  }
  prepared_by_ = configuration;
}

void GpuProblem::fill_further_windows() {
  prepared_by_.reset();
  for (int window = 1; window < windows_.windows(); ++window) {
    data_.fill(data_.asked(), verify::kRandom, verify::Guard::LowFirst, window, windows_.group_of(window));
    data_.set_up(data_.asked(), nullptr, window);
  }
}

}  // namespace attune::worker
