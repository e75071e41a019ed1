#include "tuner/measure/verifier.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace attune::measure {
namespace {

constexpr std::size_t kMostPlanted = 16;
constexpr int kScratchPoison = 0xFF;

/// First, last, both sides of tile edges, and around the middle: where a kernel may drop or repeat an element.
std::vector<std::int64_t> positions(std::int64_t count, std::int64_t tile) {
  std::set<std::int64_t> chosen;
  const auto choose = [&](std::int64_t position) {
    if (position >= 0 && position < count && chosen.size() < kMostPlanted) chosen.insert(position);
  };
  choose(0);
  choose(count - 1);
  choose(count - 2);
  const std::vector<std::int64_t> edges =
      tile > 0 ? std::vector<std::int64_t>{tile, count / tile / 2 * tile, count / tile * tile}
               : std::vector<std::int64_t>{32, 1024, std::int64_t{1} << 16, count / 2};
  for (const std::int64_t edge : edges) {
    choose(edge - 1);
    choose(edge);
    choose(edge + 1);
  }
  return {chosen.begin(), chosen.end()};
}

/// The template's own idea of a tile, when it has one.
std::int64_t tile_of(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                     const spec::Configuration& configuration, const spec::DeviceInfo& device) {
  const bool declared =
      std::any_of(kernel.lets.begin(), kernel.lets.end(), [](const auto& let) { return let.first == "tile"; });
  if (!declared) return 0;
  const auto value = spec::make_scope(kernel, problem, configuration, device)("tile");
  const auto* tile = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  return tile == nullptr ? 0 : *tile;
}

}  // namespace

struct Verifier::Run {
  GpuProblem::Case* which;
  spec::LaunchPlan plan;
  Call call;
  BufferLayout scratch_layout;
  Addresses addresses;
  CUdeviceptr scratch = 0;
};

std::optional<std::string> Verifier::verify(Prepared& prepared, GpuProblem& problem) {
  for (auto& which : problem.cases()) {
    if (auto wrong = verify_case(prepared, problem, which))
      return fmt::format("{} ({})", *wrong, which.plan.label + ", " + spec::to_text(which.plan.problem));
  }
  // Restores the timing data of the asked case with the guards that check_timed expects.
  problem.fill(problem.asked(), DataSet::Random, Guard::LowFirst);
  return std::nullopt;
}

