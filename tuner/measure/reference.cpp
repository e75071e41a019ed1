#include "tuner/measure/reference.hpp"

#include <fmt/core.h>

#include <cmath>

#include "tuner/measure/call.hpp"

namespace attune::measure {
namespace {

using Kind = spec::ReferenceSpec::Kind;

/// Whether sums of the Integers data set are exact in this type whatever the order: they are a random walk of steps of
/// at most 2, far below 2^24 for every count that fits a device.
bool sums_integers_exactly(spec::ElementType type) {
  return !is_floating(type) || type == spec::ElementType::F32 || type == spec::ElementType::F64;
}

}  // namespace

Reference::Reference(const spec::KernelTemplate& kernel, Support& support, const std::string& cubin)
    : kernel_(&kernel), support_(&support), row_reference_(support), reduce_reference_(support), histogram_reference_(support) {
  if (kernel.reference.kind == Kind::Builtin) find_buffers();
  if (!cubin.empty()) module_.emplace(cubin);
}

bool Reference::by_kernel(const spec::Problem& problem) const { return spec::asks_reference_kernel(*kernel_, problem); }

void Reference::find_buffers() {
  if (kernel_->reference.builtin == "histogram") {
    builtin_ = Builtin::Histogram;
    return;
  }
  const bool arg = kernel_->reference.builtin == "arg_reduce";
  builtin_ = arg ? Builtin::ArgReduce : kernel_->reference.builtin == "reduce" ? Builtin::Reduce : Builtin::Rows;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < kernel_->buffers.size(); ++i) {
    const auto& buffer = kernel_->buffers[i];
    if (!buffer.workspace) (buffer.output ? outputs : inputs).push_back(i);
  }
  const bool known = arg || kernel_->reference.builtin == "reduce" || kernel_->reference.builtin == "segmented_reduce";
  const bool two_inputs = builtin_ == Builtin::Reduce && inputs.size() == 2;
  if (!known || (inputs.size() != 1 && !two_inputs) || outputs.size() != (arg ? 2U : 1U)) {
    throw SpecError(kernel_->spec_path, 0, 0,
                    fmt::format("failed preparing the reference: built-in \"{}\" over {} inputs and {} outputs; \"reduce\" takes "
                                "one or two inputs and one output, \"segmented_reduce\" one of each, \"arg_reduce\" one input and "
                                "two outputs",
                                kernel_->reference.builtin, inputs.size(), outputs.size()));
  }
  input_ = inputs.front();
  other_ = inputs.back();
  output_ = outputs.front();
  index_ = outputs.back();
}

bool Reference::plants(const spec::Problem& problem) const {
  return (builtin_ == Builtin::Reduce || by_rows()) && !by_kernel(problem) && spec::choice_of(*kernel_, problem, "op") != "sum";
}

std::optional<Filling> Reference::own_filling(const Located& located, std::size_t buffer, DataSet data, int group) const {
  if (kernel_->reference.kind != Kind::Builtin) return std::nullopt;
  const spec::Problem& problem = *located.problem;
  if (by_kernel(problem)) return Filling{FillKind::SmallIntegers};
  if (builtin_ == Builtin::Histogram) {
    const HistogramBuffers at = histogram_buffers(*kernel_);
    const auto input = buffer == at.samples ? HistogramInput::Samples : buffer == at.edges ? HistogramInput::Edges : HistogramInput::Weights;
    return histogram_filling(histogram_case(*kernel_, problem, *located.buffers), input, data, group);
  }
  if (builtin_ == Builtin::Reduce)
    return reduce_filling(reduce_case(located).of, buffer == input_ ? ReduceInput::First : ReduceInput::Second, data);
  if (!by_rows() || spec::choice_of(*kernel_, problem, "op") != "product") return std::nullopt;
  return Filling{data == DataSet::Integers ? FillKind::Factors : FillKind::WideFactors, factor_rarity(columns(problem))};
}

std::optional<GuardValues> Reference::guard_values(const Located& located, std::size_t buffer) const {
  if (builtin_ != Builtin::Histogram || buffer != histogram_buffers(*kernel_).samples) return std::nullopt;
  return histogram_guards(histogram_case(*kernel_, *located.problem, *located.buffers));
}

std::vector<DataSet> Reference::data_sets(const Located& located) const {
  if (builtin_ != Builtin::Histogram) return {DataSet::Integers, DataSet::Random};
  return histogram_data_sets(histogram_call(located).of);
}

int Reference::groups(const Located& located) const {
  return builtin_ == Builtin::Histogram ? histogram_groups(histogram_call(located).of) : 1;
}

std::int64_t Reference::columns(const spec::Problem& problem) const {
  return by_rows() ? problem.sizes.at("columns") : 0;
}

