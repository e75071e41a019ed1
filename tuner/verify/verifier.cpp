#include "tuner/verify/verifier.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tuner/verify/positions.hpp"

namespace attune::verify {
namespace {

constexpr int kScratchPoison = 0xFF;

/// The template's own idea of a tile, when it has one.
std::int64_t tile_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                     const spec::DeviceInfo& device) {
  const bool declared = std::any_of(kernel.lets.begin(), kernel.lets.end(), [](const auto& let) { return let.first == "tile"; });
  if (!declared) return 0;
  const auto value = spec::make_scope(kernel, problem, configuration, device)("tile");
  const auto* tile = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  return tile == nullptr ? 0 : *tile;
}

const std::string kAlways;

/// Whether the case is filled with the data set, not only with one that alters it.
bool fills(const ProblemData& problem, const Case& which, std::size_t data) {
  return problem.data_sets()[data].alters.empty() && problem.uses(which, data);
}

}  // namespace

struct Verifier::Run {
  Case* which;
  spec::LaunchPlan plan;
  Call call;
  Untimed untimed;
  BufferLayout scratch_layout;
  Addresses addresses;
  CUdeviceptr scratch = 0;
  std::int64_t tile = 0;
};

Verifier::Verdict Verifier::verify(const Candidate& candidate, ProblemData& problem, double enough_us) {
  problem.adapt(candidate.configuration);
  begin_checks();
  timed_ = too_slow_ = false;
  enough_us_ = enough_us;
  undecided_ = enough_us > 0;
  for (auto& which : problem.cases()) {
    if (!which.answered) continue;
    if (auto wrong = call_case(candidate, problem, which)) return {wrong->with_case()};
    if (&which != &problem.asked()) continue;
    // What is wrong here is told as that, whatever becomes of further cases.
    if (auto wrong = finding()) return {wrong->with_case()};
    if (too_slow_) return {std::nullopt, gpu::elapsed_us(start_, end_), true};
    begin_checks();
  }
  leave_timing_data(problem);
  if (auto wrong = finding()) return {wrong->with_case()};
  return {std::nullopt, timed_ ? gpu::elapsed_us(start_, end_) : 0};
}

/// The timing data of the asked case with the guards that check_timed expects: mostly what its last pass left.
void Verifier::leave_timing_data(ProblemData& problem) {
  std::size_t last = 0;
  for (std::size_t data = 0; data < problem.data_sets().size(); ++data) last = fills(problem, problem.asked(), data) ? data : last;
  if (last == kRandom && !problem.has_in_out())
    problem.restore(problem.asked(), kRandom);
  else
    problem.fill(problem.asked(), kRandom, Guard::LowFirst);
  problem.set_up(problem.asked(), nullptr);  // a planted element may be in what was prepared
}

Verifier::Verdict Verifier::first_call(const Candidate& candidate, ProblemData& problem) {
  problem.adapt(candidate.configuration);
  Case& asked = problem.asked();
  auto run = bind(candidate, problem, asked);
  if (!run) return {};
  begin_checks();
  begun_.push_back({support_->checks(), &asked});
  random_call(*run, problem);
  const auto wrong = finding();
  return {wrong ? std::make_optional(wrong->with_case()) : std::nullopt, gpu::elapsed_us(start_, end_)};
}

void Verifier::timed_call(Run& run) {
  start_.record(support_->stream());
  run.call.enqueue(run.addresses, support_->stream().get());
  end_.record(support_->stream());
}

void Verifier::random_call(Run& run, ProblemData& problem) {
  arrange(run, problem, kRandom, Guard::LowFirst);
  timed_call(run);
  check_bounds(run, problem, kRandom, Guard::LowFirst);
}

void Verifier::call(Run& run) {
  run.call.enqueue(run.addresses, support_->stream().get());
  if (run.untimed.check) run.untimed.check->enqueue(run.addresses, *support_);
}

bool Verifier::took_too_long() const {
  end_.synchronize();
  return gpu::elapsed_us(start_, end_) > enough_us_;
}

