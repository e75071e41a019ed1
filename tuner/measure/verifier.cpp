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

/// Ends a sentence about a data set that is no everyday one.
const char* when(DataSet data) {
  switch (data) {
    case DataSet::FirstBin:
      return " when every sample is of the first bin";
    case DataSet::LastBin:
      return " when every sample is of the last bin";
    case DataSet::TwoBins:
      return " when samples alternate between two bins";
    case DataSet::Ascending:
      return " when samples ascend";
    case DataSet::Hot:
      return " when most samples are of one bin";
    case DataSet::AtUpper:
      return " when every sample is the upper bound";
    case DataSet::BelowLower:
      return " when every sample is 2 below the lower bound";
    default:
      return "";
  }
}

}  // namespace

/// An element of the Integers data that is replaced for one call, and by what.
struct Verifier::Plant {
  std::int64_t position;
  std::int64_t of;  ///< so many elements
  ElementAt at;
  std::uint64_t before = 0;
  std::uint64_t bits = 0;
};

std::string Verifier::when_planted(const std::string& wrong, const Plant& plant) {
  return fmt::format("{} when element {} of {} is {}", wrong, plant.position, plant.of, element_text(plant.at.type, plant.bits));
}

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
  const bool other_sizes = which.plan.problem.sizes != problem.asked().plan.problem.sizes;
  if (other_sizes && spec::is_specialised(problem.kernel(), prepared.configuration)) return std::nullopt;
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
  for (const DataSet data : problem.data_sets(which)) {
    if (auto wrong = pass(run, problem, data)) return *wrong + when(data);
    std::optional<std::string> wrong;
    if (data == DataSet::Random && asked) wrong = plant_specials(run, problem);
    if (wrong) return wrong;
    if (data != DataSet::Integers) continue;
    if (problem.reference().plants(which.plan.problem)) wrong = plant_extremes(run, problem, prepared.configuration);
    if (problem.reference().finds_index()) wrong = plant_candidates(run, problem, prepared.configuration);
    if (wrong) return wrong;
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
  return problem.reference().judge(problem.locate(*run.which), *expectation);
}

std::optional<std::string> Verifier::plant_extremes(Run& run, GpuProblem& problem, const spec::Configuration& configuration) {
  const Located located = problem.locate(*run.which);
  const auto& buffer = run.plan.buffers[problem.reference().input()];
  const spec::Problem& of = run.which->plan.problem;
  const std::int64_t tile = tile_of(problem.kernel(), of, configuration, support_->device());
  const std::int64_t columns = problem.reference().columns(of);
  const auto& expectation = run.which->expectations[static_cast<std::size_t>(DataSet::Integers)].value();
  std::vector<Plant> plants;
  std::vector<ElementAt> elements;
  for (const std::int64_t position : columns > 0 ? row_positions(buffer.count / columns, columns, tile) : positions(buffer.count, tile)) {
    const CUdeviceptr element = run.addresses[problem.reference().input()] + static_cast<std::size_t>(position * spec::size_bytes(buffer.type));
    plants.push_back({position, buffer.count, {element, buffer.type}});
    elements.push_back(plants.back().at);
  }
  const auto before = support_->load_elements(elements);
  for (std::size_t i = 0; i < plants.size(); ++i) {
    plants[i].before = before[i];
    const auto bits = problem.reference().planted_bits(located, plants[i].position, before[i], expectation);
    plants[i].bits = bits.value_or(before[i]);
  }
  std::erase_if(plants, [](const Plant& plant) { return plant.bits == plant.before; });
  if (plants.empty()) return std::nullopt;
  if (const auto result = problem.reference().only_result(located)) return plant_at_once(run, problem, plants, *result);
  return plant_rows(run, problem, plants);
}