std::optional<std::string> Verifier::verify_case(Prepared& prepared, GpuProblem& problem, GpuProblem::Case& which) {
  const bool asked = &which == &problem.asked();
  if (!asked && !spec::satisfies(problem.kernel(), which.plan.problem, prepared.configuration, support_->device()))
    return std::nullopt;
  std::optional<spec::LaunchPlan> plan;
  try {
    plan = spec::resolve(problem.kernel(), which.plan.problem, prepared.configuration, support_->device());
  } catch (const spec::LimitError&) {
    if (asked) throw;
    return std::nullopt;  // no launch exists at this size, so dispatch refuses it as well
  }
  BufferLayout layout(plan->buffers, Part::Scratch);
  if (scratch_.bytes() < layout.bytes()) {
    scratch_ = gpu::Buffer();
    scratch_ = gpu::Buffer(layout.bytes());
  }
  Call call(*plan, *prepared.module);
  Addresses addresses = problem.addresses(which);
  place(layout, scratch_.address(), addresses);
  Run run{&which, std::move(*plan), std::move(call), std::move(layout), std::move(addresses), scratch_.address()};
  support_->set_bytes(run.scratch, run.scratch_layout.bytes(), 0);
  for (const DataSet data : {DataSet::Integers, DataSet::Random}) {
    if (auto wrong = pass(run, problem, data)) return wrong;
    if (data != DataSet::Integers || !problem.reference().selects_extreme(which.plan.problem)) continue;
    if (auto wrong = plant_extremes(run, problem, prepared.configuration)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> Verifier::pass(Run& run, GpuProblem& problem, DataSet data) {
  // Both orders of the extremes around the data: an element read too far decides a minimum under one, a maximum under
  // the other.
  const Guard variant = data == DataSet::Integers ? Guard::HighFirst : Guard::LowFirst;
  problem.fill(*run.which, data, variant);
  run.scratch_layout.guard(*support_, run.scratch, variant);
  for (std::size_t i = 0; i < run.plan.buffers.size(); ++i) {
    const auto& buffer = run.plan.buffers[i];
    const bool promises_nothing = buffer.workspace && buffer.init == spec::WorkspaceInit::None;
    if (promises_nothing) support_->set_bytes(run.addresses[i], static_cast<std::size_t>(buffer.bytes), kScratchPoison);
  }
  run.call.load_constants(*support_, run.addresses);
  run.call.enqueue(run.addresses, support_->stream().get());
  support_->begin_checks();
  problem.check_untouched(*run.which, data, variant);
  run.scratch_layout.check_guards(*support_, run.scratch, variant);
  for (std::size_t i = 0; i < run.plan.buffers.size(); ++i) {
    const auto& buffer = run.plan.buffers[i];
    if (!buffer.workspace || buffer.init != spec::WorkspaceInit::ZeroOnce) continue;
    support_->check_zero(fmt::format("left workspace \"{}\" non-zero, which declares \"zero_once\",", buffer.name),
                         run.addresses[i], static_cast<std::size_t>(buffer.bytes));
  }
  if (const auto finding = support_->findings()) {
    return fmt::format("{} at {} places, first at {}", finding->what, finding->count, finding->first);
  }
  const auto& expectation = run.which->expectations[static_cast<std::size_t>(data)];
  if (!expectation) return std::nullopt;
  return problem.reference().judge(problem.locate(*run.which), data, *expectation);
}

std::optional<std::string> Verifier::plant_extremes(Run& run, GpuProblem& problem,
                                                    const spec::Configuration& configuration) {
  const std::size_t input = problem.reference().input();
  const auto& buffer = run.plan.buffers[input];
  const bool minimum = run.which->plan.problem.choices.at("op") == "min";
  const std::uint64_t extreme = minimum ? lowest_finite_bits(buffer.type) : highest_finite_bits(buffer.type);
  const std::int64_t tile = tile_of(problem.kernel(), run.which->plan.problem, configuration, support_->device());
  for (const std::int64_t position : positions(buffer.count, tile)) {
    const CUdeviceptr element =
        run.addresses[input] + static_cast<std::size_t>(position * spec::size_bytes(buffer.type));
    const std::uint64_t before = support_->load_element(element, buffer.type);
    support_->store_element(element, buffer.type, extreme);
    problem.restore(*run.which, DataSet::Integers);
    run.call.enqueue(run.addresses, support_->stream().get());
    const auto wrong = problem.reference().judge_planted(problem.locate(*run.which), extreme);
    support_->store_element(element, buffer.type, before);
    if (wrong) return fmt::format("{} when element {} of {} is the extreme", *wrong, position, buffer.count);
  }
  return std::nullopt;
}

std::optional<std::string> Verifier::check_timed(Prepared& prepared, GpuProblem& problem) {
  auto& asked = problem.asked();
  if (problem.has_in_out()) {  // the batch changed its own input many times: one call more, on restored data
    problem.restore(asked, DataSet::Random);
    prepared.call.enqueue(prepared.windows.front(), support_->stream().get());
  }
  support_->begin_checks();
  for (std::size_t i = 0; i < prepared.plan.buffers.size(); ++i) {
    const auto& buffer = prepared.plan.buffers[i];
    if (!buffer.workspace || buffer.init != spec::WorkspaceInit::ZeroOnce) continue;
    support_->check_zero(fmt::format("left workspace \"{}\" non-zero", buffer.name),
                         prepared.scratch.address() + prepared.scratch_layout.offset(i),
                         static_cast<std::size_t>(buffer.bytes));
  }
  if (const auto finding = support_->findings()) return finding->what + " after a timed batch";
  const auto& expectation = asked.expectations[static_cast<std::size_t>(DataSet::Random)];
  if (!expectation) return std::nullopt;
  auto wrong = problem.reference().judge(problem.locate(asked), DataSet::Random, *expectation);
  if (wrong) *wrong += " (the last call of a timed batch)";
  return wrong;
}

}  // namespace attune::measure
