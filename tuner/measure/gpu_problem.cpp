#include "tuner/measure/gpu_problem.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attune::measure {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{8} << 30;
constexpr double kPoolShare = 0.6;  // of the free memory: scratch and graphs need some too
constexpr int kFloatPoison = 0xFF;  // NaN in every floating format
constexpr int kIntegerPoison = 0xB7;

std::size_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  gpu::check(gpu::Driver::get().cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo",
             "reading the free device memory");
  return free_bytes;
}

}  // namespace

GpuProblem::GpuProblem(spec::KernelTemplate kernel, spec::Problem problem, CachePolicy cache,
                       const std::string& reference_cubin, Support& support)
    : kernel_(std::move(kernel)),
      problem_(std::move(problem)),
      support_(&support),
      reference_(kernel_, support, reference_cubin) {
  for (auto& plan : plan_cases(kernel_, problem_)) {
    const bool asked = cases_.empty();
    try {
      Case prepared;
      prepared.buffers = data_buffers(kernel_, plan.problem, support.device());
      prepared.layout = BufferLayout(prepared.buffers, Part::Data, plan.misalign_elements);
      prepared.plan = std::move(plan);
      for (std::size_t i = 0; i < prepared.buffers.size(); ++i) {
        if (const auto values = reference_.guard_values(locate(prepared), i)) prepared.layout.guard_with(i, *values);
      }
      cases_.push_back(std::move(prepared));
    } catch (const SpecError&) {
      if (asked) throw;  // counts that do not resolve at the sizes we chose ourselves are no fault of the problem
    }
  }
  allocate(cache);
  refresh();
}

void GpuProblem::allocate(CachePolicy cache) {
  const std::size_t window_bytes = asked().layout.bytes();
  std::size_t fixed_bytes = 0;
  for (const auto& which : cases_) {
    if (&which != &cases_.front()) fixed_bytes += which.layout.bytes();
    fixed_bytes += reference_.answer_bytes(which.buffers);
  }
  const int groups = reference_.groups(locate(asked()));
  const std::size_t least_bytes = static_cast<std::size_t>(groups) * window_bytes + fixed_bytes;
  const std::size_t free_bytes = free_device_bytes();
  if (least_bytes > free_bytes) {
    throw EnvironmentError(
        fmt::format("failed preparing {}: it needs {} bytes of device memory, {} are free; choose a smaller "
                    "problem{} or end other programs on this device",
                    spec::to_text(problem_), least_bytes, free_bytes, groups > 1 ? ", state its skew (one kind of data instead of several)" : ""));
  }
  const auto share = static_cast<std::size_t>(kPoolShare * static_cast<double>(free_bytes - fixed_bytes));
  windows_ = window_groups(groups, cache, window_bytes, std::min(kPoolBytes, share));
  asked().memory = gpu::Buffer(static_cast<std::size_t>(windows_.windows()) * window_bytes);
  for (std::size_t i = 1; i < cases_.size(); ++i) cases_[i].memory = gpu::Buffer(cases_[i].layout.bytes());
}

bool GpuProblem::has_in_out() const {
  return std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(),
                     [](const auto& buffer) { return buffer.input && buffer.output; });
}

Addresses GpuProblem::addresses(const Case& which, int window) const {
  Addresses addresses(which.buffers.size(), 0);
  place(which.layout, which.memory.address() + static_cast<std::size_t>(window) * which.layout.bytes(), addresses);
  return addresses;
}

Located GpuProblem::locate(const Case& which) const { return {&which.plan.problem, &which.buffers, addresses(which)}; }

std::vector<DataSet> GpuProblem::data_sets(const Case& which) const {
  if (&which != &cases_.front()) return {DataSet::Integers, DataSet::Random};
  return reference_.data_sets(locate(which));
}

Filling GpuProblem::filling(const Case& which, std::size_t index, DataSet data, int window) const {
  const auto& buffer = which.buffers[index];
  switch (buffer.fill) {
    case spec::Fill::Zeros:
      return {FillKind::Zeros};
    case spec::Fill::Ones:
      return {FillKind::Ones};
    case spec::Fill::Integers:
      return {FillKind::SmallIntegers};
    case spec::Fill::Uniform:
      break;
  }
  if (const auto own = reference_.own_filling(locate(which), index, data, windows_.group_of(window))) return *own;
  if (data == DataSet::Integers) return {FillKind::SmallIntegers};
  // A built-in reference is exact modulo 2^width; a user's kernel may use integers as anything, so they stay small.
  const bool modular = kernel_.reference.kind == spec::ReferenceSpec::Kind::Builtin && !is_floating(buffer.type);
  return {modular ? FillKind::FullRange : FillKind::Uniform};
}

std::uint64_t GpuProblem::seed(std::size_t buffer, DataSet data, int window) const {
  return 1 + buffer + 1000 * static_cast<std::uint64_t>(data) + 1000000 * static_cast<std::uint64_t>(window);
}

void GpuProblem::fill(const Case& which, DataSet data, Guard variant, int window) {
  const Addresses where = addresses(which, window);
  which.layout.guard(*support_, which.memory.address() + static_cast<std::size_t>(window) * which.layout.bytes(),
                     variant);
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    if (buffer.workspace || buffer.output) continue;
    support_->fill(where[i], buffer.count, buffer.type, filling(which, i, data, window), seed(i, data, window));
  }
  restore(which, data, window);
}

void GpuProblem::restore(const Case& which, DataSet data, int window) {
  const Addresses where = addresses(which, window);
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    if (buffer.workspace || !buffer.output) continue;
    if (buffer.input) {
      support_->fill(where[i], buffer.count, buffer.type, filling(which, i, data, window), seed(i, data, window));
    } else {
      support_->set_bytes(where[i], static_cast<std::size_t>(buffer.bytes),
                          is_floating(buffer.type) ? kFloatPoison : kIntegerPoison);
    }
  }
}

void GpuProblem::check_untouched(const Case& which, DataSet data, Guard variant) {
  which.layout.check_guards(*support_, which.memory.address(), variant);
  const Addresses where = addresses(which);
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    if (buffer.workspace || buffer.output) continue;
    support_->check_fill(fmt::format("wrote to input \"{}\"", buffer.name), where[i], buffer.count, buffer.type,
                         filling(which, i, data, 0), seed(i, data, 0));
  }
}

void GpuProblem::refresh() {
  if (reference_.present()) expect_all();
  for (int window = 0; window < windows_.windows(); ++window) fill(asked(), DataSet::Random, Guard::LowFirst, window);
  support_->stream().synchronize();
}

void GpuProblem::expect_all() {
  for (std::size_t i = 0; i < cases_.size();) {
    auto& which = cases_[i];
    try {
      for (const DataSet data : data_sets(which)) {
        fill(which, data, Guard::HighFirst);
        auto& expectation = which.expectations[static_cast<std::size_t>(data)];
        expectation.reset();  // its memory first
        expectation = reference_.expect(locate(which), data);
        if (i == 0 && data == DataSet::Random) reference_.expect_specials(locate(which), *expectation);
      }
      ++i;
    } catch (const SpecError&) {
      if (i == 0) throw;
      cases_.erase(cases_.begin() + static_cast<std::ptrdiff_t>(i));  // the reference itself does not work at this size
    }
  }
}

}  // namespace attune::measure