std::size_t Reference::answer_bytes(const std::vector<spec::ResolvedBuffer>& buffers) const {
  std::size_t bytes = 0;
  for (const auto& buffer : buffers) {
    if (!buffer.output) continue;
    if (!kernel_->reference.steps.empty()) bytes += static_cast<std::size_t>(buffer.bytes);
    if (by_rows()) bytes += static_cast<std::size_t>(buffer.count) * 2 * sizeof(double);
    if (builtin_ == Builtin::Histogram)  // a count; of weights two sums as well
      bytes += static_cast<std::size_t>(buffer.count) * (is_floating(buffer.type) ? 3 : 1) * sizeof(std::uint64_t);
  }
  return (builtin_ == Builtin::Histogram ? kDataSets : 2) * bytes;
}

RowCase Reference::row_case(const Located& located) const {
  const auto& in = (*located.buffers)[input_];
  const auto& out = (*located.buffers)[output_];
  const Matrix matrix{located.addresses[input_], in.type, located.problem->sizes.at("rows"),
                      located.problem->sizes.at("columns")};
  const auto operation = row_operation(spec::choice_of(*kernel_, *located.problem, "op"));
  if (matrix.rows * matrix.columns != in.count || matrix.rows != out.count || !operation ||
      is_floating(in.type) != is_floating(out.type)) {
    throw SpecError(kernel_->spec_path, 0, 0,
                    "failed preparing the reference: the built-in \"segmented_reduce\" takes an input of rows * columns "
                    "elements and an output of rows, both integers or both floating-point");
  }
  return {matrix, *operation, located.addresses[output_], out.type};
}

HistogramCall Reference::histogram_call(const Located& located) const {
  const HistogramBuffers at = histogram_buffers(*kernel_);
  const auto address = [&](std::size_t buffer) { return buffer == kNoBuffer ? 0 : located.addresses[buffer]; };
  return {histogram_case(*kernel_, *located.problem, *located.buffers), address(at.samples), address(at.edges), address(at.weights),
          address(at.counts)};
}

ReduceCase Reference::reduce_case(const Located& located) const {
  const auto& in = (*located.buffers)[input_];
  const auto& other = (*located.buffers)[other_];
  const auto& out = (*located.buffers)[output_];
  ReduceCase of{reduction_of(*kernel_, *located.problem, in.type, out.type, in.count), located.addresses[input_],
                located.addresses[other_], located.addresses[output_]};
  if (of.of.transform == Transform::Times && (other.type != in.type || other.count != in.count)) {
    throw SpecError(kernel_->spec_path, 0, 0,
                    fmt::format("failed preparing the reference: the transform 'times' multiplies \"{}\", {} elements of type {}, with "
                                "\"{}\", {} of type {}; make them the same",
                                in.name, in.count, spec::name(in.type), other.name, other.count, spec::name(other.type)));
  }
  return of;
}

Expectation Reference::expect(const Located& located, DataSet data) {
  Expectation expectation;
  if (builtin_ == Builtin::Histogram) {
    expectation.histogram = histogram_reference_.expect(histogram_call(located), data);
    return expectation;
  }
  if (by_rows()) {
    const RowCase of = row_case(located);
    expectation.rows = row_reference_.expect(of, data == DataSet::Integers && sums_integers_exactly(of.out_type));
    return expectation;
  }
  if (!by_kernel(*located.problem)) {
    const auto& buffer = (*located.buffers)[input_];
    if (builtin_ == Builtin::Reduce) expectation.reduced = reduce_reference_.expect(reduce_case(located), data);
    if (builtin_ == Builtin::ArgReduce)
      expectation.extreme = support_->find_extreme(
          located.addresses[input_], buffer.count, buffer.type,
          spec::choice_of(*kernel_, *located.problem, "op") == "min" ? Extreme::Least : Extreme::Greatest);
    return expectation;
  }
  run_kernels(located);
  for (std::size_t i = 0; i < located.buffers->size(); ++i) {
    const auto& buffer = (*located.buffers)[i];
    expectation.wanted.emplace_back(buffer.output ? static_cast<std::size_t>(buffer.bytes) : 0);
    expectation.scales.push_back(0);
    if (!buffer.output || buffer.count == 0) continue;
    support_->copy(expectation.wanted.back().address(), located.addresses[i], expectation.wanted.back().bytes());
    if (is_floating(buffer.type)) {
      const Totals totals = support_->reduce(located.addresses[i], buffer.count, buffer.type);
      expectation.scales.back() =
          std::isfinite(totals.magnitude) ? totals.magnitude / static_cast<double>(buffer.count) : 0;
    }
  }
  support_->stream().synchronize();
  return expectation;
}

void Reference::run_kernels(const Located& located) {
  const spec::Configuration configuration = spec::default_configuration(*kernel_);
  const spec::LaunchPlan plan = spec::resolve_reference(*kernel_, *located.problem, configuration, support_->device());
  const BufferLayout scratch_layout(plan.buffers, Part::Scratch);
  const gpu::Buffer scratch(scratch_layout.bytes());
  support_->set_bytes(scratch.address(), scratch.bytes(), 0);
  Addresses addresses = located.addresses;
  place(scratch_layout, scratch.address(), addresses);
  Call call(plan, *module_);
  call.load_constants(*support_, addresses);
  call.enqueue(addresses, support_->stream().get());
  support_->stream().synchronize();
}

