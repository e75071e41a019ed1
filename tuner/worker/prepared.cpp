#include "tuner/worker/prepared.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace attune::worker {
namespace {

constexpr std::size_t kMostConfigurations = 64;
constexpr std::size_t kMostModules = 96;
constexpr std::size_t kMostGraphNodes = 65536;  // of all graphs together: a node takes a kilobyte or two of device memory

void require_equal_data(const spec::LaunchPlan& plan, const verify::Case& which) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& mine = plan.buffers[i];
    const auto& theirs = which.buffers[i];
    if (mine.workspace || mine.count == theirs.count) continue;
    throw Error(fmt::format("failed binding buffer \"{}\": it has {} elements in this configuration and {} in the default one; only "
                            "workspace may depend on parameters",
                            mine.name, mine.count, theirs.count),
                ExitCode::Spec);
  }
}

}  // namespace

int Prepared::calls() const {
  return std::accumulate(batches.begin(), batches.end(), 0, [](int calls, const Batch& batch) { return calls + batch.calls; });
}

void Prepared::clear_scratch(verify::Support& support) const { support.set_bytes(scratch.address(), scratch.bytes(), 0); }

bool PreparedCache::holds(const std::string& key) const {
  return std::any_of(modules_.begin(), modules_.end(), [&](const Loaded& loaded) { return loaded.key == key; });
}

void PreparedCache::unload(const std::string& key) {
  modules_.remove_if([&](const Loaded& loaded) { return loaded.key == key && loaded.module.use_count() == 1; });
}

std::shared_ptr<const gpu::Module> PreparedCache::module(const std::string& key, const std::string& cubin) {
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const Loaded& loaded) { return loaded.key == key; });
  if (found != modules_.end()) {
    modules_.splice(modules_.begin(), modules_, found);
    return modules_.front().module;
  }
  if (cubin.empty()) throw UsageError(fmt::format("failed visiting a configuration: this worker was not sent the cubin {}", key));
  modules_.push_front({key, std::make_shared<const gpu::Module>(cubin)});
  return modules_.front().module;
}

Prepared& PreparedCache::configuration(const std::string& text, const std::shared_ptr<const gpu::Module>& module, GpuProblem& problem,
                                       verify::Support& support) {
  const auto found = std::find_if(configurations_.begin(), configurations_.end(),
                                  [&](const Prepared& prepared) { return prepared.text == text && prepared.module == module; });
  if (found != configurations_.end()) {
    configurations_.splice(configurations_.begin(), configurations_, found);
    return configurations_.front();
  }
  const spec::Configuration configuration = spec::configuration_from_text(problem.kernel(), text);
  spec::LaunchPlan plan = spec::resolve(problem.kernel(), problem.problem(), configuration, support.device());
  require_equal_data(plan, problem.data().asked());
  verify::BufferLayout layout(plan.buffers, verify::Part::Scratch);
  verify::Call call(plan, *module);
  verify::Untimed untimed(problem.kernel(), problem.problem(), configuration, *module, support.device());
  trim();
  gpu::Buffer scratch(layout.bytes() + untimed.scratch_bytes());
  untimed.set_scratch(scratch.address() + layout.bytes());
  std::vector<verify::Addresses> windows;
  for (int window = 0; window < problem.windows().windows(); ++window) {
    windows.push_back(problem.data().addresses(problem.data().asked(), window));
    verify::place(layout, scratch.address(), windows.back());
  }
  configurations_.push_front({text, configuration, module, std::move(plan), std::move(call), std::move(untimed), std::move(layout),
                              std::move(scratch), false, std::vector<Batch>(static_cast<std::size_t>(problem.windows().groups)), false, 0,
                              0, std::move(windows)});
  configurations_.front().clear_scratch(support);
  return configurations_.front();
}

void PreparedCache::trim() {
  std::size_t nodes = 0;
  for (const auto& prepared : configurations_) nodes += prepared.call.steps() * static_cast<std::size_t>(prepared.calls());
  const auto crowded = [&] { return configurations_.size() >= kMostConfigurations || nodes > kMostGraphNodes; };
  while (configurations_.size() > kept_ && crowded()) {
    nodes -= configurations_.back().call.steps() * static_cast<std::size_t>(configurations_.back().calls());
    configurations_.pop_back();
  }
  for (auto last = modules_.end(); modules_.size() > kMostModules && last != modules_.begin();) {
    --last;
    if (last->module.use_count() > 1) continue;
    dropped_.push_back(last->key);
    last = modules_.erase(last);
  }
}

}  // namespace attune::worker