std::optional<Verifier::Run> Verifier::bind(const Candidate& candidate, ProblemData& problem, Case& which) {
  const spec::KernelTemplate& kernel = problem.kernel();
  const bool asked = &which == &problem.asked();
  const bool other_sizes = which.plan.problem.sizes != problem.asked().plan.problem.sizes;
  if (other_sizes && spec::is_specialised(kernel, candidate.configuration)) return std::nullopt;
  if (!asked && !spec::satisfies(kernel, which.plan.problem, candidate.configuration, support_->device())) return std::nullopt;
  std::optional<spec::LaunchPlan> plan;
  try {
    plan = spec::resolve(kernel, which.plan.problem, candidate.configuration, support_->device());
  } catch (const spec::LimitError&) {
    if (asked) throw;
    return std::nullopt;  // no launch exists at this size, so dispatch refuses it as well
  }
  BufferLayout layout(plan->buffers, Part::Scratch);
  Call call(*plan, candidate.module);
  std::optional<Untimed> untimed;
  try {
    untimed.emplace(kernel, which.plan.problem, candidate.configuration, candidate.module, support_->device());
  } catch (const spec::LimitError&) {
    if (asked) throw;
    return std::nullopt;  // nothing can be compared at this size
  }
  const std::size_t bytes = layout.bytes() + untimed->scratch_bytes();
  if (scratch_.bytes() < bytes) {
    support_->stream().synchronize();  // the case before may be at work on it
    scratch_ = gpu::Buffer();
    scratch_ = gpu::Buffer(bytes);
  }
  untimed->set_scratch(scratch_.address() + layout.bytes());
  Addresses addresses = problem.addresses(which);
  place(layout, scratch_.address(), addresses);
  const std::int64_t tile = tile_of(kernel, which.plan.problem, candidate.configuration, support_->device());
  Run run{&which, std::move(*plan), std::move(call), *std::move(untimed), std::move(layout), std::move(addresses), scratch_.address(),
          tile};
  support_->set_bytes(run.scratch, run.scratch_layout.bytes(), 0);
  return run;
}

std::optional<Verifier::Wrong> Verifier::call_case(const Candidate& candidate, ProblemData& problem, Case& which) {
  auto run = bind(candidate, problem, which);
  if (!run) return std::nullopt;
  for (std::size_t data = 0; data < problem.data_sets().size(); ++data) {
    if (!fills(problem, which, data)) continue;
    if (support_->checks() > Support::kManyChecks) {
      if (auto wrong = finding()) return wrong;
      begin_checks();
    }
    begun_.push_back({support_->checks(), &which});
    pass(*run, problem, data);
    if (too_slow_) break;
  }
  return std::nullopt;
}

void Verifier::arrange(Run& run, ProblemData& problem, std::size_t data, Guard variant) {
  problem.fill(*run.which, data, variant);
  problem.set_up(*run.which, run.untimed.own_setup());
  problem.keep_prepared(*run.which);
  run.scratch_layout.guard(*support_, run.scratch, variant);
  poison_scratch(run.plan, run.addresses);
}

void Verifier::poison_scratch(const spec::LaunchPlan& plan, const Addresses& addresses) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    const bool promises_nothing = buffer.workspace && buffer.init == spec::WorkspaceInit::None;
    if (promises_nothing) support_->set_bytes(addresses[i], static_cast<std::size_t>(buffer.bytes), kScratchPoison);
  }
}

void Verifier::check_bounds(Run& run, ProblemData& problem, std::size_t data, Guard variant) {
  problem.check_untouched(*run.which, data, variant);
  run.scratch_layout.check_guards(*support_, run.scratch, variant);
  if (run.untimed.setup) run.untimed.setup->check_guards(*support_);
  check_left_zero(run.plan, run.addresses);
}

