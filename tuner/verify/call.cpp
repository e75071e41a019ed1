#include "tuner/verify/call.hpp"

namespace attune::verify {
namespace {

gpu::Places places_of(const spec::LaunchPlan& plan) {
  gpu::Places places;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    places.buffers.push_back(gpu::place_at(gpu::Place::Arguments, i, sizeof(CUdeviceptr)));
  return places;
}

}  // namespace

Call::Call(const spec::LaunchPlan& plan, const gpu::Module& module) : steps_(gpu::bind_steps(plan, places_of(plan), module)) {}

}  // namespace attune::verify
