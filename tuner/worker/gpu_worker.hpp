#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tuner/base/channel.hpp"
#include "tuner/gpu/nvml.hpp"
#include "tuner/measure/visit.hpp"
#include "tuner/verify/verifier.hpp"
#include "tuner/worker/timer.hpp"

namespace attune::worker {

/// The worker's side of the protocol (messages.hpp): owns the device, answers requests one by one. A configuration that
/// fails is an answer; after an error that ruins the context the answer says "fatal" and the process must end.
class GpuWorker {
 public:
  /// Throws: EnvironmentError (no driver), UsageError (no such device).
  explicit GpuWorker(int device);

  struct Answer {
    nlohmann::json message;
    bool fatal = false;
  };
  /// Never throws attune's errors: they become answers.
  [[nodiscard]] Answer handle(const nlohmann::json& request, base::Channel& channel);
  [[nodiscard]] const spec::DeviceInfo& device() const noexcept { return device_; }

 private:
  void load_support(const nlohmann::json& request);
  nlohmann::json prepare(const nlohmann::json& request);
  nlohmann::json visit(const nlohmann::json& request);
  nlohmann::json run_off(const nlohmann::json& request, base::Channel& channel);
  nlohmann::json race(const nlohmann::json& request, base::Channel& channel);
  nlohmann::json read_ceiling(const nlohmann::json& request);
  measure::VisitReply visit_with_room(const measure::VisitRequest& request);
  measure::VisitReply visit_configuration(const measure::VisitRequest& request);
  /// Whether two calls leave a costly configuration a chance to be the best: a guarded one, then one that is timed as all are. Verifying it
  /// would be many. If not, `reply` says how it ended.
  [[nodiscard]] bool may_win(Prepared& prepared, double best_us, measure::VisitReply& reply);
  /// What a first call may take of a configuration that is not behind the best.
  [[nodiscard]] static double may_take_us(const Prepared& prepared, double best_us);
  /// Unverified, known by this one call.
  static void let_go(measure::VisitReply& reply, double call_us);
  /// `reply`, of wrong results.
  measure::VisitReply reject(measure::VisitReply& reply, const std::string& detail);
  std::vector<Prepared*> prepare_afresh(const std::vector<measure::VisitRequest>& visits, const std::vector<std::size_t>& order,
                                        int first_window);
  /// After a configuration that may have written anywhere, also into the scratch of others.
  void spoil();
  measure::VisitReply judge_failure(const std::exception& error);
  [[nodiscard]] Prepared& prepared_for(const measure::VisitRequest& request);

  spec::DeviceInfo device_;  // read first: it explains a missing driver or ordinal
  std::optional<gpu::Nvml> nvml_;
  gpu::Context context_;
  gpu::Stream stream_;
  std::unique_ptr<verify::Support> support_;
  PreparedCache cache_;
  std::unique_ptr<GpuProblem> problem_;
  std::unique_ptr<verify::Verifier> verifier_;
  std::unique_ptr<Timer> timer_;
};

/// Main of `attune worker-gpu`: owns context, buffers and modules; answers on the worker channel.
int gpu_worker_main();

}  // namespace attune::worker
