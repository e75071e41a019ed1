#include "tools/fleet/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "attune_build/content_hash.hpp"
#include "attune_build/version.hpp"
#include "tools/fleet/balance.hpp"
#include "tools/fleet/expected_time.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("failed making the folder {}: {}", folder.string(), error.message()));
}

/// Nodes have other working directories: folders are named from the root, a template that is a folder too.
TuningOptions settled(TuningOptions options, const spec::KernelTemplate& kernel) {
  std::error_code error;
  if (const fs::path folder = fs::path(kernel.spec_path).parent_path();
      options.template_name.find('/') != std::string::npos || options.template_name == "." || options.template_name == "..") {
    options.template_name = fs::canonical(folder.empty() ? fs::path(".") : folder, error).string();
  }
  for (auto& folder : options.template_folders) folder = fs::canonical(folder, error).string();
  return options;
}

void check_options(const PlanOptions& options, std::size_t problems) {
  if (options.shards == 0 || options.shards > Manifest::kMostShards)
    throw UsageError(fmt::format("--shards {}: a plan has 1 to {} shards", options.shards, Manifest::kMostShards));
  if (options.shards > problems) {
    throw UsageError(
        fmt::format("--shards {}: there are {} problems, and a shard without one would hold a GPU for nothing; give --shards {} or less",
                    options.shards, problems, problems));
  }
  if (options.controls > problems)
    throw UsageError(fmt::format("--overlap {}: there are {} problems; give --overlap {} or less", options.controls, problems, problems));
}

/// One file that every node may read and nobody writes, whatever other processes do with the original.
std::vector<CarriedFile> carry(const std::vector<std::string>& named, const fs::path& folder) {
  std::vector<CarriedFile> carried;
  for (std::size_t i = 0; i < named.size(); ++i) {
    make_folder(folder / "try");
    const bool recording = named[i].ends_with(".json") || named[i].ends_with(".json.zst");
    const std::string suffix = named[i].ends_with(".json.zst") ? ".json.zst" : recording ? ".json" : ".db";
    const std::string name = fmt::format("try/{}{}", i, suffix);
    if (recording) {
      base::write_output(folder / name, base::read_file(named[i]));
    } else {
      std::error_code ignored;  // of one that an interrupted plan left
      fs::remove(folder / name, ignored);
      db::Database::open(named[i], db::OpenMode::ReadOnly).export_to(folder / name);
    }
    carried.push_back({name, base::content_key(base::read_file(folder / name))});
  }
  return carried;
}

std::string problem_lines(const std::vector<spec::Problem>& problems, const std::vector<std::size_t>& controls,
                          const std::vector<std::size_t>& own) {
  std::string lines;
  for (const auto* const list : {&controls, &own}) {
    for (const std::size_t problem : *list) lines += spec::to_text(problems[problem]) + "\n";
  }
  return lines;
}

/// Whether the plan is there already. Throws: UsageError when another one is.
bool is_there(const fs::path& folder, const Manifest& manifest) {
  std::error_code error;
  if (!fs::exists(manifest_path(folder), error)) {
    // Results are known by their names: those of another plan would count as this one's.
    for (const auto& entry : fs::directory_iterator(folder / "results", error)) {
      throw UsageError(fmt::format("failed planning into {}: results of a plan that is no longer there are in it ({}); name a new folder",
                                   folder.string(), entry.path().filename().string()));
    }
    return false;
  }
  if (base::read_file(manifest_path(folder)) == manifest.text()) return true;
  throw UsageError(
      fmt::format("failed planning into {}: another plan is there, and its results may be as well; name a new folder, or remove that one",
                  folder.string()));
}

void print_plan(const PlanOptions& options, const Manifest& manifest, bool was_there) {
  const auto seconds = [](const ShardEntry& a, const ShardEntry& b) { return a.expected_s < b.expected_s; };
  const auto [least, most] = std::minmax_element(manifest.shards.begin(), manifest.shards.end(), seconds);
  if (options.tuning.json) {
    print_json({{"folder", options.folder.string()},
                {"plan", manifest.key()},
                {"was_there", was_there},
                {"problems", manifest.problems},
                {"shards", manifest.shards.size()},
                {"controls", manifest.controls},
                {"expected_s", {{"least", least->expected_s}, {"most", most->expected_s}}}},
               1);
    return;
  }
  base::print("{}: {} problems in {} shards of about {:.0f} to {:.0f} s each{}\n", options.folder.string(), manifest.problems,
              manifest.shards.size(), least->expected_s, most->expected_s, was_there ? "; the plan was there already" : "");
  if (manifest.controls > 0)
    base::print("every shard also tunes {} control problem(s), by which its device is compared\n", manifest.controls);
  base::print("next: attune fleet run {} --shard 0, or attune fleet sbatch {}\n", options.folder.string(), options.folder.string());
}

}  // namespace

int plan_fleet(const PlanOptions& options, const std::vector<std::string>& arguments) {
  if (options.folder.empty()) throw UsageError("--output names no folder");
  const auto& tuning = options.tuning;
  const spec::TemplateLibrary library({tuning.template_folders.begin(), tuning.template_folders.end()});
  const auto kernel = named_template(library, tuning.template_name);
  const auto problems = problems_of(kernel, tuning.problems_file, arguments);
  check_request(tuning, problems);
  check_options(options, problems.size());
  const auto where = conditions_of(tuning, kernel);
  const auto device = spec::DeviceInfo::of_architecture(options.architecture);
  const auto seconds = expected_seconds(kernel, problems, where, session::Budget::parse(tuning.budget), device);
  const Balance shares = balance(seconds, options.shards, options.shards == 1 ? 0 : options.controls);

  Manifest manifest;
  manifest.attune_version = build::kVersion;
  manifest.attune_content = build::kContentHash;
  manifest.template_hash = kernel.content_hash;
  manifest.options = settled(tuning, kernel);
  manifest.problems = problems.size();
  manifest.controls = shares.controls.size();
  std::vector<std::string> files;
  for (std::size_t i = 0; i < options.shards; ++i) {
    files.push_back(problem_lines(problems, shares.controls, shares.shards[i]));
    manifest.shards.push_back({fmt::format("shards/{:04}.jsonl", i), base::content_key(files.back()),
                               shares.controls.size() + shares.shards[i].size(), std::round(shares.seconds[i] * 1e3) / 1e3});
  }
  make_folder(options.folder / "shards");
  // What is carried decides whether the plan is the same: copies are made beside a plan that is there, and go again.
  const bool planned = fs::exists(manifest_path(options.folder));
  const fs::path carried_to = planned ? options.folder / "shards" / ".carried" : options.folder;
  manifest.carried = carry(tuning.also_try, carried_to);
  if (planned) fs::remove_all(carried_to);
  if (is_there(options.folder, manifest)) {
    print_plan(options, manifest, true);
    return 0;
  }
  make_folder(options.folder / "results");
  for (std::size_t i = 0; i < files.size(); ++i) base::write_output(options.folder / manifest.shards[i].file, files[i]);
  base::write_output(manifest_path(options.folder), manifest.text());
  print_plan(options, manifest, false);
  return 0;
}

}  // namespace attune::tools
