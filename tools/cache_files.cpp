#include "tools/cache_files.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/simulate/exported_space.hpp"
#include "tuner/simulate/gzip.hpp"
#include "tuner/simulate/imported_space.hpp"

namespace attune::tools {
namespace {

using measure::Outcome;
using nlohmann::json;
using simulate::ExportedResult;
using simulate::ExportedSpace;

std::string named(const spec::DeviceInfo& device) { return fmt::format("{} (key {})", device.name, device.hard_key().substr(0, 12)); }

bool is_called(const spec::DeviceInfo& device, const std::string& text) {
  return text == device.name || text == device.slug() || text == device.hard_key();
}

/// Returns the device that is asked for, out of those that have records; where none is asked for, the only one. `keys`: of these devices.
spec::DeviceInfo device_of(const CacheExport& work, const db::Database& database, const std::set<std::string>& keys) {
  std::vector<spec::DeviceInfo> fitting;
  std::vector<std::string> all;
  for (const auto& row : database.devices()) {
    if (!keys.contains(row.hard_key)) continue;
    auto device = spec::DeviceInfo::from_json(base::parse_json(row.info_json));
    all.push_back(base::escape_line(named(device)));
    if (work.device.empty() || is_called(device, work.device)) fitting.push_back(std::move(device));
  }
  if (fitting.size() == 1) return std::move(fitting.front());
  throw UsageError(fmt::format("failed exporting {}: {}; name one with --device: {}", describe(work.problem),
                               fitting.empty() ? fmt::format("no device '{}' has records of it", work.device)
                                               : "several devices have records of it, and a file holds those of one",
                               fmt::join(all, ", ")));
}

ExportedSpace empty_space(const CacheExport& work, const spec::DeviceInfo& device, const std::string& template_hash,
                          const std::string& policy) {
  ExportedSpace space{work.kernel.name, template_hash, work.problem, {}, device, policy, {}};
  for (const auto& name : work.kernel.size_names()) space.sizes.push_back(work.problem.sizes.at(name));
  return space;
}

ExportedSpace space_of_database(const CacheExport& work) {
  const auto database = db::Database::open(work.database, db::OpenMode::ReadOnly, [] { return !stop_asked(); });
  print_notices(database);
  const std::string policy = work.policy.empty() ? measure::to_text(measure::Policy()) : work.policy;
  const auto rows = database.records({work.kernel.content_hash, std::nullopt, spec::to_text(work.problem), std::nullopt, policy});
  print_damaged(database, work.database);
  if (rows.empty()) {
    throw UsageError(
        fmt::format("failed exporting {}: {} has no record of this version of template '{}' under the policy {}; attune tune or "
                    "attune record makes them",
                    describe(work.problem), base::escape_line(work.database.string()), work.kernel.name, policy));
  }
  std::set<std::string> keys;
  for (const auto& row : rows) keys.insert(row.device_key);
  const auto device = device_of(work, database, keys);
  ExportedSpace space = empty_space(work, device, work.kernel.content_hash, policy);
  for (const auto& row : rows) {
    if (row.device_key != device.hard_key()) continue;
    space.results.push_back({session::to_measurement(row), row.recorded_at, row.driver, row.nvrtc, row.origin});
  }
  return space;
}

ExportedSpace space_of_recording(const CacheExport& work) {
  const auto recording = session::Recording::load(work.recording);
  const auto refuse = [&](const std::string& why) { throw UsageError(fmt::format("failed exporting {}: {}", work.recording, why)); };
  if (recording.template_name != work.kernel.name)
    refuse(fmt::format("it is a recording of {}, not of {}", recording.template_name, work.kernel.name));
  if (!work.device.empty() && !is_called(recording.device, work.device))
    refuse(fmt::format("it is a recording of {}", named(recording.device)));
  if (!work.policy.empty() && recording.policy != work.policy) refuse(fmt::format("it is a recording of the policy {}", recording.policy));
  const auto* problem = recording.find(work.problem);
  if (problem == nullptr) {
    std::vector<std::string> known;
    for (const auto& recorded : recording.problems) known.push_back(spec::to_text(recorded.problem));
    refuse(fmt::format("it holds no such problem; it holds {}", fmt::join(known, ", ")));
  }
  ExportedSpace space = empty_space(work, recording.device, recording.template_hash, recording.policy);
  const std::string origin = recording.imported_from.empty() ? "recording:" + std::filesystem::path(work.recording).filename().string()
                                                             : "imported:" + recording.imported_from;
  for (const auto& measurement : problem->measurements)
    space.results.push_back({measurement, recording.date, recording.device.driver, recording.nvrtc, origin});
  return space;
}

struct Counts {
  std::size_t configurations = 0, failed = 0, screened = 0, unverified = 0, left_out = 0;
};

/// What worked and was not verified goes where only what is verified is asked for.
Counts count(ExportedSpace& space, bool verified_only) {
  Counts counts;
  const auto is_unverified = [](const ExportedResult& result) {
    return result.measurement.outcome == Outcome::Ok && !result.measurement.verified;
  };
  if (verified_only) counts.left_out = std::erase_if(space.results, is_unverified);
  for (const auto& result : space.results) {
    const auto& measurement = result.measurement;
    ++counts.configurations;
    if (measurement.outcome != Outcome::Ok) ++counts.failed;
    if (measurement.outcome == Outcome::Ok && measurement.stage == measure::Stage::Screened) ++counts.screened;
    if (is_unverified(result)) ++counts.unverified;
  }
  return counts;
}

std::string packed(std::string text, const std::string& file) {
  if (file.ends_with(".zst")) return base::compress(text);
  return file.ends_with(".gz") ? simulate::gzip(text) : std::move(text);
}

/// On standard output, or on standard error when the file itself goes to the former.
void print_result(const std::string& output, bool json_output, const json& object, const std::string& text) {
  if (base::is_standard_output(output))
    base::tell("{}\n", base::Lines{json_output ? json_text(object, 1) : text});
  else if (json_output)
    print_json(object, 1);
  else
    base::print("{}\n", base::Lines{text});
}

/// Finds the device in the databases of dispatch and in the one of this command, or takes it for an architecture. `in_file`: what the file
/// names; may be empty.
spec::DeviceInfo device_measured_on(const CacheImport& work, const std::string& in_file) {
  const std::string& text = work.device.empty() ? in_file : work.device;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("failed importing {}: {}; name the device that it was measured on with --device, or an architecture whose "
                    "limits it has, such as sm_90",
                    work.file, why));
  };
  if (text.empty()) refuse("it names no device");
  auto opened = runtime::open_layers({});
  if (std::error_code error; std::filesystem::exists(work.database, error))
    opened.layers.insert(opened.layers.begin(), runtime::open_layer(work.database, true));
  try {
    return runtime::device_by_name(opened.layers, text);
  } catch (const UsageError& error) {
    refuse(error.what());
    throw;
  }
}

}  // namespace

