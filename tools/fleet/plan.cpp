#include "tools/fleet/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "attune/error.hpp"
#include "attune_build/content_hash.hpp"
#include "attune_build/version.hpp"
#include "tools/fleet/balance.hpp"
#include "tools/fleet/expected_time.hpp"
#include "tools/fleet/plan_files.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/bounded_file.hpp"
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
  if (options.controls > problems)
    throw UsageError(fmt::format("--overlap {}: there are {} problems; give --overlap {} or less", options.controls, problems, problems));
  // Of one shard nothing is compared. In a plan of several each needs a problem besides those that all of them have.
  const std::size_t divided = options.shards == 1 ? problems : problems - options.controls;
  if (options.shards <= divided) return;
  const std::string why = divided == problems ? fmt::format("there are {} problems", problems)
                                              : fmt::format("of {} problems {} are in every shard (--overlap), and {} are divided",
                                                            problems, problems - divided, divided);
  const std::string or_else = options.shards <= problems ? fmt::format(", or --overlap {}", problems - options.shards) : "";
  throw UsageError(
      fmt::format("--shards {}: {}, and a shard without one of its own would hold a GPU for nothing; give --shards {} or less{}",
                  options.shards, why, std::max<std::size_t>(divided, 1), or_else));
}

/// What a task of the longest shard would refuse. A time is each problem's: of all problems together it has to be a budget too.
/// Throws: UsageError.
void check_shards(const std::string& budget, const Manifest& manifest, const std::vector<std::string>& files) {
  std::size_t most = 0;
  for (const auto& shard : manifest.shards) most = std::max(most, shard.problems);
  try {
    static_cast<void>(session::Budget::parse(budget_of_problems(budget, most)));
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "--budget {}: a time is each problem's, and that of the {} problems of one shard is longer than a command may take; give less, or "
        "more --shards",
        budget, most));
  }
  for (const auto& text : files) {
    if (text.size() > kMostProblemBytes)
      throw UsageError(
          fmt::format("--shards {}: the problems of one take more than {} MiB; give more", files.size(), kMostProblemBytes >> 20));
  }
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
    carried.push_back({name, key_of_file(folder / name), fs::file_size(folder / name)});
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
    // Searches of the same problems by another plan would count as this one's, whatever their budget was.
    for (const auto& entry : fs::directory_iterator(folder / "results", error)) {
      throw UsageError(fmt::format("failed planning into {}: results of a plan that is no longer there are in it ({}); name a new folder",
                                   folder.string(), entry.path().filename().string()));
    }
    return false;
  }
  if (base::read_bounded_file(manifest_path(folder), Manifest::kMostBytes) == manifest.text()) return true;
  throw UsageError(
      fmt::format("failed planning into {}: another plan is there, and its results may be as well; name a new folder, or remove that one",
                  folder.string()));
}

/// Writes again what of the plan is missing, or is not what the manifest names. Returns how many files.
std::size_t restore(const fs::path& folder, const Manifest& manifest, const std::vector<std::string>& files, const fs::path& carried) {
  std::size_t restored = 0;
  const auto is_to_be_written = [&](const std::string& file, const std::string& key) {
    const fs::path path = folder / file;
    std::error_code error;
    if (fs::is_regular_file(path, error) && key_of_file(path) == key) return false;
    if (const auto kind = fs::symlink_status(path, error).type(); kind != fs::file_type::regular && kind != fs::file_type::not_found)
      fs::remove(path, error);  // a pipe would be written into, and a link to wherever it leads
    ++restored;
    return true;
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& entry = manifest.shards[i];
    if (is_to_be_written(entry.file, entry.key)) base::write_output(folder / entry.file, files[i]);
  }
  if (!manifest.carried.empty()) make_folder(folder / "try");
  for (const auto& one : manifest.carried) {
    if (is_to_be_written(one.file, one.key)) copy_whole(carried / one.file, folder / one.file);
  }
  return restored;
}

/// A folder that goes again, however the work in it ends.
struct Passing {
  explicit Passing(fs::path folder) : path(std::move(folder)) {}
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;
  ~Passing() {
    std::error_code ignored;  // what stays of it harms nobody
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  fs::path path;
};

/// Returns how many files of a plan that was there were missing or damaged; nothing for a new plan. `manifest` gets what is carried.
std::optional<std::size_t> write_plan(const PlanOptions& options, Manifest& manifest, const std::vector<std::string>& files) {
  make_folder(options.folder / "shards");
  // What is carried decides whether the plan is the same: copies are made beside a plan that is there, and go again.
  const Passing beside(fs::exists(manifest_path(options.folder)) ? options.folder / "shards" / ".carried" : fs::path());
  manifest.carried = carry(options.tuning.also_try, beside.path.empty() ? options.folder : beside.path);
  const bool was_there = is_there(options.folder, manifest);
  make_folder(options.folder / "results");
  if (was_there) return restore(options.folder, manifest, files, beside.path);
  for (std::size_t i = 0; i < files.size(); ++i) base::write_output(options.folder / manifest.shards[i].file, files[i]);
  base::write_output(manifest_path(options.folder), manifest.text());
  return std::nullopt;
}

void print_plan(const PlanOptions& options, const Manifest& manifest, const std::optional<std::size_t>& restored) {
  const auto seconds = [](const ShardEntry& a, const ShardEntry& b) { return a.expected_s < b.expected_s; };
  const auto [least, most] = std::minmax_element(manifest.shards.begin(), manifest.shards.end(), seconds);
  if (options.tuning.json) {
    print_json({{"folder", options.folder.string()},
                {"plan", manifest.key()},
                {"was_there", restored.has_value()},
                {"restored", restored.value_or(0)},
                {"problems", manifest.problems},
                {"shards", manifest.shards.size()},
                {"controls", manifest.controls},
                {"expected_s", {{"least", least->expected_s}, {"most", most->expected_s}}}},
               1);
    return;
  }
  base::print("{}: {} problems in {} shards of about {:.0f} to {:.0f} s each{}\n", options.folder.string(), manifest.problems,
              manifest.shards.size(), least->expected_s, most->expected_s, restored ? "; the plan was there already" : "");
  if (restored.value_or(0) > 0) base::print("{} file(s) of it were missing or damaged, and are as planned again\n", *restored);
  if (manifest.controls > 0)
    base::print("every shard also tunes {} control problem(s), by which its device is compared\n", manifest.controls);
  base::print("next: attune fleet run {} --shard 0, or attune fleet sbatch {}\n", options.folder.string(), options.folder.string());
}

}  // namespace

int plan_fleet(const PlanOptions& options, const std::vector<std::string>& arguments) {
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
  check_shards(tuning.budget, manifest, files);
  const auto restored = write_plan(options, manifest, files);
  print_plan(options, manifest, restored);
  return 0;
}

}  // namespace attune::tools
