#pragma once
#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/append_table.hpp"
#include "tuner/runtime/code_loader.hpp"
#include "tuner/runtime/code_store.hpp"
#include "tuner/runtime/ladder.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/plan_state.hpp"
#include "tuner/runtime/scratch.hpp"
#include "tuner/runtime/sharded_counter.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// What is known of one CUDA context. Keyed by context, not by device: loaded code belongs to a context.
struct ContextState {
  CUcontext context = nullptr;
  spec::DeviceInfo device;
  std::map<std::string, runtime::LoadedCode> modules;  ///< by CodeRequest::cache_key
};

}  // namespace attune::runtime

namespace attune::detail {

/// A template with its types and choices fixed, and the plans built for it.
struct KernelState {
  Runtime::State* runtime = nullptr;
  spec::KernelTemplate kernel;
  std::map<std::string, std::string> choices;
  std::vector<std::string> size_names;  ///< in declaration order
  runtime::AppendTable<PlanState> plans;

  /// The plan of these sizes in the current context, or null. Lock-free.
  [[nodiscard]] PlanState* find(CUcontext context, const std::int64_t* sizes) const;
  /// Throws: UsageError when `count` is not the template's number of sizes.
  void check_size_count(std::size_t count) const;
  [[nodiscard]] spec::Problem problem(const std::int64_t* sizes) const;
  [[nodiscard]] std::string title(const std::int64_t* sizes) const;  ///< "kernel 'reduce' at {...}"
};

}  // namespace attune::detail

namespace attune {

struct Runtime::State {
  explicit State(const Options& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] detail::KernelState* kernel(const std::string& name, const std::map<std::string, std::string>& choices);
  [[nodiscard]] const gpu::Driver& driver();
  /// Throws: EnvironmentError (no driver), UsageError when no context is current.
  [[nodiscard]] CUcontext current_context();
  /// Finds or builds. Takes the mutex only to build.
  [[nodiscard]] const detail::PlanState& plan(detail::KernelState& kernel, CUcontext context,
                                              const std::int64_t* sizes);
  /// Sizes recorded for this kernel on the device of the context.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> tuned_sizes(const detail::KernelState& kernel,
                                                                   CUcontext context);
  [[nodiscard]] Decision explain(const detail::KernelState& kernel, const spec::DeviceInfo& device,
                                 const std::int64_t* sizes);
  [[nodiscard]] spec::DeviceInfo device_of(CUcontext context);
  [[nodiscard]] spec::DeviceInfo device_named(const std::string& text);
  [[nodiscard]] std::vector<std::string> notices();

  runtime::ScratchPool scratch;
  runtime::ShardedCounter launches;
  std::atomic<std::uint64_t> plans_built{0};
  std::atomic<std::uint64_t> compiles{0};
  std::atomic<std::uint64_t> database_reads{0};

 private:
  // Everything below is the slow path's and needs mutex_.
  [[nodiscard]] runtime::ContextState& context_state(CUcontext context);
  [[nodiscard]] std::unique_ptr<detail::PlanState> build(detail::KernelState& kernel, runtime::ContextState& context,
                                                         const std::int64_t* sizes);
  [[nodiscard]] runtime::Choice choose(const detail::KernelState& kernel, const spec::DeviceInfo& device,
                                       const std::int64_t* sizes);
  void load(detail::PlanState& plan, const runtime::Choice& choice, runtime::ContextState& context,
            const std::int64_t* sizes);

  std::atomic<const gpu::Driver*> driver_{nullptr};
  std::mutex mutex_;
  std::string policy_;
  spec::TemplateLibrary library_;
  runtime::OpenedLayers layers_;
  runtime::CodeStore code_;
  std::vector<std::string> refused_code_;  ///< notices: cubins that a driver would not load
  std::vector<std::unique_ptr<runtime::ContextState>> contexts_;
  std::map<std::pair<std::string, std::map<std::string, std::string>>, std::unique_ptr<detail::KernelState>> kernels_;
  std::vector<std::unique_ptr<detail::PlanState>> plans_;
};

}  // namespace attune
