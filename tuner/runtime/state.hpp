#pragma once
#include <cuda.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/agreement.hpp"
#include "tuner/runtime/append_table.hpp"
#include "tuner/runtime/code_loader.hpp"
#include "tuner/runtime/code_store.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/runtime/online_tuner.hpp"
#include "tuner/runtime/plan_state.hpp"
#include "tuner/runtime/scratch.hpp"
#include "tuner/runtime/sharded_counter.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

struct ChoiceAlone;

/// What is known of one CUDA context. Keyed by context, not by device: loaded code belongs to a context.
struct ContextState {
  CUcontext context = nullptr;
  int ordinal = 0;  ///< the driver's, of the device
  spec::DeviceInfo device;
  std::map<std::string, runtime::LoadedCode> modules;  ///< by CodeRequest::cache_key
};

}  // namespace attune::runtime

namespace attune::detail {

/// A template with its types and choices fixed, and the plans built for it.
struct KernelState {
  // What every launch reads comes first.
  Runtime::State* runtime = nullptr;
  std::atomic<std::uint64_t> replacements{0};  ///< of plans by better ones: whoever keeps one looks again
  std::vector<std::string> size_names;         ///< in declaration order
  runtime::AppendTable<PlanState> plans;
  std::string asked_name;  ///< as the program asked for the template
  spec::KernelTemplate kernel;
  std::map<std::string, std::string> choices;
  mutable runtime::Evidence evidence;  ///< of decisions; needs the Runtime's mutex

  /// The plan of these sizes in the current context, or null. Lock-free.
  [[nodiscard]] PlanState* find(CUcontext context, const std::int64_t* sizes) const;
  /// Launches that find a plan find `fresh` from now on. Requires: the Runtime's mutex; equal sizes and contexts.
  void replace(const PlanState& stale, PlanState* fresh);
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
  [[nodiscard]] const detail::PlanState& plan(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes);
  /// Sizes recorded for this kernel on the device of the context.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> tuned_sizes(const detail::KernelState& kernel, CUcontext context);
  [[nodiscard]] Decision explain(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes);
  [[nodiscard]] spec::DeviceInfo device_of(CUcontext context);
  [[nodiscard]] spec::DeviceInfo device_named(const std::string& text);
  /// The decision of a plan, and what is being done about it.
  [[nodiscard]] Decision explain(const detail::PlanState& plan);
  [[nodiscard]] std::vector<std::string> notices();
  /// Null unless Options::on_miss tunes.
  [[nodiscard]] const runtime::OnlineTuner* tuner() const { return tuner_.get(); }
  /// Null without Options::agree.
  [[nodiscard]] const runtime::Agreement* agreement() const { return agreement_.get(); }
  /// What this rank tells the others first.
  [[nodiscard]] runtime::RankOpening opening() const;
  /// The opening exchange. Requires: Options::agree is set. Throws: AgreementError, and what the exchange throws.
  void agree_with_ranks(const runtime::RankOpening& opening);

  runtime::ScratchPool scratch;
  runtime::ShardedCounter launches;
  std::atomic<std::uint64_t> plans_built{0};
  std::atomic<std::uint64_t> compiles{0};
  std::atomic<std::uint64_t> database_reads{0};

 private:
  // What a miss leads to: state_tuning.cpp.
  [[nodiscard]] bool tunes() const;
  void make_tuner();
  /// Tunes on a miss, and waits. Must not hold mutex_.
  void tune_first(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes);
  [[nodiscard]] bool still_missing(const runtime::TuningJob& job);
  [[nodiscard]] runtime::TuningOutcome tune(const runtime::TuningJob& job, const std::function<bool()>& stop) const;
  void adopt(const runtime::TuningJob& job, runtime::TuningOutcome& outcome);
  /// Replaces plans of the kernel that would be chosen otherwise now.
  void choose_again(detail::KernelState& kernel);
  void replace_if_better(detail::KernelState& kernel, const detail::PlanState& stale);

  // Plans that ranks agree on: state_agreement.cpp. Must not hold mutex_, as others dispatch while ranks talk.
  [[nodiscard]] const detail::PlanState& agreed_plan(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes);
  [[nodiscard]] runtime::ChoiceAlone choose_alone(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes);

  // Everything below is the slow path's and needs mutex_.
  [[nodiscard]] bool is_miss(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes) const;
  void act_on_miss(detail::KernelState& kernel, const runtime::ContextState& context, const std::int64_t* sizes);
  [[nodiscard]] runtime::TuningJob job_of(detail::KernelState& kernel, const runtime::ContextState& context,
                                          const std::int64_t* sizes) const;
  [[nodiscard]] std::string tuning_key(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes) const;
  /// What is wrong with it; empty when it is open, or is not there.
  [[nodiscard]] std::string reopen_result_layer();
  void keep_in_memory(const db::TunedProblem& tuned);
  [[nodiscard]] runtime::ContextState& context_state(CUcontext context);
  [[nodiscard]] std::unique_ptr<detail::PlanState> build(detail::KernelState& kernel, runtime::ContextState& context,
                                                         const std::int64_t* sizes, runtime::Choice choice);
  /// Launches find it from now on.
  const detail::PlanState& keep(detail::KernelState& kernel, std::unique_ptr<detail::PlanState> built);
  [[nodiscard]] runtime::Choice choose(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes);
  void load(detail::PlanState& plan, const runtime::Choice& choice, runtime::ContextState& context, const std::int64_t* sizes);

  std::atomic<const gpu::Driver*> driver_{nullptr};
  std::mutex mutex_;
  Options options_;
  std::filesystem::path results_;  ///< database that tuning writes into; empty: no place for one is known
  spec::TemplateLibrary library_;
  runtime::OpenedLayers layers_;
  runtime::CodeStore code_;
  std::vector<std::string> refused_code_;  ///< notices: cubins that a driver would not load
  std::vector<std::unique_ptr<runtime::ContextState>> contexts_;
  std::map<std::pair<std::string, std::map<std::string, std::string>>, std::unique_ptr<detail::KernelState>> kernels_;
  std::vector<std::unique_ptr<detail::PlanState>> plans_;
  std::vector<std::string> tuning_notices_;
  bool told_of_memory_ = false;
  std::unique_ptr<runtime::Agreement> agreement_;
  std::filesystem::path worker_;
  std::unique_ptr<runtime::OnlineTuner> tuner_;  ///< last: its thread uses all of the above
};

}  // namespace attune
