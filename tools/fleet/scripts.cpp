#include "tools/fleet/scripts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;

/// What stands in a line of a script as it is. Throws: UsageError.
const std::string& one_line(const std::string& text, const char* option) {
  const bool plain = std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!plain) throw UsageError(fmt::format("{} has a line end or another control character, which a line of a script cannot hold", option));
  return text;
}

/// sbatch reads its lines by itself, in quotes where there are spaces; it knows no escapes.
std::string sbatch_line(const std::string& name, const std::string& value, const char* option) {
  one_line(value, option);
  if (value.find_first_of("\"'\\#") != std::string::npos)
    throw UsageError(fmt::format("{} has a quote, a backslash or a #, which sbatch does not read in a script: {}", option, value));
  return value.find(' ') == std::string::npos ? fmt::format("#SBATCH --{}={}\n", name, value)
                                              : fmt::format("#SBATCH --{}=\"{}\"\n", name, value);
}

/// Where a job writes: Slurm puts numbers in place of %a and the like, not of %%.
std::string output_line(const SlurmOptions& options, const std::string& file) {
  std::string folder;
  for (const char c : (options.folder / "logs" / "").string()) folder += c == '%' ? "%%" : std::string(1, c);
  return sbatch_line("output", folder + file, "the folder");
}

/// sbatch passes over what does not begin with a hyphen, without a word. Throws: UsageError.
const std::string& sbatch_option(const std::string& text) {
  if (one_line(text, "--option").starts_with('-') && text.find_first_not_of('-') != std::string::npos) return text;
  throw UsageError(fmt::format(
      "--option '{}': options of sbatch begin with a hyphen, and sbatch would pass over this one; write --option=--account=abc", text));
}

std::string common_lines(const SlurmOptions& options) {
  std::string lines;
  if (!options.partition.empty()) lines += sbatch_line("partition", options.partition, "--partition");
  for (const auto& more : options.more) lines += fmt::format("#SBATCH {}\n", sbatch_option(more));
  return lines;
}

/// Numbers between colons; nothing where one is missing, is none or has more than seven digits.
std::optional<std::vector<std::int64_t>> numbers_between_colons(std::string_view text) {
  constexpr std::size_t kMostDigits = 7;
  std::vector<std::int64_t> numbers;
  while (true) {
    const std::string_view digits = text.substr(0, text.find(':'));
    std::int64_t number = 0;
    if (digits.empty() || digits.size() > kMostDigits || digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    numbers.push_back(number);
    if (digits.size() == text.size()) return numbers;
    text.remove_prefix(digits.size() + 1);
  }
}

/// Of a text in one of the forms that sbatch(1) documents; nothing of another one.
std::optional<std::int64_t> slurm_seconds(std::string_view text) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  const std::size_t hyphen = text.find('-');
  const bool has_days = hyphen != std::string_view::npos;
  std::int64_t seconds = 0;
  if (has_days) {
    const auto days = numbers_between_colons(text.substr(0, hyphen));
    if (!days || days->size() != 1) return {};
    seconds = days->front() * kDay;
    text.remove_prefix(hyphen + 1);
  }
  const auto numbers = numbers_between_colons(text);
  if (!numbers || numbers->size() > 3) return {};
  // Behind days, and where there are three, the first is hours; else it is minutes.
  std::int64_t unit = has_days || numbers->size() == 3 ? kHour : kMinute;
  for (const std::int64_t number : *numbers) {
    seconds += number * unit;
    unit /= 60;
  }
  return seconds;
}

/// Throws: UsageError when Slurm would not take the time, or when a task would be told to stop before it begins.
void check_time(const SlurmOptions& options) {
  const auto seconds = slurm_seconds(options.time);
  if (!seconds) {
    throw UsageError(
        fmt::format("--time '{}': Slurm takes minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or "
                    "days-hours:minutes:seconds, for example 04:00:00",
                    options.time));
  }
  if (*seconds > 0 && options.grace_s >= *seconds) {  // 0: no limit
    throw UsageError(fmt::format("--grace {}: a task is told to stop so many seconds before the end of --time {}, which is {} s; give less",
                                 options.grace_s, options.time, *seconds));
  }
}

