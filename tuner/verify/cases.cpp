#include "tuner/verify/cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tuner/spec/buffer_fill.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/stated_work.hpp"

namespace attune::verify {
namespace {

constexpr int kCaseBits = 22;                      // elements of a further case, as a power of two
constexpr int kFewestBits = 12;                    // which still are many tiles, and not a whole number of them
constexpr double kMostOperations = 17179869184.0;  // 2^34, of a further case: about a millisecond
constexpr std::int64_t kWhole = 32;                // a cut size is a multiple: else what asks for whole vectors, say, has no further case
constexpr double kMostBytes = 281474976710656.0;   // 2^48, as of every buffer of a launch

/// Some sizes do not multiply the number of elements, e.g. the bins of a histogram: reference.json names them under "alone". Returns what
/// the one further case is called that has another such size. All other cases keep the size, since constraints depend on it. Returns
/// nothing for a size that is not under "alone".
std::optional<std::string> stands_alone(const spec::KernelTemplate& kernel, const spec::ProblemAxis& axis) {
  if (kernel.reference.kind != spec::ReferenceSpec::Kind::Defined) return std::nullopt;
  const auto& alone = kernel.reference.definition->alone;
  const auto found = alone.find(axis.name);
  return found == alone.end() ? std::nullopt : std::make_optional(found->second);
}

/// The sizes of a further case: those asked for, the largest of them cut until all together stay near 2^bits. One row
/// of 2^28 elements stays one long row.
std::map<std::string, std::int64_t> capped_sizes(const spec::KernelTemplate& kernel, const spec::Problem& problem, double bits) {
  std::map<std::string, std::int64_t> capped;
  std::vector<const spec::ProblemAxis*> axes;
  for (const auto& axis : kernel.problem) {
    if (axis.kind != spec::AxisKind::Size) continue;
    if (stands_alone(kernel, axis))
      capped[axis.name] = problem.sizes.at(axis.name);
    else
      axes.push_back(&axis);
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [&](const auto* a, const auto* b) { return problem.sizes.at(a->name) < problem.sizes.at(b->name); });
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double share = std::max(1.0, bits / static_cast<double>(axes.size() - i));
    auto cap = static_cast<std::int64_t>(std::exp2(share));
    if (cap >= 2 * kWhole) cap -= cap % kWhole;
    const std::int64_t size = std::clamp(std::min(problem.sizes.at(axes[i]->name), cap), axes[i]->min, axes[i]->max);
    bits -= std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)));
    capped[axes[i]->name] = size;
  }
  return capped;
}

/// 0 where the template does not tell.
double operations(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  try {
    const auto scope = spec::make_scope(kernel, problem, spec::default_configuration(kernel), device);
    return static_cast<double>(spec::stated_work(kernel, scope).operations);
  } catch (const SpecError&) {  // at sizes that we chose ourselves
    return 0;
  }
}

std::map<std::string, std::int64_t> quick_sizes(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                const spec::DeviceInfo& device) {
  for (int bits = kCaseBits;; --bits) {
    spec::Problem quick = problem;
    quick.sizes = capped_sizes(kernel, problem, bits);
    if (bits == kFewestBits || operations(kernel, quick, device) <= kMostOperations) return quick.sizes;
  }
}

/// Odd, a few per cent below `size`, another number than `size` where the limits allow one.
std::int64_t ragged_size(std::int64_t size, const spec::ProblemAxis& axis) {
  std::int64_t ragged = (size - size / 17) | 1;
  if (ragged == size) ragged = size > 2 ? size - 2 : size + 2;
  if (ragged < axis.min) ragged = axis.min | 1;
  if (ragged > axis.max) ragged = (axis.max - 1) | 1;
  return std::clamp(ragged, axis.min, axis.max);
}

}  // namespace

