// How a LiveBackend begins, and takes up a problem: what has to be there before anything is measured.
#include <fmt/core.h>

#include <utility>

#include "tuner/session/source/live_backend.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/metrics.hpp"

namespace attune::session {
namespace {

constexpr const char* kPreparing = "preparing inputs and what is expected of them";

compile::CompilePool::Options pool_options(const LiveBackend::Options& options) {
  compile::CompilePool::Options pool;
  pool.worker = options.worker;
  pool.workers = options.compile_workers;
  pool.cpus = options.compile_cpus;
  pool.deadline = options.compile_deadline;
  pool.cache = options.cache;
  return pool;
}

}  // namespace

LiveBackend::LiveBackend(const Options& options, std::unique_ptr<measure::GpuExecutor> gpu)
    : compilers_(pool_options(options)), gpu_(std::move(gpu)), required_(compilers_, gpu_->device()) {
  required_.begin_support();
}

double LiveBackend::read_ceiling_bytes_per_s() {
  drain();
  if (read_ceiling_ >= 0) return read_ceiling_;
  if (unprepared_) return 0;  // whoever had no time for that code has none for this
  gpu_->set_support(required_.support(on_wait));
  try {
    return read_ceiling_ = gpu_->read_ceiling_bytes_per_s();
  } catch (const Error& error) {  // no worker: what was tuned is worth more than this figure
    ceiling_warning_ = fmt::format("the rate that a pure read reaches is not known: {}", error.what());
    return read_ceiling_ = 0;
  }
}

std::vector<std::string> LiveBackend::take_warnings() {
  auto warnings = compilers_.take_warnings();
  if (!ceiling_warning_.empty()) warnings.push_back(std::exchange(ceiling_warning_, {}));
  return warnings;
}

void LiveBackend::prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  abandon();
  kernel_ = &kernel;
  problem_ = problem;
  measures_power_ = spec::uses_power(kernel);
  default_text_ = spec::to_text(kernel, spec::default_configuration(kernel, problem, gpu_->device()));
  visits_made_ = 0;
  recovering_before_s_ = gpu_->recovering_s();
  best_us_ = gpu_busy_s_ = verifying_s_ = waiting_s_ = 0;
  waiting_since_.reset();
  end_ = {};
  visit_calls_ = {};
  patience_.reset();
  compilers_.make_way_after({});
  may_let_go_ = false;
  sentinel_entry_.reset();
  sentinel_ = {};
  compiles_until_.reset();
  try {
    const auto needed = required_.begin(kernel, problem);  // beside the support kernels
    gpu_->set_support(required_.support(on_wait));
    const std::string reference = required_.cubin(needed.reference, on_wait);
    const std::string setup = required_.cubin(needed.setup, on_wait);
    gpu_->prepare(kernel, problem, reference, setup, [this] {
      if (!on_wait(kPreparing)) throw PreparingStopped(kPreparing);
    });
  } catch (const PreparingStopped&) {
    unprepared_ = true;
    throw;
  }
  unprepared_ = false;
  prepared_at_ = sentinel_at_ = Clock::now();
  compile_busy_before_s_ = compilers_.busy_seconds();
  compilations_before_ = compilers_.compilations();
}

}  // namespace attune::session
