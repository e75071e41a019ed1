#include "tuner/runtime/plan_state.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace attune::runtime {
namespace {

// What a place among the arguments rests on: an argument's value is its first member.
static_assert(std::is_standard_layout_v<Argument> && offsetof(Argument, bits) == 0);

/// Where each buffer's address is found: the caller's among the arguments, in the order of the signature; the others in `parts`.
std::vector<gpu::Place> places_of_buffers(const spec::LaunchPlan& plan, const WorkspaceLayout& layout, std::vector<WorkspacePart>& parts) {
  std::vector<gpu::Place> places;
  std::size_t callers = 0;
  for (std::size_t i = 0; i < layout.offsets.size(); ++i) {
    const std::size_t offset = layout.offsets[i];
    if (offset == WorkspaceLayout::kNone) {
      places.push_back(gpu::place_at(gpu::Place::Arguments, callers, sizeof(Argument)));
      if (!plan.buffers[i].untimed) ++callers;  // no launch names the others
      continue;
    }
    places.push_back(gpu::place_at(gpu::Place::Workspace, parts.size(), sizeof(std::uint64_t)));
    if (offset < layout.zero_bytes)
      parts.push_back({offset, WorkspacePart::Zero});
    else
      parts.push_back({offset - layout.zero_bytes, WorkspacePart::Plain});
  }
  return places;
}

}  // namespace
}  // namespace attune::runtime

namespace attune::detail {

void PlanState::bind(spec::LaunchPlan plan, std::string owner, const std::string& path, const gpu::Module& code) {
  signature = runtime::Signature(plan, std::move(owner), path);
  workspace = runtime::layout_workspace(plan);
  gpu::Places places{runtime::places_of_buffers(plan, workspace, parts), {}};
  for (std::size_t i = 0; i < plan.scalars.size(); ++i)
    places.scalars.push_back(gpu::place_at(gpu::Place::Arguments, signature.buffer_count() + i, sizeof(Argument)));
  steps = gpu::bind_steps(plan, places, code);
  resolved = std::move(plan);
}

void PlanState::enqueue(const Argument* arguments, CUdeviceptr zero, CUdeviceptr plain, CUstream stream) const {
  using runtime::WorkspacePart;
  std::array<CUdeviceptr, 2> scratch;
  scratch[WorkspacePart::Zero] = zero;
  scratch[WorkspacePart::Plain] = plain;
  std::array<CUdeviceptr, runtime::kMaxEntries> addresses;  // only the first ones are used
  for (std::size_t i = 0; i < parts.size(); ++i) addresses[i] = scratch[parts[i].of] + parts[i].offset;
  gpu::enqueue(steps, {arguments, addresses.data()}, stream);
}

}  // namespace attune::detail
