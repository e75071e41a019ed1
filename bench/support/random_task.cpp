// Reductions and histograms that were drawn at random, with their data on the device and CUB beside them.
#include "bench/support/random_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "attune/error.hpp"
#include "bench/support/cub_histogram.hpp"
#include "bench/support/cub_reduce.hpp"
#include "bench/support/histogram_input.hpp"
#include "bench/support/launch_arguments.hpp"

namespace attune::bench {
namespace {

class ReductionTask : public Task {
 public:
  ReductionTask(TaskData& data, const ReductionProblem& problem)
      : data_(data), problem_(problem), temporary_(std::max<std::size_t>(has_peer(problem.peer) ? cub_bytes(problem.peer) : 0, 256)) {
    if (data.filled != problem.peer.element) data.pool.fill(problem.peer.element, data.stream);
    data.filled = problem.peer.element;
  }
  [[nodiscard]] std::int64_t windows() const override { return data_.pool.windows(problem_.input_bytes()); }
  [[nodiscard]] std::size_t output_bytes() const override { return problem_.output_bytes(); }
  [[nodiscard]] std::vector<Argument> arguments(std::int64_t window, const void* out) const override {
    auto arguments = launch_arguments(problem_.template_name, problem_.peer.element == Element::F64 ? 8 : 4, input(window), out);
    if (problem_.peer.op == CubReduction::Operator::ArgMax) arguments.push_back(Argument::pointer(static_cast<const char*>(out) + 8));
    return arguments;
  }
  [[nodiscard]] bool has_cub() const override { return has_peer(problem_.peer); }
  void enqueue_cub(std::int64_t window, void* out) const override {
    cub_reduce(problem_.peer, reinterpret_cast<void*>(temporary_.address()), temporary_.bytes(), input(window), out, data_.stream.get());
  }
  void check(const std::vector<unsigned char>& ours, const std::vector<unsigned char>& theirs, const std::string& whose) const override {
    checked_difference(problem_, ours, theirs, whose);
  }

 private:
  [[nodiscard]] const void* input(std::int64_t window) const { return data_.pool.window(window, problem_.input_bytes()); }
  const TaskData& data_;
  const ReductionProblem& problem_;
  gpu::Buffer temporary_;
};

class HistogramTask : public Task {
 public:
  HistogramTask(TaskData& data, const HistogramProblem& problem)
      : data_(data),
        input_(data.pool, problem, measure::CachePolicy::Cold, data.stream),
        temporary_(std::max<std::size_t>(cub_histogram_bytes(input_.problem.peer), 256)) {
    data.filled.reset();
  }
  [[nodiscard]] std::int64_t windows() const override { return input_.windows; }
  [[nodiscard]] std::size_t output_bytes() const override { return input_.problem.output_bytes(); }
  [[nodiscard]] std::vector<Argument> arguments(std::int64_t window, const void* out) const override {
    return input_.arguments(samples(window), out);
  }
  [[nodiscard]] bool has_cub() const override { return true; }
  void enqueue_cub(std::int64_t window, void* out) const override {
    cub_histogram(input_.problem.peer, reinterpret_cast<void*>(temporary_.address()), temporary_.bytes(), samples(window), out,
                  data_.stream.get());
  }
  void check(const std::vector<unsigned char>& ours, const std::vector<unsigned char>& theirs, const std::string& whose) const override {
    if (!std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(output_bytes()), theirs.begin()))
      throw Error(fmt::format("wrong result: attune's counts and those of {} differ", whose));
  }

 private:
  [[nodiscard]] const void* samples(std::int64_t window) const { return data_.pool.window(window, input_.bytes); }
  const TaskData& data_;
  HistogramInput input_;
  gpu::Buffer temporary_;
};

}  // namespace

std::unique_ptr<Task> make_task(TaskData& data, const RandomProblem& problem) {
  if (const auto* const reduction = std::get_if<ReductionProblem>(&problem.what)) return std::make_unique<ReductionTask>(data, *reduction);
  return std::make_unique<HistogramTask>(data, std::get<HistogramProblem>(problem.what));
}

}  // namespace attune::bench
