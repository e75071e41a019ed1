#pragma once
#include <optional>
#include <string>

#include "db/database.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/session/source/backend.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/session/tune/finalists.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// What all rows of one problem's tuning share.
struct RowContext {
  std::string template_hash;
  std::string template_name;
  spec::Problem problem;
  std::string device_key;
  std::string policy;
  std::string driver;
  std::string nvrtc;
  std::string origin;
  std::string measured_at;   ///< UTC; empty: now
  int memory_clock_khz = 0;  ///< of the device; 0: unknown
  std::string objective = db::kTime;
};

/// What a finished problem came to, as its session keeps it.
[[nodiscard]] nlohmann::json summary_of(const RowContext& context, const ProblemResult& result);

[[nodiscard]] db::RecordRow to_row(const RowContext& context, const measure::Measurement& measurement);
/// Throws: Error naming the record when its detail cannot be read.
[[nodiscard]] measure::Measurement to_measurement(const db::RecordRow& row);
/// The same where the row's detail has been parsed already.
[[nodiscard]] measure::Measurement to_measurement(const db::RecordRow& row, const nlohmann::json& detail);

/// The record of a configuration that has run off; nothing when it says so already. Only the stage changes: who measured it, when and
/// with what stays as it was.
[[nodiscard]] std::optional<db::RecordRow> as_run_off(db::RecordRow row);

/// The best row of a decided run-off; the stated work, all rounds and the finalists that were `asked` for go into its detail.
[[nodiscard]] db::BestRow to_best_row(const RowContext& context, const Decided& decided, const RunOffSamples& samples,
                                      const spec::StatedWork& work, const std::optional<CompiledCode>& code,
                                      const std::string& default_configuration, const std::vector<std::string>& asked);

/// Collects what the database holds of a template on one device under one policy, as far as it is of that `origin`, into
/// a recording. A problem of which nothing is there is left out.
/// Throws: UsageError when nothing is there of any.
[[nodiscard]] Recording extract_recording(const db::Database& database, const spec::KernelTemplate& kernel,
                                          const std::vector<spec::Problem>& problems, const std::string& device_key,
                                          const std::string& policy, const std::string& origin);

}  // namespace attune::session
