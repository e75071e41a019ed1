// attune layer: a read-only database layer out of recordings; how the shipped database is made.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/layer.hpp"

namespace attune::tools {
namespace {

struct LayerOptions {
  std::vector<std::string> recordings;
  std::string output;
};

void fill(db::Database& layer, const std::vector<session::LayerSource>& sources) {
  const auto rows = session::layer_rows(sources);
  db::Database::Batch batch(layer);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [recording, path, kernel] = sources[i];
    layer.put(db::DeviceRow{recording.device.hard_key(), recording.device.hard_json(), base::dump_json(recording.device.to_json())});
    layer.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files});
    for (const auto& row : rows.best[i]) layer.put(row);
    fmt::print("{}: {} best configurations\n", std::filesystem::path(path).filename().string(), rows.best[i].size());
  }
  for (const auto& record : rows.records) layer.put(record);
  batch.commit();
}

/// A folder that is gone when its owner is, whatever happens.
struct ScratchFolder {
  std::filesystem::path path;
  explicit ScratchFolder(std::filesystem::path folder) : path(std::move(folder)) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;  // a folder that cannot be removed must not turn a finished layer into a failure
    std::filesystem::remove_all(path, ignored);
  }
};

int build_layer(const LayerOptions& options) {
  std::vector<session::LayerSource> sources;
  for (const auto& path : options.recordings) {
    auto recording = session::Recording::load(path);
    auto kernel = spec::TemplateLibrary().find(recording.template_name);
    sources.push_back({std::move(recording), path, std::move(kernel)});
  }
  const auto output = std::filesystem::absolute(options.output);
  const ScratchFolder scratch(output.parent_path() / (output.filename().string() + ".making"));
  auto layer = db::Database::open(scratch.path / "layer.db", db::OpenMode::ReadWrite);
  fill(layer, sources);
  const auto exported = scratch.path / "exported.db";
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
