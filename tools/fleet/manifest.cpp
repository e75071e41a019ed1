#include "tools/fleet/manifest.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/base/bounded_file.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_check.hpp"
#include "tuner/base/json_fields.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json optional_count(const std::optional<int>& count) { return count ? json(*count) : json(nullptr); }

std::optional<int> optional_count(const base::JsonFields& fields, const char* name) {
  if (fields.at(name).is_null()) return std::nullopt;
  return fields.integer<int>(name, 1, 1000);
}

json options_json(const TuningOptions& options) {
  return {{"template", options.template_name},
          {"template_folders", options.template_folders},
          {"strategy", options.strategy},
          {"budget", options.budget},
          {"seed", options.seed},
          {"policy", options.policy},
          {"compile_timeout", options.compile_timeout},
          {"where", options.where},
          {"finalists", optional_count(options.finalists)},
          {"epochs", optional_count(options.epochs)},
          {"retry_failed", options.retry_failed}};
}

TuningOptions read_options(const base::JsonFields& fields) {
  TuningOptions options;
  options.template_name = fields.text("template");
  options.template_folders = fields.texts("template_folders");
  options.strategy = fields.text("strategy");
  options.budget = fields.text("budget");
  options.seed = fields.integer<std::uint64_t>("seed");
  options.policy = fields.text("policy");
  options.compile_timeout = fields.text("compile_timeout");
  options.where = fields.texts("where");
  options.finalists = optional_count(fields, "finalists");
  options.epochs = optional_count(fields, "epochs");
  options.retry_failed = fields.flag("retry_failed");
  return options;
}

/// A file of the plan's folder. A manifest may come from anybody, and is not to lead out of it.
std::string read_file_name(const base::JsonFields& fields) {
  std::string name = fields.text("file", 256);
  const fs::path path(name);
  bool leads_out = path.is_absolute() || name.empty();
  for (const auto& part : path) leads_out = leads_out || part == "..";
  if (leads_out) fields.fail("file", "a name within the plan's folder", fields.at("file"));
  return name;
}

template <class Read>
void for_each_object(const base::JsonFields& fields, const char* name, Read&& read) {
  const json& list = fields.array(name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) fields.fail(name, "a list of objects", list[i]);
    read(base::JsonFields(list[i], "", fmt::format("{}[{}].", name, i)));
  }
}

Manifest read_manifest(const base::JsonFields& fields) {
  Manifest manifest;
  if (const int format = fields.integer<int>("attune_fleet"); format != Manifest::kFormat) {
    fields.fail(fmt::format("it is of format {}, and this attune reads format {}; plan again, or run the attune that planned it", format,
                            Manifest::kFormat));
  }
  manifest.attune_version = fields.text("version");
  manifest.attune_content = fields.text("content");
  manifest.template_hash = fields.text("template_hash");
  manifest.options = read_options(fields.object("options"));
  manifest.problems = fields.integer<std::size_t>("problems", 1);
  manifest.controls = fields.integer<std::size_t>("controls", 0, manifest.problems);
  for_each_object(fields, "carried", [&](const base::JsonFields& one) {
    manifest.carried.push_back({read_file_name(one), one.text("key", 64), one.integer<std::uint64_t>("bytes")});
  });
  for_each_object(fields, "shards", [&](const base::JsonFields& one) {
    manifest.shards.push_back(
        {read_file_name(one), one.text("key", 64), one.integer<std::size_t>("problems", 1), one.number("expected_s")});
  });
  if (manifest.shards.empty() || manifest.shards.size() > Manifest::kMostShards)
    fields.fail(fmt::format("field 'shards' has {} shards; a plan has 1 to {}", manifest.shards.size(), Manifest::kMostShards));
  return manifest;
}

}  // namespace

Manifest Manifest::load(const fs::path& folder) {
  const fs::path path = manifest_path(folder);
  std::error_code error;
  const auto type = fs::status(path, error).type();
  // A file server that is away says nothing of the plan, and the next try may find it.
  if (type == fs::file_type::none) throw EnvironmentError(fmt::format("failed reading the plan {}: {}", path.string(), error.message()));
  if (type != fs::file_type::regular) {
    throw UsageError(fmt::format("failed reading the plan {}: there is no such file; `attune fleet plan ... -o {}` makes one",
                                 path.string(), folder.string()));
  }
  return parse(base::read_bounded_file(path, kMostBytes), path.string());
}

Manifest Manifest::parse(const std::string& text, const std::string& file) {
  if (const auto fault = base::find_json_fault(text, {})) throw SpecError(file, fault->line, fault->column, fault->what);
  const json object = base::parse_json(text);
  try {
    if (!object.is_object()) throw Error("it is no JSON object");
    return read_manifest(base::JsonFields(object, ""));
  } catch (const Error& error) {
    throw SpecError(file, 0, 0, fmt::format("failed reading the plan: {}", error.what()));
  }
}

std::string Manifest::text() const {
  json files = json::array(), list = json::array();
  for (const auto& one : carried) files.push_back({{"file", one.file}, {"key", one.key}, {"bytes", one.bytes}});
  for (const auto& one : shards) {
    list.push_back({{"file", one.file}, {"key", one.key}, {"problems", one.problems}, {"expected_s", one.expected_s}});
  }
  const json object = {{"attune_fleet", kFormat},        {"version", attune_version},        {"content", attune_content},
                       {"template_hash", template_hash}, {"options", options_json(options)}, {"problems", problems},
                       {"controls", controls},           {"carried", std::move(files)},      {"shards", std::move(list)}};
  return base::dump_json(object, 1) + "\n";
}

std::string Manifest::key() const { return base::content_key(text()); }

const ShardEntry& Manifest::shard(std::size_t number) const {
  if (number < shards.size()) return shards[number];
  throw UsageError(fmt::format("there is no shard {}: the plan has shards 0 to {}", number, shards.size() - 1));
}

fs::path manifest_path(const fs::path& folder) { return folder / "manifest.json"; }
std::string shard_name(std::size_t number) { return fmt::format("shard-{:04}", number); }
fs::path finished_path(const fs::path& folder, std::size_t number) { return folder / "results" / (shard_name(number) + ".db"); }
fs::path partial_path(const fs::path& folder, std::size_t number) { return folder / "results" / (shard_name(number) + ".part.db"); }
fs::path runs_path(const fs::path& folder, std::size_t number) { return folder / "results" / (shard_name(number) + ".runs.jsonl"); }

}  // namespace attune::tools
