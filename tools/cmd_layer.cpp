// attune layer: a read-only database layer out of recordings; how the shipped database is made.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tools/output_target.hpp"
#include "tools/scratch_folder.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/tune/layer.hpp"

namespace attune::tools {
namespace {

struct LayerOptions {
  std::vector<std::string> recordings;
  std::string output;
};

/// What to say of it.
std::string fill(db::Database& layer, const std::vector<session::LayerSource>& sources) {
  const auto rows = session::layer_rows(sources);
  db::Database::Batch batch(layer);
  std::string told;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [recording, path, kernel] = sources[i];
    layer.put(db::DeviceRow{recording.device.hard_key(), recording.device.hard_json(), base::dump_json(recording.device.to_json())});
    layer.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files});
    for (const auto& row : rows.best[i]) layer.put(row);
    told += fmt::format("{}: {} best configurations\n", base::escape_line(std::filesystem::path(path).filename().string()),
                        rows.best[i].size());
  }
  for (const auto& record : rows.records) layer.put(record);
  batch.commit();
  return told;
}

/// A layer takes the place of an older one, and of no other database. One that is tuned into shows by its header, which asks for a
/// write-ahead log as a layer's never does; by what its writers keep beside it; and, where neither tells (on a network file system the
/// header is a layer's, and a copy has nothing beside it), by its sessions: a layer has none.
void check_layer_target(const std::string& output) {
  const auto refuse = [&](const std::string& what) {
    throw UsageError(fmt::format("failed writing {}: {}; name another file", output, what));
  };
  std::error_code error;
  const std::string place = base::output_place(output).string();
  for (const char* suffix : {"-wal", "-journal", ".lock"}) {
    if (!place.empty() && std::filesystem::exists(place + suffix, error))
      refuse(fmt::format("it is a database in use, with '{}{}' beside it", place, suffix));
  }
  if (!std::filesystem::is_regular_file(output, error)) return;
  constexpr std::size_t kWriteVersionAt = 18;
  std::ifstream stream(output, std::ios::binary);
  std::string start(kWriteVersionAt + 1, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (!stream || !start.starts_with("SQLite format 3")) return;
  if (place.empty()) refuse("it is a database, and a descriptor is written to at its place in the file");
  if (start[kWriteVersionAt] != 1) refuse("it is a database that is tuned into, no layer");
  try {
    const auto old = db::Database::open(place, db::OpenMode::ReadOnly);
    // A damaged session is one as well.
    if (!old.sessions({}).empty() || old.bad_rows() > 0) refuse("it is a database that is tuned into, no layer: it has sessions of tuning");
  } catch (const DatabaseError& failure) {
    refuse(fmt::format("it is a database that cannot be read as a layer ({})", failure.what()));
  }
}

/// Throws: SpecError naming the recording.
spec::KernelTemplate template_of(const session::Recording& recording, const std::string& path) {
  try {
    return spec::TemplateLibrary().find(recording.template_name);
  } catch (const UsageError& failure) {
    throw SpecError(path, 0, 0, fmt::format("failed reading the recording: {}", failure.what()));
  }
}

int build_layer(const LayerOptions& options) {
  std::vector<session::LayerSource> sources;
  for (const auto& path : options.recordings) {
    auto recording = session::Recording::load(path);
    auto kernel = template_of(recording, path);
    sources.push_back({std::move(recording), path, std::move(kernel)});
  }
  check_layer_target(options.output);
  base::check_output(options.output);
  const ScratchFolder scratch;
  auto layer = db::Database::open(scratch.path() / "layer.db", db::OpenMode::ReadWrite);
  const auto told = fill(layer, sources);
  const auto exported = scratch.path() / "exported.db";
  layer.export_to(exported);
  const bool on_standard_output = base::is_standard_output(options.output);
  write_output_target(options.output, base::read_file(exported));
  if (!on_standard_output) base::print("{}", base::Lines{told});
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