std::optional<std::string> Verifier::plant_rows(Run& run, GpuProblem& problem, const std::vector<Plant>& plants) {
  const auto& expectation = run.which->expectations[static_cast<std::size_t>(DataSet::Integers)].value();
  for (const Plant& plant : plants) {
    support_->store_element(plant.at.address, plant.at.type, plant.bits);
    problem.restore(*run.which, DataSet::Integers);
    run.call.enqueue(run.addresses, support_->stream().get());
    const auto wrong = problem.reference().judge_planted_row(problem.locate(*run.which), plant.position, plant.bits, expectation);
    support_->store_element(plant.at.address, plant.at.type, plant.before);
    if (wrong) return when_planted(*wrong, plant);
  }
  return std::nullopt;
}

/// A result of one element is kept until all have run, so that the host waits once for all of them.
std::optional<std::string> Verifier::plant_at_once(Run& run, GpuProblem& problem, const std::vector<Plant>& plants, const ElementAt& result) {
  const auto& expectation = run.which->expectations[static_cast<std::size_t>(DataSet::Integers)].value();
  const Located located = problem.locate(*run.which);
  std::vector<std::uint64_t> words;
  for (const Plant& plant : plants) words.insert(words.end(), {plant.bits, plant.before, 0});
  const std::size_t bytes = words.size() * kWordBytes;
  if (planted_.bytes() < bytes) planted_ = gpu::Buffer(bytes);
  support_->store_words(planted_.address(), words);
  std::vector<ElementAt> results;
  for (std::size_t i = 0; i < plants.size(); ++i) {
    const ElementAt& at = plants[i].at;
    const CUdeviceptr bits = planted_.address() + 3 * i * kWordBytes, before = bits + kWordBytes;
    results.push_back({before + kWordBytes, result.type});
    support_->copy(at.address, bits, static_cast<std::size_t>(spec::size_bytes(at.type)));
    problem.restore(*run.which, DataSet::Integers);
    run.call.enqueue(run.addresses, support_->stream().get());
    support_->copy(results.back().address, result.address, static_cast<std::size_t>(spec::size_bytes(result.type)));
    support_->copy(at.address, before, static_cast<std::size_t>(spec::size_bytes(at.type)));
  }
  const auto got = support_->load_elements(results);
  for (std::size_t i = 0; i < plants.size(); ++i) {
    const Plant& plant = plants[i];
    if (const auto wrong = problem.reference().judge_planted(located, plant.position, plant.before, plant.bits, expectation, got[i]))
      return when_planted(*wrong, plant);
  }
  return std::nullopt;
}

std::optional<std::string> Verifier::plant_specials(Run& run, GpuProblem& problem) {
  const auto& expectation = run.which->expectations[static_cast<std::size_t>(DataSet::Random)];
  if (!expectation) return std::nullopt;
  const std::size_t input = problem.reference().input();
  const auto& buffer = run.plan.buffers[input];
  const auto store = [&](std::int64_t position, std::uint64_t bits) {
    support_->store_element(run.addresses[input] + static_cast<std::size_t>(position * spec::size_bytes(buffer.type)), buffer.type, bits);
  };
  for (const SpecialCase& special : expectation->reduced.specials) {
    for (const auto& planted : special.elements) store(planted.position, planted.bits);
    if (special.elements.empty())  // every byte of a NaN
      support_->set_bytes(run.addresses[input], static_cast<std::size_t>(buffer.bytes), 0xFF);
    problem.restore(*run.which, DataSet::Random);
    run.call.enqueue(run.addresses, support_->stream().get());
    if (auto wrong = problem.reference().judge_special(problem.locate(*run.which), special))
      return fmt::format("{} when {}", *wrong, special.when);
    for (const auto& planted : special.elements) store(planted.position, planted.before);
  }
  return std::nullopt;
}

