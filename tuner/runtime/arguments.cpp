#include "tuner/runtime/arguments.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment; }

}  // namespace

WorkspaceLayout layout_workspace(const spec::LaunchPlan& plan) {
  WorkspaceLayout layout;
  layout.offsets.assign(plan.buffers.size(), WorkspaceLayout::kNone);
  const auto place = [&](bool zero_once) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const auto& buffer = plan.buffers[i];
      if (!buffer.workspace || (buffer.init == spec::WorkspaceInit::ZeroOnce) != zero_once) continue;
      layout.offsets[i] = layout.total_bytes;
      layout.total_bytes += aligned(static_cast<std::size_t>(buffer.bytes));
    }
  };
  place(true);
  layout.zero_bytes = layout.total_bytes;
  place(false);
  return layout;
}

Signature::Signature(const spec::LaunchPlan& plan, std::string owner, const std::string& path) : owner_(std::move(owner)) {
  std::size_t most_arguments = 0;
  for (const auto* const launch : spec::launches_of(plan)) most_arguments = std::max(most_arguments, launch->arguments.size());
  if (std::max({plan.buffers.size(), plan.scalars.size(), most_arguments}) > kMaxEntries) {
    throw SpecError(path, 0, 0,
                    fmt::format("a template that is dispatched may have at most {} buffers, scalars and kernel "
                                "arguments each",
                                kMaxEntries));
  }
  for (const auto& buffer : plan.buffers) {
    if (buffer.workspace || buffer.untimed) continue;
    const int alignment = std::max(buffer.align_bytes, spec::size_bytes(buffer.type));  // powers of two, both
    checks_.push_back({8, static_cast<std::uint32_t>(alignment) - 1, buffer.bytes == 0});
    names_.push_back(buffer.name);
  }
  buffer_count_ = checks_.size();
  for (const auto& scalar : plan.scalars) {
    checks_.push_back({static_cast<std::uint32_t>(spec::size_bytes(scalar.type)), 0, true});
    names_.push_back(scalar.name);
  }
}

void Signature::refuse_count(std::size_t count) const {
  throw UsageError(fmt::format("failed launching {}: it takes {} argument(s) ({}), {} were given", owner_, names_.size(),
                               fmt::join(names_, ", "), count));
}

void Signature::refuse(std::size_t index, const Argument& argument) const {
  const Check& check = checks_[index];
  const std::string& name = names_[index];
  if (argument.size_bytes != check.size_bytes) {
    throw UsageError(
        fmt::format("failed launching {}: argument '{}' has {} bytes, {} were given", owner_, name, check.size_bytes, argument.size_bytes));
  }
  if (argument.bits == 0) throw UsageError(fmt::format("failed launching {}: buffer '{}' is null", owner_, name));
  throw UsageError(fmt::format("failed launching {}: the address {:#x} of buffer '{}' is not a multiple of {} bytes", owner_, argument.bits,
                               name, check.low_bits + 1));
}

}  // namespace attune::runtime
