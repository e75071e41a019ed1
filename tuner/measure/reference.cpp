#include "tuner/measure/reference.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "tuner/measure/call.hpp"

namespace attune::measure {
namespace {

using Kind = spec::ReferenceSpec::Kind;

std::string choice(const spec::Problem& problem, const char* axis) {
  const auto found = problem.choices.find(axis);
  return found == problem.choices.end() ? "" : found->second;
}

/// Whether sums of the Integers data set are exact in this type whatever the order: they are a random walk of steps of
/// at most 2, far below 2^24 for every count that fits a device.
bool sums_integers_exactly(spec::ElementType type) {
  return !is_floating(type) || type == spec::ElementType::F32 || type == spec::ElementType::F64;
}

}  // namespace

Reference::Reference(const spec::KernelTemplate& kernel, Support& support, const std::string& cubin)
    : kernel_(&kernel), support_(&support), row_reference_(support) {
  if (kernel.reference.kind == Kind::Builtin) find_buffers();
  if (kernel.reference.kind == Kind::Kernel) module_.emplace(cubin);
}

void Reference::find_buffers() {
  const bool arg = kernel_->reference.builtin == "arg_reduce";
  builtin_ = arg ? Builtin::ArgReduce : kernel_->reference.builtin == "reduce" ? Builtin::Reduce : Builtin::Rows;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < kernel_->buffers.size(); ++i) {
    const auto& buffer = kernel_->buffers[i];
    if (!buffer.workspace) (buffer.output ? outputs : inputs).push_back(i);
  }
  const bool known = arg || kernel_->reference.builtin == "reduce" || kernel_->reference.builtin == "segmented_reduce";
  if (!known || inputs.size() != 1 || outputs.size() != (arg ? 2U : 1U)) {
    throw SpecError(kernel_->spec_path, 0, 0,
                    fmt::format("failed preparing the reference: built-in \"{}\" over {} inputs and {} outputs; \"reduce\" "
                                "and \"segmented_reduce\" take one of each, \"arg_reduce\" one input and two outputs",
                                kernel_->reference.builtin, inputs.size(), outputs.size()));
  }
  input_ = inputs.front();
  output_ = outputs.front();
  index_ = outputs.back();
}

bool Reference::plants(const spec::Problem& problem) const {
  return (builtin_ == Builtin::Reduce || by_rows()) && choice(problem, "op") != "sum";
}

bool Reference::multiplies(const spec::Problem& problem) const {
  return by_rows() && choice(problem, "op") == "product";
}

std::int64_t Reference::columns(const spec::Problem& problem) const {
  return by_rows() ? problem.sizes.at("columns") : 0;
}

std::size_t Reference::answer_bytes(const std::vector<spec::ResolvedBuffer>& buffers) const {
  std::size_t bytes = 0;
  for (const auto& buffer : buffers) {
    if (!buffer.output) continue;
    if (kernel_->reference.kind == Kind::Kernel) bytes += static_cast<std::size_t>(buffer.bytes);
    if (by_rows()) bytes += static_cast<std::size_t>(buffer.count) * 2 * sizeof(double);
  }
  return 2 * bytes;
}

RowCase Reference::row_case(const Located& located) const {
  const auto& in = (*located.buffers)[input_];
  const auto& out = (*located.buffers)[output_];
  const Matrix matrix{located.addresses[input_], in.type, located.problem->sizes.at("rows"),
                      located.problem->sizes.at("columns")};
  const auto operation = row_operation(choice(*located.problem, "op"));
  if (matrix.rows * matrix.columns != in.count || matrix.rows != out.count || !operation ||
      is_floating(in.type) != is_floating(out.type)) {
    throw SpecError(kernel_->spec_path, 0, 0,
                    "failed preparing the reference: the built-in \"segmented_reduce\" takes an input of rows * columns "
                    "elements and an output of rows, both integers or both floating-point");
  }
  return {matrix, *operation, located.addresses[output_], out.type};
}