std::vector<CasePlan> plan_cases(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  if (spec::uses_data_files(kernel)) return {{"the asked size", problem, 0}};  // the files have no other
  CasePlan ragged{"a ragged size", problem, 0};
  CasePlan misaligned{"a misaligned input", problem, 1};
  CasePlan empty{"no elements", problem, 0};
  CasePlan other{"", problem, 0};
  bool can_be_empty = false;
  const auto capped_size = quick_sizes(kernel, problem, device);
  for (const auto& axis : kernel.problem) {
    if (axis.kind != spec::AxisKind::Size) continue;
    const std::int64_t capped = capped_size.at(axis.name);
    const std::int64_t odd = ragged_size(capped, axis);
    const auto alone = stands_alone(kernel, axis);
    if (alone) other.label = *alone;
    ragged.problem.sizes[axis.name] = alone ? capped : odd;
    misaligned.problem.sizes[axis.name] = capped;
    other.problem.sizes[axis.name] = alone ? odd : capped;
    empty.problem.sizes[axis.name] = axis.min == 0 ? 0 : capped;
    can_be_empty = can_be_empty || axis.min == 0;
  }
  std::vector<CasePlan> cases{{"the asked size", problem, 0}};
  if (ragged.problem != problem) cases.push_back(std::move(ragged));
  cases.push_back(std::move(misaligned));
  if (!other.label.empty() && other.problem != problem) cases.push_back(std::move(other));
  if (can_be_empty && empty.problem != problem) cases.push_back(std::move(empty));
  return cases;
}

namespace {

/// Throws: SpecError where the template names a file that is not what the buffer is at this problem.
void require_fits(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::ResolvedBuffer& buffer,
                  const spec::DataUse& use) {
  const spec::DataFile& file = kernel.data.at(use.file);
  const bool typed = !file.type || spec::same_bits(*file.type, buffer.type);
  if (typed && file.bytes == buffer.bytes) return;
  spec::fail(use.position,
             fmt::format("the file '{}' holds {}, and the buffer '{}' has {} elements of {} for {}; choose the problem that the file "
                         "is of, or another file",
                         use.file, spec::described(file), buffer.name, buffer.count, spec::name(buffer.type), spec::to_text(problem)));
}

/// Throws: SpecError (fewer than no elements, which may be of a size that we chose), EnvironmentError (more than any device holds).
void count_elements(const spec::BufferSpec& declared, const spec::Problem& problem, const spec::Scope& scope,
                    spec::ResolvedBuffer& buffer) {
  buffer.count = declared.count.integer(scope);
  if (buffer.count < 0) {
    spec::fail(declared.count.position(), fmt::format("the count of the buffer '{}' is {} for {} (\"{}\")", declared.name, buffer.count,
                                                      spec::to_text(problem), declared.count.text()));
  }
  const double bytes = static_cast<double>(buffer.count) * declared.lanes * spec::size_bytes(buffer.type);
  if (bytes > kMostBytes) {
    throw EnvironmentError(fmt::format("failed preparing {}: buffer \"{}\" would have {} elements; choose a smaller problem",
                                       spec::to_text(problem), buffer.name, buffer.count));
  }
  buffer.count *= declared.lanes;
  buffer.bytes = buffer.count * spec::size_bytes(buffer.type);
}

}  // namespace

std::vector<spec::ResolvedBuffer> data_buffers(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                               const spec::DeviceInfo& device) {
  const spec::Configuration configuration = spec::default_configuration(kernel);
  const spec::Scope scope = spec::make_scope(kernel, problem, configuration, device);
  std::vector<spec::ResolvedBuffer> buffers;
  for (const auto& declared : kernel.buffers) {
    spec::ResolvedBuffer buffer;
    buffer.name = declared.name;
    buffer.type = spec::element_type(spec::resolve_type(kernel, declared.type, problem));
    buffer.fill = declared.fill;
    buffer.input = declared.input;
    buffer.output = declared.output;
    buffer.workspace = declared.workspace;
    buffer.init = declared.init;
    buffer.memory = declared.memory;
    buffer.align_bytes = declared.align_bytes;
    buffer.untimed = declared.untimed;
    if (!declared.workspace) {
      count_elements(declared, problem, scope, buffer);
      buffer.fill_bounds = spec::resolve_fill(declared, buffer, problem, scope);
      if (declared.data) require_fits(kernel, problem, buffer, *declared.data);
      if (const auto expected = kernel.reference.wanted.find(declared.name); expected != kernel.reference.wanted.end())
        require_fits(kernel, problem, buffer, expected->second);
    }
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

}  // namespace attune::verify