void Reference::expect_specials(const Located& located, Expectation& expectation) {
  if (builtin_ != Builtin::Reduce || by_kernel(*located.problem)) return;
  reduce_reference_.expect_specials(reduce_case(located), expectation.reduced);
}

std::optional<std::string> Reference::judge(const Located& located, const Expectation& expectation) {
  if (kernel_->reference.kind == Kind::None) return std::nullopt;
  if (by_kernel(*located.problem)) return judge_kernel(located, expectation);
  if (by_rows()) return row_reference_.judge(row_case(located), expectation.rows);
  if (builtin_ == Builtin::Histogram) return histogram_reference_.judge(histogram_call(located), expectation.histogram);
  if (builtin_ == Builtin::ArgReduce) return judge_arg(located, expectation.extreme);
  return reduce_reference_.judge(reduce_case(located), expectation.reduced.right);
}

std::optional<std::string> Reference::judge_kernel(const Located& located, const Expectation& expectation) {
  support_->begin_checks();
  for (std::size_t i = 0; i < located.buffers->size(); ++i) {
    const auto& buffer = (*located.buffers)[i];
    if (!buffer.output) continue;
    const double tolerance = kernel_->reference.relative_tolerance;
    const double ulps_64 = is_floating(buffer.type) ? 128 * unit_roundoff(buffer.type) : 0;
    support_->compare(buffer.name, located.addresses[i], expectation.wanted[i].address(), buffer.count, buffer.type,
                      tolerance > 0 ? tolerance : ulps_64, expectation.scales[i]);
  }
  const auto finding = support_->findings();
  if (!finding) return std::nullopt;
  for (std::size_t i = 0; i < located.buffers->size(); ++i) {
    const auto& buffer = (*located.buffers)[i];
    if (buffer.name != finding->what) continue;
    const std::size_t offset = static_cast<std::size_t>(spec::size_bytes(buffer.type)) * finding->first;
    return fmt::format(
        "{} of {} elements of output \"{}\" are wrong; the first is element {}: {} instead of {}", finding->count,
        buffer.count, buffer.name, finding->first,
        element_text(buffer.type, support_->load_element(located.addresses[i] + offset, buffer.type)),
        element_text(buffer.type, support_->load_element(expectation.wanted[i].address() + offset, buffer.type)));
  }
  return finding->what;
}

std::optional<std::string> Reference::judge_arg(const Located& located, const std::optional<ExtremeElement>& wanted) {
  const auto type = (*located.buffers)[output_].type;
  const auto results = support_->load_elements({{located.addresses[output_], type}, {located.addresses[index_], (*located.buffers)[index_].type}});
  const std::uint64_t got = results.front();
  const auto index = static_cast<std::int64_t>(results.back());
  const std::uint64_t identity = spec::choice_of(*kernel_, *located.problem, "op") == "min" ? highest_bits(type) : lowest_bits(type);
  const ExtremeElement right = wanted.value_or(ExtremeElement{-1, identity});
  const bool same = is_floating(type) ? to_double(type, got) == to_double(type, right.bits)  // -0 is +0
                                      : extend(type, got) == extend(type, right.bits);
  if (same && index == right.index) return std::nullopt;
  return fmt::format("the result is {} at index {} instead of {} at index {}", element_text(type, got), index,
                     element_text(type, right.bits), right.index);
}

std::optional<std::uint64_t> Reference::planted_bits(const Located& located, std::int64_t position, std::uint64_t before,
                                                     const Expectation& expectation) {
  if (!by_rows()) return reduce_reference_.planted(reduce_case(located), expectation.reduced, position, before);
  const RowCase of = row_case(located);
  return planted_element(of.in.type, of.operation, before);
}

std::optional<ElementAt> Reference::only_result(const Located& located) const {
  if (builtin_ != Builtin::Reduce) return std::nullopt;
  return ElementAt{located.addresses[output_], (*located.buffers)[output_].type};
}

std::optional<std::string> Reference::judge_planted(const Located& located, std::int64_t position, std::uint64_t before, std::uint64_t planted,
                                                    const Expectation& expectation, std::uint64_t got) {
  return reduce_reference_.judge_planted(reduce_case(located), expectation.reduced, position, before, planted, got);
}

std::optional<std::string> Reference::judge_planted_row(const Located& located, std::int64_t position, std::uint64_t planted,
                                                        const Expectation& expectation) {
  return row_reference_.judge_planted(row_case(located), expectation.rows, position, planted);
}

std::optional<std::string> Reference::judge_special(const Located& located, const SpecialCase& special) {
  return reduce_reference_.judge(reduce_case(located), special.right);
}

}  // namespace attune::measure
