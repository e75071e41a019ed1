// attune layer: a read-only database layer out of recordings; how the shipped database is made.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tuner/session/replay_backend.hpp"
#include "tuner/session/session.hpp"

namespace attune::tools {
namespace {

struct LayerOptions {
  std::vector<std::string> recordings;
  std::string output;
};

/// Replays one recording whole and keeps its best rows, with the dates of the measurements rather than today's.
std::size_t add_recording(const std::string& path, db::Database& scratch, db::Database& layer) {
  auto recording = session::Recording::load(path);
  const auto kernel = spec::TemplateLibrary().find(recording.template_name);
  session::TuneRequest request;
  request.policy = measure::policy_from_text(recording.policy);
  for (const auto& problem : recording.problems) request.problems.push_back(problem.problem);
  const std::string date = recording.date;
  session::ReplayBackend backend(std::move(recording), path, kernel);
  const auto result = session::tune(kernel, request, backend, scratch, {});
  const auto& device = backend.device();
  db::Database::Batch batch(layer);
  layer.put(db::DeviceRow{device.hard_key(), device.hard_json(), device.to_json().dump()});
  layer.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text});
  std::size_t added = 0;
  for (const auto& problem : result.problems) {
    if (!problem.best) continue;
    db::BestRow best = *problem.best;
    best.recorded_at = date;
    layer.put(best);
    ++added;
  }
  batch.commit();
  return added;
}

int build_layer(const LayerOptions& options) {
  const std::filesystem::path output = options.output;
  const auto folder = output.parent_path() / (output.filename().string() + ".making");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  struct Remove {
    std::filesystem::path path;
    ~Remove() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } remove_folder{folder};
  auto scratch = db::Database::open(folder / "scratch.db", db::OpenMode::ReadWrite);
  auto layer = db::Database::open(folder / "layer.db", db::OpenMode::ReadWrite);
  for (const auto& path : options.recordings) {
    fmt::print("{}: {} best configurations\n", std::filesystem::path(path).filename().string(), add_recording(path, scratch, layer));
  }
  const auto exported = folder / "exported.db";
  layer.export_to(exported);
  std::filesystem::rename(exported, output);
  return 0;
}

}  // namespace

void add_layer_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<LayerOptions>();
  auto* command = app.add_subcommand("layer", "Build a read-only database layer (best configurations) from recordings");
  command->add_option("recordings", options->recordings, "Recording files (FILE.json.zst)")->required();
  command->add_option("--output,-o", options->output, "Database file to write; replaced in one step")->required();
  command->callback([options, &context] { context.action = [options] { return build_layer(*options); }; });
}

}  // namespace attune::tools