int export_cache(const CacheExport& work) {
  stop_on_signals();
  check_output_target(work.output, work.database);
  ExportedSpace space = work.recording.empty() ? space_of_database(work) : space_of_recording(work);
  const Counts counts = count(space, work.verified_only);
  if (space.results.empty()) {
    throw UsageError(fmt::format("failed exporting {}: nothing of it is verified; without --verified the others are exported too",
                                 describe(work.problem)));
  }
  std::string text = work.format == CacheFormat::KernelTuner ? simulate::kernel_tuner_cache(space) : simulate::t4_results(space);
  write_output_target(work.output, packed(std::move(text), work.output));
  print_result(work.output, work.json_output,
               {{"file", work.output},
                {"device", space.device.name},
                {"configurations", counts.configurations},
                {"failed", counts.failed},
                {"screened", counts.screened},
                {"unverified", counts.unverified},
                {"left_out", counts.left_out}},
               fmt::format("{}: {} configurations of {} {} on {}, of which {} failed, {} were screened only and {} work unverified{}",
                           work.output, counts.configurations, work.kernel.name, describe(work.problem),
                           base::escape_line(space.device.name), counts.failed, counts.screened, counts.unverified,
                           work.verified_only ? fmt::format("; {} unverified ones are left out", counts.left_out) : ""));
  return 0;
}

int import_cache(const CacheImport& work) {
  stop_on_signals();
  check_output_target(work.output, work.database);
  const auto device = [&](const std::string& in_file) { return device_measured_on(work, in_file); };
  const auto imported =
      simulate::import_space(work.file, {work.kernel, work.problem, device, work.policy, [](const auto&) { return !stop_asked(); }});
  imported.recording.save(work.output, throw_when_output_is_stopped);
  const auto& measurements = imported.recording.problems.front().measurements;
  const auto failed = std::count_if(measurements.begin(), measurements.end(), [](const auto& one) { return one.outcome != Outcome::Ok; });
  print_result(work.output, work.json_output,
               {{"file", work.output},
                {"device", imported.recording.device.name},
                {"configurations", measurements.size()},
                {"failed", failed},
                {"left_out", imported.left_out},
                {"space_size", imported.recording.problems.front().space_size}},
               fmt::format("{}: {} of the {} configurations of {} {} on {}, of which {} failed{}", work.output, measurements.size(),
                           imported.recording.problems.front().space_size, work.kernel.name, describe(work.problem),
                           base::escape_line(imported.recording.device.name), failed,
                           imported.left_out > 0 ? fmt::format("; {} that its constraints exclude are left out", imported.left_out) : ""));
  return 0;
}

}  // namespace attune::tools