/// Variables by which a task finds the same templates, compiler and caches as here are the user's environment, which sbatch passes on.
std::string task_script(const Manifest& manifest, const SlurmOptions& options, const std::string& name) {
  std::string script = "#!/bin/bash\n";
  script += sbatch_line("job-name", name, "the folder");
  script +=
      fmt::format("#SBATCH --array=0-{}{}\n", manifest.shards.size() - 1, options.at_once > 0 ? fmt::format("%{}", options.at_once) : "");
  script += "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --ntasks=1\n";
  script += fmt::format("#SBATCH --cpus-per-task={}\n", options.cpus);
  if (options.gpus > 0) script += fmt::format("#SBATCH --gpus-per-task={}\n", options.gpus);
  script += sbatch_line("time", options.time, "--time");
  script += fmt::format("#SBATCH --signal=B:USR1@{}\n", options.grace_s);
  script += output_line(options, "task-%a.out");
  script += common_lines(options);
  script += fmt::format(
      R"(# The shard is this task's number in the array ($SLURM_ARRAY_TASK_ID). What is measured is copied into the plan's folder now and
# then; a task that is told to stop copies it all and ends within seconds, and the next goes on.
{0} fleet run {1} &
task=$!
over=0 told=0 heard=0
trap 'over=$((over + 1)); kill -TERM "$task" 2>/dev/null' USR1  # its time is over
trap 'told=$((told + 1)); kill -TERM "$task" 2>/dev/null' TERM  # cancelled; or others come first, and Slurm queues it again by itself
code=0
wait "$task" || code=$?
while ((over + told > heard)); do  # a signal ended the waiting, not the task
  heard=$((over + told)) code=0
  wait "$task" || code=$?
done
# 130: it was stopped; above 128: it was killed, as where memory ran out. Whatever else failed would fail again.
if ((code >= 128 && told == 0 && ${{SLURM_RESTART_COUNT:-0}} < {2})); then
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}" && exit 0
fi
exit "$code"
)",
      base::shell_quoted(one_line(options.executable.string(), "the command's path")), base::shell_quoted(options.folder.string()),
      options.most_restarts);
  return script;
}

std::string merge_script(const SlurmOptions& options, const std::string& name) {
  const fs::path database = options.database.empty() ? options.folder / "merged.db" : options.database;
  std::string script = "#!/bin/bash\n";
  script += sbatch_line("job-name", name + "-merge", "the folder");
  script += "#SBATCH --ntasks=1\n";
  script += output_line(options, "merge.out");
  script += common_lines(options);
  script += fmt::format("exec {} fleet merge {} --db {}\n", base::shell_quoted(one_line(options.executable.string(), "the command's path")),
                        base::shell_quoted(options.folder.string()), base::shell_quoted(one_line(database.string(), "--db")));
  return script;
}

/// Whether it has the letters that names of Kubernetes have, `more` among them, and begins and ends with a letter or digit.
bool is_kubernetes_name(const std::string& name, std::size_t most, const std::string& more) {
  const std::string ends = "abcdefghijklmnopqrstuvwxyz0123456789";
  return !name.empty() && name.size() <= most && ends.find(name.front()) != std::string::npos &&
         ends.find(name.back()) != std::string::npos && name.find_first_not_of(ends + more) == std::string::npos;
}

/// Pods are called by the job's name and their index, which has to be a label of RFC 1123 as a whole. Throws: UsageError.
void check_names(const KubernetesOptions& options, std::size_t shards) {
  constexpr std::size_t kLabel = 63, kSubdomain = 253;
  const auto& name = options.name;
  if (!is_kubernetes_name(options.claim, kSubdomain, "-."))
    throw UsageError(
        fmt::format("--claim {}: Kubernetes takes lower-case letters, digits, hyphens and dots, at most {}", options.claim, kSubdomain));
  const std::size_t most = kLabel - fmt::format("-{}", shards - 1).size();
  if (is_kubernetes_name(name, most, "-")) return;
  throw UsageError(
      fmt::format("--name {}: Kubernetes takes lower-case letters, digits and hyphens, no hyphen first or last, at most {} of them "
                  "for {} shards (a pod's name has its index behind the job's, and 63 together)",
                  name, most, shards));
}

/// A text of YAML on one line. JSON's texts are YAML's, but for what some readers take for the end of a line or refuse: a name may hold
/// it, and would come out as another one. Throws: UsageError.
std::string yaml_text(const std::string& text, const char* what) {
  if (base::escape_line(text) != text)
    throw UsageError(fmt::format("{} has a character that YAML does not hold as it is: {}", what, base::escape_line(text)));
  return base::dump_json(nlohmann::json(text));
}