void Verifier::pass(Run& run, ProblemData& problem, std::size_t data) {
  // Both orders of the extremes around the data: an element read too far decides a minimum under one, a maximum under
  // the other. Where there is one data set alone, further cases have the other order.
  const bool asked = run.which == &problem.asked(), other_order = !asked && !fills(problem, *run.which, kIntegers);
  const Guard variant = data == kIntegers || other_order ? Guard::HighFirst : Guard::LowFirst;
  arrange(run, problem, data, variant);
  const bool times = asked && data == kRandom, decides = asked && std::exchange(undecided_, false);
  if (times || decides)
    timed_call(run);
  else
    run.call.enqueue(run.addresses, support_->stream().get());
  timed_ = timed_ || times;
  if (run.untimed.check) {
    run.untimed.check->enqueue(run.addresses, *support_);
    run.untimed.check->check_guards(*support_);
  }
  check_bounds(run, problem, data, variant);
  if (decides && took_too_long()) {
    // It had its code to load, and perhaps to work on data that take longer.
    random_call(run, problem);
    too_slow_ = took_too_long();
    if (!too_slow_) pass(run, problem, data);
    return;
  }
  const auto& expectation = run.which->expectations[data];
  if (expectation) {
    compare(*run.which, run.addresses, *expectation, problem.data_sets()[data].when);
    for (std::size_t other = 0; other < problem.data_sets().size(); ++other) {
      if (problem.data_sets()[other].alters == problem.data_sets()[data].name && run.which->expectations[other])
        call_altered(run, problem, other);
    }
    call_planted(run, problem, data);
  }
}

void Verifier::check_left_zero(const spec::LaunchPlan& plan, const Addresses& addresses) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& buffer = plan.buffers[i];
    if (!buffer.workspace || buffer.init != spec::WorkspaceInit::ZeroOnce) continue;
    support_->check_zero(fmt::format("left workspace \"{}\" non-zero, which declares \"zero_once\",", buffer.name), addresses[i],
                         static_cast<std::size_t>(buffer.bytes));
  }
}

void Verifier::compare(const Case& which, const Addresses& addresses, const Expectation& expectation, const std::string& when,
                       std::optional<Planted> planted) {
  for (const WantedOutput& output : expectation.outputs) {
    const std::size_t check = support_->compare(ProblemData::elements(which, output.buffer, addresses), output.wanted, output.may_be_off);
    questions_.push_back({check, &output, expectation.outputs.size() == 1, &when, planted});
  }
}

void Verifier::call_altered(Run& run, ProblemData& problem, std::size_t data) {
  const Expectation& expectation = *run.which->expectations[data];
  const std::size_t base = problem.kernel().reference.definition->data_set(problem.data_sets()[data].alters);
  const Elements input = ProblemData::elements(*run.which, run.which->reference->altered_buffer(), run.addresses);
  problem.restore(*run.which, base);
  support_->alter(expectation.alteration, input, false);
  problem.set_up(*run.which, run.untimed.own_setup());
  call(run);
  compare(*run.which, run.addresses, expectation, problem.data_sets()[data].when);
  support_->alter(expectation.alteration, input, true);
}

Plants& Verifier::plants(Run& run, ProblemData& problem, std::size_t data, std::size_t buffer) {
  Case& which = *run.which;
  const auto key = std::make_pair(data, run.tile);
  if (const auto found = which.plants.find(key); found != which.plants.end()) return found->second;
  const Elements input = ProblemData::elements(which, buffer, run.addresses);
  const std::int64_t row = which.reference->problem().planted_row(data);
  const auto positions =
      row == input.count ? planted_positions(input.count, run.tile) : planted_positions(input.count / row, row, run.tile);
  support_->stream().synchronize();  // what the configuration's kernel did until here is its own fault
  auto planted = on_behalf_of_reference(
      [&] { return which.reference->plant(data, problem.addresses(which), positions, input, *which.expectations[data]); });
  return which.plants.emplace(key, std::move(planted)).first->second;
}