Expectation Reference::expect(const Located& located, DataSet data) {
  Expectation expectation;
  if (by_rows()) {
    const RowCase of = row_case(located);
    expectation.rows = row_reference_.expect(of, data == DataSet::Integers && sums_integers_exactly(of.out_type));
    return expectation;
  }
  if (kernel_->reference.kind == Kind::Builtin) {
    const auto& buffer = (*located.buffers)[input_];
    if (builtin_ == Builtin::Reduce)
      expectation.totals = support_->reduce(located.addresses[input_], buffer.count, buffer.type);
    else
      expectation.extreme = support_->find_extreme(located.addresses[input_], buffer.count, buffer.type,
                                                   choice(*located.problem, "op") == "min" ? Extreme::Least : Extreme::Greatest);
  }
  if (kernel_->reference.kind != Kind::Kernel) return expectation;
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

std::optional<std::string> Reference::judge(const Located& located, DataSet data, const Expectation& expectation) {
  if (kernel_->reference.kind == Kind::None) return std::nullopt;
  if (by_rows()) return row_reference_.judge(row_case(located), expectation.rows);
  if (builtin_ == Builtin::Reduce) return judge_reduce(located, data, expectation.totals);
  if (builtin_ == Builtin::ArgReduce) return judge_arg(located, expectation.extreme);
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

std::optional<std::string> Reference::judge_reduce(const Located& located, DataSet data, const Totals& totals) {
  const auto& in = (*located.buffers)[input_];
  const auto& out = (*located.buffers)[output_];
  const std::uint64_t got = support_->load_element(located.addresses[output_], out.type);
  const std::string op = choice(*located.problem, "op");
  if (op == "sum") return judge_sum(located, data, totals, got);
  const bool minimum = op == "min";
  if (in.count > 0) return judge_extreme(located, minimum ? totals.minimum_bits : totals.maximum_bits, got);
  const std::uint64_t identity = minimum ? highest_bits(in.type) : lowest_bits(in.type);
  return judge_extreme(
      located,
      is_floating(in.type) ? std::bit_cast<std::uint64_t>(to_double(in.type, identity)) : extend(in.type, identity),
      got);
}

std::optional<std::string> Reference::judge_sum(const Located& located, DataSet data, const Totals& totals,
                                                std::uint64_t got) {
  const auto& in = (*located.buffers)[input_];
  const auto& out = (*located.buffers)[output_];
  if (!is_floating(in.type) && !is_floating(out.type)) {  // modulo 2^width of the output
    if (extend(out.type, got) == extend(out.type, totals.integer_sum)) return std::nullopt;
    return fmt::format("the sum is {} instead of {}", element_text(out.type, got),
                       element_text(out.type, totals.integer_sum));
  }
  const double value = to_double(out.type, got);
  const bool exact = data == DataSet::Integers && sums_integers_exactly(out.type);
  // The usual bound of recursive summation is n u sum|x|; rounding errors of a fixed order behave like a random walk
  // and trees are shorter still, so that sqrt(n) already is generous.
  const double u = is_floating(out.type) ? unit_roundoff(out.type) : 0.5;
  const double allowed = exact ? 0 : u * (8 + std::sqrt(static_cast<double>(in.count))) * totals.magnitude;
  if (std::abs(value - totals.sum) <= allowed) return std::nullopt;
  return fmt::format("the sum is {:.17g} instead of {:.17g} (allowed error {:.3g})", value, totals.sum, allowed);
}

std::optional<std::string> Reference::judge_extreme(const Located& located, std::uint64_t wanted_bits,
                                                    std::uint64_t got) {
  const auto& in = (*located.buffers)[input_];
  const auto& out = (*located.buffers)[output_];
  if (is_floating(in.type)) {
    const double wanted = std::bit_cast<double>(wanted_bits);
    if (to_double(out.type, got) == wanted) return std::nullopt;
    return fmt::format("the result is {} instead of {:.17g}", element_text(out.type, got), wanted);
  }
  if (extend(out.type, got) == extend(out.type, wanted_bits)) return std::nullopt;
  return fmt::format("the result is {} instead of {}", element_text(out.type, got),
                     element_text(out.type, wanted_bits));
}

std::optional<std::string> Reference::judge_arg(const Located& located, const std::optional<ExtremeElement>& wanted) {
  const auto type = (*located.buffers)[output_].type;
  const std::uint64_t got = support_->load_element(located.addresses[output_], type);
  const auto index =
      static_cast<std::int64_t>(support_->load_element(located.addresses[index_], (*located.buffers)[index_].type));
  const std::uint64_t identity = choice(*located.problem, "op") == "min" ? highest_bits(type) : lowest_bits(type);
  const ExtremeElement right = wanted.value_or(ExtremeElement{-1, identity});
  const bool same = is_floating(type) ? to_double(type, got) == to_double(type, right.bits)  // -0 is +0
                                      : extend(type, got) == extend(type, right.bits);
  if (same && index == right.index) return std::nullopt;
  return fmt::format("the result is {} at index {} instead of {} at index {}", element_text(type, got), index,
                     element_text(type, right.bits), right.index);
}

std::uint64_t Reference::planted_bits(const spec::Problem& problem, spec::ElementType type,
                                      std::uint64_t before) const {
  const auto operation = row_operation(choice(problem, "op"));
  return planted_element(type, operation.value_or(RowOperation::Maximum), before);
}

std::optional<std::string> Reference::judge_planted(const Located& located, std::int64_t position,
                                                    std::uint64_t planted_bits, const Expectation& expectation) {
  if (by_rows()) return row_reference_.judge_planted(row_case(located), expectation.rows, position, planted_bits);
  const auto& in = (*located.buffers)[input_];
  const auto& out = (*located.buffers)[output_];
  const std::uint64_t got = support_->load_element(located.addresses[output_], out.type);
  return judge_extreme(located,
                       is_floating(in.type) ? std::bit_cast<std::uint64_t>(to_double(in.type, planted_bits))
                                            : extend(in.type, planted_bits),
                       got);
}

}  // namespace attune::measure