/// An argument of a container's command, in which Kubernetes puts variables in place of $(NAME), and one $ in place of two.
std::string kubernetes_argument(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '$' ? "$$" : std::string(1, c);
  return out;
}

constexpr const char kKubernetesJob[] =
    R"(# The {0} shards of an attune fleet: kubectl apply -f this. Backoff for each index, and an index that fails for good, need Kubernetes 1.29 or newer.
# When it has ended, merge where the volume is mounted: attune fleet merge {8} --db all.db
apiVersion: batch/v1
kind: Job
metadata:
  name: {1}
spec:
  completions: {0}
  parallelism: {2}
  completionMode: Indexed
  backoffLimitPerIndex: {3}
  maxFailedIndexes: {0}
  podReplacementPolicy: Failed
  podFailurePolicy:
    rules:
    - action: Ignore  # a pod that makes way for another is no failure of its shard
      onPodConditions:
      - type: DisruptionTarget
    - action: FailIndex  # wrong arguments, a plan that is not there or of another template, malformed files: no retry mends them
      onExitCodes:
        containerName: shard
        operator: In
        values: [{12}, {13}]
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: {4}
      containers:
      - name: shard
        image: {5}
        # The shard is the pod's index ($JOB_COMPLETION_INDEX).
        command: ["attune", "fleet", "run", {6}, "--scratch", "/scratch"]
        resources:
          requests:
            cpu: {7}
          limits:
            nvidia.com/gpu: {9}
        volumeMounts:
        - name: fleet
          mountPath: {10}
        - name: scratch
          mountPath: /scratch
      volumes:
      - name: fleet
        persistentVolumeClaim:
          claimName: {11}
      - name: scratch
        emptyDir: {{}}
)";

}  // namespace

std::string slurm_script(const Manifest& manifest, const SlurmOptions& options) {
  const std::string name = "attune-fleet";
  check_time(options);
  return fmt::format(R"(#!/bin/bash
# Submits the {0} shards of an attune fleet as one job array, and a job that merges what they come to when all have ended, however they did.
# Run it with bash where sbatch is: attune fleet sbatch DIR | bash
set -euo pipefail
mkdir -p {1}
array=$(sbatch --parsable <<'ATTUNE_SCRIPT'
{2}ATTUNE_SCRIPT
)
array=${{array%%;*}}  # without the cluster's name
merge=$(sbatch --parsable --dependency="afterany:$array" <<'ATTUNE_SCRIPT'
{3}ATTUNE_SCRIPT
)
echo "array job $array, merge job ${{merge%%;*}}"
)",
                     manifest.shards.size(), base::shell_quoted((options.folder / "logs").string()), task_script(manifest, options, name),
                     merge_script(options, name));
}

std::string kubernetes_job(const Manifest& manifest, const KubernetesOptions& options) {
  const fs::path mount = options.mount.empty() ? options.folder.parent_path() : options.mount;
  const auto [end, ignored] = std::mismatch(mount.begin(), mount.end(), options.folder.begin(), options.folder.end());
  if (end != mount.end()) {
    throw UsageError(fmt::format("the plan's folder {} does not lie below --mount {}, so that pods would not find it",
                                 options.folder.string(), mount.string()));
  }
  const std::size_t shards = manifest.shards.size();
  check_names(options, shards);
  // Of the comment too, where it stands as a word of a shell.
  const std::string folder = yaml_text(kubernetes_argument(options.folder.string()), "the folder");
  const std::size_t at_once =
      options.parallelism > 0 ? std::min<std::size_t>(shards, static_cast<std::size_t>(options.parallelism)) : shards;
  return fmt::format(kKubernetesJob, shards, yaml_text(options.name, "--name"), at_once, options.most_restarts, options.grace_s,
                     yaml_text(options.image, "--image"), folder, options.cpus, base::shell_quoted(options.folder.string()), options.gpus,
                     yaml_text(mount.string(), "--mount"), yaml_text(options.claim, "--claim"), static_cast<int>(ExitCode::Usage),
                     static_cast<int>(ExitCode::Spec));
}

}  // namespace attune::tools
