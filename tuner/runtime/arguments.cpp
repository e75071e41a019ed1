#include "tuner/runtime/arguments.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

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

Signature::Signature(const spec::LaunchPlan& plan, std::string owner, const std::string& path)
    : owner_(std::move(owner)) {
  std::size_t most_arguments = 0;
  for (const auto& step : plan.steps) {
    if (const auto* launch = std::get_if<spec::ResolvedLaunch>(&step))
      most_arguments = std::max(most_arguments, launch->arguments.size());
  }
  if (std::max({plan.buffers.size(), plan.scalars.size(), most_arguments}) > kMaxEntries) {
    throw SpecError(path, 0, 0,
                    fmt::format("a template that is dispatched may have at most {} buffers, scalars and kernel "
                                "arguments each",
                                kMaxEntries));
  }
  for (const auto& buffer : plan.buffers) {
    if (buffer.workspace) continue;
    const int alignment = std::max(buffer.align_bytes, spec::size_bytes(buffer.type));
    entries_.push_back({buffer.name, 8, static_cast<std::uint32_t>(alignment), buffer.bytes == 0});
  }
  buffer_count_ = entries_.size();
  for (const auto& scalar : plan.scalars) {
    entries_.push_back({scalar.name, static_cast<std::uint32_t>(spec::size_bytes(scalar.type)), 1, true});
  }
}

void Signature::check(const Argument* arguments, std::size_t count) const {
  if (count != entries_.size()) refuse_count(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = entries_[i];
    const bool size_wrong = arguments[i].size_bytes != entry.size_bytes;
    const bool address_wrong = i < buffer_count_ && ((arguments[i].bits == 0 && !entry.may_be_null) ||
                                                     arguments[i].bits % entry.alignment != 0);
    if (size_wrong || address_wrong) refuse(entry, arguments[i]);
  }
}

void Signature::refuse_count(std::size_t count) const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.name);
  throw UsageError(fmt::format("failed launching {}: it takes {} argument(s) ({}), {} were given", owner_,
                               entries_.size(), fmt::join(names, ", "), count));
}

void Signature::refuse(const Entry& entry, const Argument& argument) const {
  if (argument.size_bytes != entry.size_bytes) {
    throw UsageError(fmt::format("failed launching {}: argument '{}' has {} bytes, {} were given", owner_, entry.name,
                                 entry.size_bytes, argument.size_bytes));
  }
  if (argument.bits == 0) throw UsageError(fmt::format("failed launching {}: buffer '{}' is null", owner_, entry.name));
  throw UsageError(fmt::format("failed launching {}: the address {:#x} of buffer '{}' is not a multiple of {} bytes",
                               owner_, argument.bits, entry.name, entry.alignment));
}

}  // namespace attune::runtime
