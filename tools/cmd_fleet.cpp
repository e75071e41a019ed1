// attune fleet: one set of problems tuned by many machines, under whatever scheduler there is (docs/fleet.md).
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/fleet/fleet_merge.hpp"
#include "tools/fleet/plan.hpp"
#include "tools/fleet/scripts.hpp"
#include "tools/fleet/shard_run.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;

/// "5%" -> 0.05. Throws: UsageError.
double share(const std::string& text) {
  double percent = -1;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (fault == std::errc() && std::string_view(end, text.data() + text.size()) == "%" && percent >= 0 && percent <= 100)
    return percent / 100;
  throw UsageError(fmt::format("--tolerance {}: give a share from 0% to 100%, for example 5%", text));
}

/// CLI11 takes a negative number for one near 2^64.
std::string whole_number(const std::string& word) { return base::whole_number_fault(word); }

/// Without a slash at the end, which would make another path of it.
fs::path whole_path(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() || !whole.has_relative_path() ? whole : whole.parent_path();
}

void add_folder(CLI::App& command, fs::path& folder) {
  command.add_option("folder", folder, "DIR of the plan")->type_name("DIR")->required();
}

void add_plan(CLI::App& fleet, CommandContext& context) {
  auto options = std::make_shared<PlanOptions>();
  options->tuning.strategy = "auto";
  auto* command = fleet.add_subcommand("plan", "Divide problems into shards of about equal time, and write them into a folder");
  add_tuning_options(*command, options->tuning);
  add_where_option(*command, options->tuning);
  // What a task's node decides.
  for (const char* name : {"--db", "--device", "--replay", "--compile-workers"}) command->remove_option(command->get_option(name));
  command->add_option("--shards", options->shards, "How many: as many tasks can be at work at once")->required()->check(whole_number);
  command->add_option("--output,-o", options->folder, "DIR to write; on a file system that all nodes share")->type_name("DIR")->required();
  command
      ->add_option("--overlap", options->controls,
                   "So many problems, the cheapest, are tuned by every shard: a device that is slower than it should be shows by them")
      ->capture_default_str()
      ->check(whole_number);
  command->add_option("--architecture", options->architecture, "Count spaces as on this architecture, to balance the shards")
      ->capture_default_str();
  command->footer(
      "Template and problems as of `attune tune`: attune fleet plan reduce --T f32,f64 --op sum --size 2^10..2^28:x4 --shards 8 -o plan\n"
      "A time of --budget is for each problem. Files of --try are copied into DIR, and by tasks from there to their nodes.\n"
      "The same command again finds the plan; one that differs is not written over it.");
  command->callback(
      [options, command, &context] { context.action = [options, command] { return plan_fleet(*options, command->remaining()); }; });
}

void add_run(CLI::App& fleet, CommandContext& context) {
  auto options = std::make_shared<ShardRunOptions>();
  auto* command = fleet.add_subcommand("run", "Tune one shard of a plan; go on where an earlier task of it was stopped, on whatever node");
  add_folder(*command, options->folder);
  command->add_option("--shard", options->shard, "Its number, from 0 (default: $SLURM_ARRAY_TASK_ID, else $JOB_COMPLETION_INDEX)")
      ->check(whole_number);
  command->add_option("--scratch", options->scratch, "Folder on this node to tune in (default: $SLURM_TMPDIR, else $TMPDIR, else /tmp)");
  command->add_option("--device", options->device, "GPU ordinals: 0 (the default), 0,2 or all, of those that the task sees");
  command
      ->add_option("--compile-workers", options->compile_workers,
                   "NVRTC worker processes of all GPUs together (default: cores less the GPUs)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option(
          "--publish-every", options->publish_every,
          "Copy results into DIR/results so often while a problem is tuned, besides after problems; copying takes a fiftieth of the time at most")
      ->capture_default_str();
  command->add_flag("--json", options->json, "One JSON object a line on standard output");
  command->footer(
      "Results appear in DIR/results: shard-0003.part.db, and shard-0003.db once every problem is tuned. A finished shard is left as it is\n"
      "(exit code 0). SIGTERM and Ctrl-C stop in an orderly way: what is measured is copied, exit code 130.");
  command->callback([options, &context] { context.action = [options, &context] { return run_shard(*options, context); }; });
}

