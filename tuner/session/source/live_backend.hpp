#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/compile/compile_pool.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/source/compile_patience.hpp"
#include "tuner/session/source/required_code.hpp"
#include "tuner/session/source/search_end.hpp"

namespace attune::session {

/// Measures on a GPU: compile workers and one GPU worker, both spawned; this process holds no CUDA context.
/// A configuration is compiled, verified and timed in a first visit; unless that drops it, it is visited again after
/// other configurations had their turn, so that drift between moments shows in its interval.
class LiveBackend : public Backend {
 public:
  struct Options {
    std::filesystem::path worker;  ///< the `attune` executable
    int compile_workers = 2;
    std::vector<int> compile_cpus;  ///< cores that may compile (base::plan_cpus); empty: all
    std::chrono::milliseconds compile_deadline{60000};
    std::filesystem::path cache;  ///< cubin cache folder; empty: none
  };

  /// Throws: EnvironmentError (no NVRTC, no worker executable).
  LiveBackend(const Options& options, std::unique_ptr<measure::GpuExecutor> gpu);

  [[nodiscard]] const spec::DeviceInfo& device() const override { return gpu_->device(); }
  [[nodiscard]] std::string nvrtc_build() const override { return compilers_.nvrtc_build(); }
  [[nodiscard]] std::string origin() const override { return "measured"; }
  [[nodiscard]] double read_ceiling_bytes_per_s() override;
  void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) override;
  [[nodiscard]] bool wants_more() const override;
  void submit(const spec::Configuration& configuration) override;
  [[nodiscard]] std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t in_flight() const override { return entries_.size(); }
  void abandon() override;
  void end_by(std::optional<std::chrono::steady_clock::time_point> when) override;
  void let_go_unverified(bool may) override { may_let_go_ = may; }
  [[nodiscard]] bool time_is_up() const override { return entries_.empty() && !another_fits(); }
  [[nodiscard]] std::optional<RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists, const Race::Options& race,
                                                     std::uint64_t seed) override;
  [[nodiscard]] std::optional<CompiledCode> code(const spec::Configuration& configuration) override;
  [[nodiscard]] Utilisation utilisation() const override;
  [[nodiscard]] Sentinel sentinel() const override { return sentinel_; }
  [[nodiscard]] std::vector<std::string> take_warnings() override;
  /// GPU workers that had to be replaced so far.
  [[nodiscard]] int replacements() const noexcept { return gpu_->replacements(); }

 private:
  /// One configuration on its way.
  struct Entry {
    spec::Configuration configuration;
    measure::Measurement measurement;
    std::shared_ptr<const compile::CompileResult> compiled;
    std::vector<std::vector<double>> visits;
    int calls_per_sample = 0;
    std::uint64_t due = 0;  ///< not to be visited again before this many visits have been made
    double visit_s = 0;     ///< what the last visit took the GPU worker
    [[nodiscard]] double expected_visit_s(const SearchEnd& end) const { return visits.empty() ? end.first_visit.value() : visit_s; }
  };

  using EntryPtr = std::shared_ptr<Entry>;

  using Clock = std::chrono::steady_clock;

  [[nodiscard]] compile::CompileRequest request_for(const spec::Configuration& configuration) const;
  /// Null: not by `until`, or `goes_on` said no; what was under way is ended.
  [[nodiscard]] std::shared_ptr<const compile::CompileResult> compile_by(const spec::Configuration& configuration,
                                                                         std::optional<Clock::time_point> until,
                                                                         const std::function<bool()>& goes_on);
  void take_compiled();
  void note_compile_time(double seconds);
  void take_visits();
  void take_visit(measure::VisitReply reply);
  void note_sentinel(double median_us);
  void feed_gpu();
  void account();
  void drain();
  void wait(std::chrono::milliseconds timeout) const;
  [[nodiscard]] EntryPtr next_entry();
  /// Whether one that is submitted now is expected to be measured in time.
  [[nodiscard]] bool another_fits() const { return end_.allows(end_.compile.value() + end_.first_visit.value()); }
  [[nodiscard]] bool nothing_ends_in_time() const;
  /// Settles what was sampled, and ends what is under way.
  void end_here();
  [[nodiscard]] bool sentinel_is_due() const;
  [[nodiscard]] bool start_visit(const EntryPtr& entry);
  /// What is decided is told before a lost worker is replaced, which may take long, or fail.
  [[nodiscard]] bool may_ask_gpu() const { return gpu_->running() || finished_.empty(); }
  /// What may have to wait until a lost worker is replaced. False when there was no time for that, or an interruption: it ends here.
  template <class Ask>
  [[nodiscard]] bool gpu_is_there(const Ask& ask);
  void settle(const EntryPtr& entry);

  compile::CompilePool compilers_;
  std::unique_ptr<measure::GpuExecutor> gpu_;
  RequiredCode required_;
  const spec::KernelTemplate* kernel_ = nullptr;
  spec::Problem problem_;
  std::string default_text_;
  std::unordered_map<std::uint64_t, EntryPtr> compiling_;  ///< by ticket
  std::unordered_map<Entry*, EntryPtr> entries_;           ///< everything between submit and collect
  std::deque<EntryPtr> ready_;                             ///< compiled, not visited
  std::deque<EntryPtr> again_;                             ///< visited, to be visited again; ordered by `due`
  std::deque<EntryPtr> visiting_;                          ///< handed to the GPU worker, in its order
  EntryPtr sentinel_entry_;                                ///< visited for ever; in none of the lists above
  Sentinel sentinel_;
  Clock::time_point prepared_at_;
  Clock::time_point sentinel_at_;
  std::vector<measure::Measurement> finished_;
  std::uint64_t visits_made_ = 0;
  double best_us_ = 0;
  double gpu_busy_s_ = 0;
  double verifying_s_ = 0;  ///< of that
  double compile_busy_before_s_ = 0;
  std::uint64_t compilations_before_ = 0;
  double recovering_before_s_ = 0;
  double waiting_s_ = 0;  ///< of the GPU worker, for compiled work
  std::optional<Clock::time_point> waiting_since_;
  SearchEnd end_;                                    ///< by the budget
  SearchEnd::Mean visit_calls_;                      ///< how many calls' time a first visit takes that verifies
  std::optional<Clock::time_point> compiles_until_;  ///< after the search: of the last run-off
  bool unprepared_ = false;                          ///< preparing was stopped before there was what to measure with
  std::optional<CompilePatience> patience_;
  bool may_let_go_ = false;
  bool measures_power_ = false;  ///< some metric, or the objective, needs it
  double read_ceiling_ = -1;
  std::string ceiling_warning_;  ///< not told yet
};

}  // namespace attune::session