std::optional<std::string> Verifier::plant_candidates(Run& run, GpuProblem& problem,
                                                      const spec::Configuration& configuration) {
  const std::size_t input = problem.reference().input();
  const auto& buffer = run.plan.buffers[input];
  const bool floating = is_floating(buffer.type);
  const bool minimum = run.which->plan.problem.choices.at("op") == "min";
  const std::uint64_t extreme = minimum ? lowest_finite_bits(buffer.type) : highest_finite_bits(buffer.type);
  const auto edges = positions(buffer.count, tile_of(problem.kernel(), run.which->plan.problem, configuration, support_->device()));
  if (edges.empty()) return std::nullopt;
  const auto size = static_cast<std::size_t>(spec::size_bytes(buffer.type));
  const auto address = [&](std::int64_t position) { return run.addresses[input] + static_cast<std::size_t>(position) * size; };
  const auto plant = [&](std::uint64_t bits) {
    for (const std::int64_t position : edges) support_->store_element(address(position), buffer.type, bits);
  };
  const auto set_all = [&](int byte) { support_->set_bytes(run.addresses[input], static_cast<std::size_t>(buffer.bytes), byte); };
  const auto judge = [&](const std::optional<ExtremeElement>& wanted, const std::string& when) -> std::optional<std::string> {
    problem.restore(*run.which, DataSet::Integers);
    run.call.enqueue(run.addresses, support_->stream().get());
    Expectation expectation;
    expectation.extreme = wanted;
    auto wrong = problem.reference().judge(problem.locate(*run.which), expectation);
    if (wrong) *wrong += fmt::format(" when {}", when);
    return wrong;
  };
  // Small integers whatever the template fills its input with, so that the planted elements are the only extremes. First
  // without any, between guards in the order that they had not: random bytes hold every extreme, which a wrong one
  // behind them only equals.
  problem.fill(*run.which, DataSet::Integers, Guard::LowFirst);
  support_->fill(run.addresses[input], buffer.count, buffer.type, {FillKind::SmallIntegers}, 1);
  const Expectation unplanted = problem.reference().expect(problem.locate(*run.which), DataSet::Integers);
  if (auto wrong = judge(unplanted.extreme, "the elements are small integers")) return wrong;
  // Every edge is the first of equal extremes once: they are taken away from the lowest on.
  std::vector<ElementAt> elements;
  for (const std::int64_t position : edges) elements.push_back({address(position), buffer.type});
  const auto before = support_->load_elements(elements);
  plant(extreme);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::string when = fmt::format("element {} of {} is the first of {} extremes", edges[i], buffer.count, edges.size() - i);
    if (auto wrong = judge(ExtremeElement{edges[i], extreme}, when)) return wrong;
    support_->store_element(address(edges[i]), buffer.type, before[i]);
  }
  // Infinities win; for types without them this is one extreme more.
  const std::uint64_t unbounded = minimum ? lowest_bits(buffer.type) : highest_bits(buffer.type);
  const std::int64_t middle = edges[edges.size() / 2];
  support_->store_element(address(middle), buffer.type, unbounded);
  if (auto wrong = judge(ExtremeElement{middle, unbounded}, fmt::format("element {} is unbounded", middle))) return wrong;
  set_all(0);
  if (auto wrong = judge(ExtremeElement{0, 0}, "all elements are 0")) return wrong;
  set_all(0xFF);  // NaN in every floating format
  const std::optional<ExtremeElement> ones =
      floating ? std::nullopt : std::make_optional(ExtremeElement{0, support_->load_element(address(0), buffer.type)});
  if (auto wrong = judge(ones, floating ? "all elements are NaN" : "all elements are equal")) return wrong;
  if (!floating) return std::nullopt;
  const std::uint64_t identity = minimum ? highest_bits(buffer.type) : lowest_bits(buffer.type);
  for (std::size_t i = edges.size(); i-- > 0;) {  // from the last on, so that the first always is the newest
    support_->store_element(address(edges[i]), buffer.type, identity);
    const std::string when = fmt::format("element {} of {} is the first infinity among NaN", edges[i], buffer.count);
    if (auto wrong = judge(ExtremeElement{edges[i], identity}, when)) return wrong;
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
  auto wrong = problem.reference().judge(problem.locate(asked), *expectation);
  if (wrong) *wrong += " (the last call of a timed batch)";
  return wrong;
}

}  // namespace attune::measure