void Verifier::call_planted(Run& run, ProblemData& problem, std::size_t data) {
  Case& which = *run.which;
  const auto buffer = which.reference ? which.reference->planted_buffer(data) : std::nullopt;
  if (!buffer) return;
  Plants& planted = plants(run, problem, data, *buffer);
  const Elements input = ProblemData::elements(which, *buffer, run.addresses);
  const Expectation& expectation = *which.expectations[data];
  reference::Outputs outputs{};
  for (std::size_t i = 0; i < expectation.outputs.size() && i < Support::kMostOutputs; ++i)
    outputs.wanted[i] = static_cast<reference::Expected*>(const_cast<void*>(expectation.outputs[i].wanted.start));
  const bool restored = problem.restores_by_planting(which, outputs);
  CUdeviceptr before = 0;
  for (std::size_t i = 0; i < planted.plants.size(); ++i) {
    const reference::Plant& plant = planted.plants[i];
    if (plant.bits == plant.before) continue;
    const CUdeviceptr at = planted.memory.address() + i * sizeof(reference::Plant);
    if (!restored) problem.restore(which, data);
    support_->plant(before, at, input, outputs, planted.descending);
    before = at;
    problem.set_up(which, run.untimed.own_setup());
    call(run);
    compare(which, run.addresses, expectation, kAlways, Planted{&plant, input, planted.descending});
  }
  if (before != 0) support_->plant(before, 0, input, outputs, planted.descending);
  if (planted.descending) support_->unplant(planted.memory.address(), planted.plants.size(), input);
}

void Verifier::begin_checks() {
  support_->begin_checks();
  questions_.clear();
  begun_.clear();
}

std::string Verifier::when_text(const Question& question) {
  if (!question.planted) return question.when->empty() ? "" : " when " + *question.when;
  const auto& [plant, input, descending] = *question.planted;
  return fmt::format(" when {}element {} of {} is {}", descending ? "the first of such elements, " : "", plant->position, input.count,
                     spec::element_text(input.type, plant->bits));
}

std::string Verifier::Wrong::with_case() const {
  return fmt::format("{} ({}, {})", what, which->plan.label, spec::to_text(which->plan.problem));
}

std::optional<Verifier::Wrong> Verifier::finding() {
  const auto found = support_->findings();
  if (!found) return std::nullopt;
  const auto after = std::find_if(begun_.begin(), begun_.end(), [&](const Begun& begun) { return begun.first > found->check; });
  const Case& which = *std::prev(after)->which;
  const auto question =
      std::find_if(questions_.begin(), questions_.end(), [&](const Question& asked) { return asked.check == found->check; });
  if (question == questions_.end())
    return Wrong{fmt::format("{} at {} places, first at {}", found->what, found->count(), found->first()), &which};
  return Wrong{describe(*found, *question->output, which.buffers[question->output->buffer], question->only) + when_text(*question), &which};
}

std::optional<std::string> Verifier::check_timed(const TimedCandidate& candidate, ProblemData& problem) {
  auto& asked = problem.asked();
  // The batch changed its own input many times, or left what check reads in scratch that another window's call wrote to last: one call
  // more, on restored data.
  const bool scratch_is_read = spec::check_names_scratch_of_launches(problem.kernel());
  if (problem.has_in_out() || scratch_is_read) {
    problem.restore(asked, kRandom);
    problem.set_up(asked, candidate.untimed.own_setup());
    if (scratch_is_read) poison_scratch(candidate.plan, candidate.addresses);
    candidate.call.enqueue(candidate.addresses, support_->stream().get());
  }
  if (candidate.untimed.check) candidate.untimed.check->enqueue(candidate.addresses, *support_);
  begin_checks();
  begun_.push_back({support_->checks(), &asked});
  check_left_zero(candidate.plan, candidate.addresses);
  const auto& expectation = asked.expectations[kRandom];
  if (expectation) compare(asked, candidate.addresses, *expectation, kAlways);
  const auto wrong = finding();
  return wrong ? std::make_optional(wrong->what + " (the last call of a timed batch)") : std::nullopt;
}

}  // namespace attune::verify