void add_merge(CLI::App& fleet, CommandContext& context) {
  auto options = std::make_shared<FleetMergeOptions>();
  auto tolerance = std::make_shared<std::string>("5%");
  auto* command = fleet.add_subcommand("merge", "Merge the shards' results, and tell which are missing, and which devices disagree");
  add_folder(*command, options->folder);
  command->add_option("--db", options->database, "Database file to merge into; created where there is none")->required();
  command->add_option("--tolerance", *tolerance, "Times of the control problems on devices of one kind may differ by so much")
      ->capture_default_str();
  command->add_flag("--strict", options->strict,
                    "Exit code 1 when a shard is missing, not finished or cannot be read, or when one disagrees");
  command->add_flag("--json", options->json, "The result as JSON");
  command->footer("What there is is merged at any time, also while tasks are at work; merging again adds what is new.");
  command->callback([options, tolerance, &context] {
    context.action = [options, tolerance] {
      options->tolerance = share(*tolerance);
      return merge_fleet(*options);
    };
  });
}

void add_sbatch(CLI::App& fleet, CommandContext& context) {
  auto options = std::make_shared<SlurmOptions>();
  auto* command = fleet.add_subcommand("sbatch", "Print a script that submits the shards to Slurm as a job array, and the merge after it");
  add_folder(*command, options->folder);
  command->add_option("--db", options->database, "Database file of the merge (default: DIR/merged.db)");
  command->add_option("--gpus", options->gpus, "GPUs of a task; 0: none is asked for")->capture_default_str()->check(CLI::Range(0, 1024));
  command->add_option("--cpus", options->cpus, "Processors of a task")->capture_default_str()->check(CLI::Range(1, 4096));
  command->add_option("--partition", options->partition, "Slurm partition");
  command
      ->add_option(
          "--time", options->time,
          "Longest time of a task, as Slurm takes it: minutes, 04:00:00, 1-12; one that runs out of it is queued again, and goes on")
      ->capture_default_str();
  command->add_option("--grace", options->grace_s, "Seconds before that time at which a task is told to stop")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_option("--at-once", options->at_once, "At most so many tasks run at a time")->check(CLI::Range(1, 100'000));
  command->add_option("--restarts", options->most_restarts, "A task that is stopped or killed is queued again so often")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000));
  command->add_option("--option", options->more, "A further option of sbatch, for example --option=--account=abc; may be repeated")
      ->allow_extra_args(false);
  command->footer("attune fleet sbatch DIR | bash");
  command->callback([options, &context] {
    context.action = [options, &context] {
      options->folder = whole_path(options->folder);
      options->executable = context.executable;
      if (!options->database.empty()) options->database = whole_path(options->database);
      base::write_standard_output(slurm_script(Manifest::load(options->folder), *options));
      return 0;
    };
  });
}

void add_k8s(CLI::App& fleet, CommandContext& context) {
  auto options = std::make_shared<KubernetesOptions>();
  auto* command = fleet.add_subcommand("k8s", "Print an Indexed Job of Kubernetes, a pod a shard");
  add_folder(*command, options->folder);
  command->add_option("--image", options->image, "Container image with attune and the CUDA toolkit's NVRTC")->required();
  command->add_option("--claim", options->claim, "Claim of the volume that holds DIR; all nodes write to it (ReadWriteMany)")->required();
  command->add_option("--mount", options->mount, "Where pods mount it; DIR lies below (default: DIR's parent)");
  command->add_option("--name", options->name, "Name of the job")->capture_default_str();
  command->add_option("--gpus", options->gpus, "GPUs of a pod")->capture_default_str()->check(CLI::Range(0, 1024));
  command->add_option("--cpus", options->cpus, "Processors of a pod")->capture_default_str()->check(CLI::Range(1, 4096));
  command->add_option("--at-once", options->parallelism, "At most so many pods run at a time")->check(CLI::Range(1, 100'000));
  command->add_option("--restarts", options->most_restarts, "A pod that fails is started again so often")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000));
  command->add_option("--grace", options->grace_s, "Seconds that a pod has to stop in")->capture_default_str()->check(CLI::Range(1, 3600));
  command->footer(
      "attune fleet k8s DIR --image IMAGE --claim CLAIM | kubectl apply -f -\nWhen it has ended: attune fleet merge DIR --db all.db");
  command->callback([options, &context] {
    context.action = [options] {
      options->folder = whole_path(options->folder);
      if (!options->mount.empty()) options->mount = whole_path(options->mount);
      base::write_standard_output(kubernetes_job(Manifest::load(options->folder), *options));
      return 0;
    };
  });
}

}  // namespace

void add_fleet_command(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("fleet", "Tune on many machines: plan shards, run each where there is a GPU, merge what they found");
  command->require_subcommand(1);
  add_plan(*command, context);
  add_run(*command, context);
  add_merge(*command, context);
  add_sbatch(*command, context);
  add_k8s(*command, context);
}

}  // namespace attune::tools
