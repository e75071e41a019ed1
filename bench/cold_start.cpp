// How long a fresh process takes to its first tuned launch, beyond what CUDA itself takes to start.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>

#include "attune/error.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/launch_arguments.hpp"
#include "bench/support/quantile.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tests/support/best_row.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/runtime/code_loader.hpp"
#include "tuner/runtime/plan_state.hpp"

namespace attune::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kMethod =
    "Every figure is the median over `processes` fresh processes, p95 their 95th percentile. context_ms: loading "
    "libcuda, cuInit, the primary context. Not counted: a stream and the program's own buffers (buffers_ms). "
    "ms_beyond_context: from the construction of the Runtime until the first launch has finished on the device; "
    "second_launch_ms is the same launch once more. The breakdown comes from other processes that make the same steps"
    " one by one: open layers (the database files), template (parsing it), device (reading its identity), lookup (of a"
    " result), source (of the configuration, and its keys), cubin (reading it), load module (cuModuleLoadData), bind "
    "(its kernels), launch (enqueued and finished). `bare` is what a program without attune needs for the same cubin:"
    " loading it, finding the kernel, launching, waiting.";

struct Settings {
  std::string output;
  std::string synthetic;
  std::string child;  ///< empty: the parent
  std::string folder;
  int processes = 30;
};

/// The problem that the database of a run has a result for.
struct Tuned {
  std::string template_name = "reduce";
  std::map<std::string, std::string> choices{{"T", "f32"}, {"op", "sum"}};
  std::int64_t n = 1 << 20;
  std::vector<std::filesystem::path> templates;
};

Tuned tuned(const Settings& settings) {
  if (settings.synthetic.empty()) return {};
  return {"tickets", {}, 1000, {settings.synthetic}};
}

spec::Problem problem_of(const Tuned& what) { return {what.choices, {{"n", what.n}}}; }

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

/// A database with one result, and its cubin stored with it, as a tuning run leaves them.
void prepare(const Tuned& what, const std::filesystem::path& folder) {
  const auto device = gpu::read_device(0);
  const auto kernel = spec::TemplateLibrary(what.templates).find(what.template_name);
  const auto problem = problem_of(what);
  const auto configuration = spec::default_configuration(kernel);
  const auto request = runtime::make_code_request(kernel, problem, configuration, device);
  const auto code = runtime::CodeStore(folder / "cache/attune/cubins").compile(request);
  auto database = db::Database::open(folder / "tuned.db", db::OpenMode::ReadWrite);
  auto row = test::best_row(kernel, problem, device, spec::to_text(kernel, configuration), request.source_key);
  row.cubin_key = request.cache_key;
  database.put(test::device_row(device));
  database.put(row);
  database.put_cubin(row.cubin_key, code.cubin, row.detail_json);
}

/// What every child begins with, as any CUDA program does.
struct Program {
  explicit Program(const Tuned& what) {
    const auto start = Clock::now();
    static_cast<void>(gpu::Driver::get());
    context.emplace(0);
    context_ms = ms_since(start);
    const auto buffers = Clock::now();
    stream.emplace();
    in.emplace(static_cast<std::size_t>(what.n) * 8);
    out.emplace(static_cast<std::size_t>(what.n) * 8);
    stream->synchronize();
    buffers_ms = ms_since(buffers);
  }
  double context_ms = 0, buffers_ms = 0;
  std::optional<gpu::Context> context;
  std::optional<gpu::Stream> stream;
  std::optional<gpu::Buffer> in, out;
};

std::vector<Argument> arguments_of(const Tuned& what, const Program& program) {
  return launch_arguments(what.template_name, sizeof(float), reinterpret_cast<void*>(program.in->address()),
                          reinterpret_cast<void*>(program.out->address()));
}

Json whole_start(const Tuned& what) {
  Program program(what);
  Options options;
  options.templates = what.templates;
  const auto arguments = arguments_of(what, program);
  const auto start = Clock::now();
  Runtime runtime(options);
  const auto kernel = runtime.kernel(what.template_name, what.choices);
  const auto launch = [&] {
    kernel.launch(&what.n, 1, arguments.data(), arguments.size(), program.stream->get());
    program.stream->synchronize();
  };
  launch();
  const double first_ms = ms_since(start);
  const auto again = Clock::now();
  launch();
  const double second_ms = ms_since(again);
  const auto decision = kernel.explain({what.n});
  return {{"context_ms", program.context_ms}, {"buffers_ms", program.buffers_ms},        {"ms_beyond_context", first_ms},
          {"second_launch_ms", second_ms},    {"compiles", runtime.counters().compiles}, {"tier", name(decision.tier)},
          {"code", decision.cubin_source}};
}

/// The same start in its steps, through the parts that Runtime is made of.
Json start_in_steps(const Tuned& what) {
  Program program(what);
  const auto arguments = arguments_of(what, program);
  Json steps = Json::object();
  auto last = Clock::now();
  const auto step = [&](const char* name) {
    steps[name] = ms_since(last);
    last = Clock::now();
  };
  const auto opened = runtime::open_layers({});
  step("open_layers_ms");
  const auto kernel = spec::TemplateLibrary(what.templates).find(what.template_name);
  step("template_ms");
  const auto device = gpu::read_device(0);
  step("device_ms");
  auto choice = runtime::choose(kernel, problem_of(what), device, opened.layers, {"cold/graph"});
  step("lookup_ms");
  const auto request = runtime::make_code_request(kernel, problem_of(what), choice.configuration, device);
  step("source_ms");
  const auto code = runtime::CodeStore(base::cache_folder() / "cubins").find(request, choice, opened.layers);
  if (!code) throw Error("failed measuring: no cubin is stored");
  step("cubin_ms");
  const gpu::Module module(code->cubin);
  step("load_module_ms");
  detail::PlanState plan;
  plan.bind(std::move(choice.plan), kernel.name, kernel.spec_path, module);
  step("bind_ms");
  const gpu::Buffer workspace(std::max<std::size_t>(plan.workspace.total_bytes, 256));
  gpu::check(gpu::Driver::get().cuMemsetD8Async(workspace.address(), 0, workspace.bytes(), program.stream->get()), "cuMemsetD8Async",
             "zeroing");
  step("scratch_ms");
  plan.enqueue(arguments.data(), workspace.address(), workspace.address() + plan.workspace.zero_bytes, program.stream->get());
  program.stream->synchronize();
  step("launch_ms");
  return steps;
}

/// What a program needs that has its cubin and its geometry at hand.
Json bare_start(const Tuned& what) {
  Program program(what);
  const auto arguments = arguments_of(what, program);
  const auto opened = runtime::open_layers({});
  const auto kernel = spec::TemplateLibrary(what.templates).find(what.template_name);
  const auto device = gpu::read_device(0);
  auto choice = runtime::choose(kernel, problem_of(what), device, opened.layers, {"cold/graph"});
  const auto request = runtime::make_code_request(kernel, problem_of(what), choice.configuration, device);
  const auto code = runtime::CodeStore(base::cache_folder() / "cubins").find(request, choice, opened.layers);
  if (!code) throw Error("failed measuring: no cubin is stored");
  const auto start = Clock::now();
  const gpu::Module module(code->cubin);
  detail::PlanState plan;
  plan.bind(std::move(choice.plan), kernel.name, kernel.spec_path, module);
  const gpu::Buffer workspace(std::max<std::size_t>(plan.workspace.total_bytes, 256));
  gpu::check(gpu::Driver::get().cuMemsetD8Async(workspace.address(), 0, workspace.bytes(), program.stream->get()), "cuMemsetD8Async",
             "zeroing");
  plan.enqueue(arguments.data(), workspace.address(), workspace.address() + plan.workspace.zero_bytes, program.stream->get());
  program.stream->synchronize();
  return {{"bare_ms", ms_since(start)}};
}

/// Runs this program once more, as a child of the given kind, and reads its figures.
Json run_child(const Settings& settings, const std::string& kind, const std::filesystem::path& folder) {
  std::string command = fmt::format("'{}' --child {} --folder '{}'", base::own_executable().string(), kind, folder.string());
  if (!settings.synthetic.empty()) command += fmt::format(" --synthetic '{}'", settings.synthetic);
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw EnvironmentError("failed starting a child: no pipe");
  std::string text;
  char chunk[4096];
  for (std::size_t got = 0; (got = std::fread(chunk, 1, sizeof chunk, pipe)) > 0;) text.append(chunk, got);
  if (const int status = ::pclose(pipe); status != 0)
    throw Error(fmt::format("failed running {}: it ended with status {}", command, status));
  return parse_json(text.empty() ? "{}" : text);
}

/// Adds the median of each number that the children print; of the whole also its 95th percentile.
void add_medians(Json& row, const std::vector<Json>& children) {
  for (const auto& [name, value] : children.front().items()) {
    if (!value.is_number_float()) continue;
    std::vector<double> values;
    for (const auto& child : children) values.push_back(child.at(name).get<double>());
    row[name] = quantile(values, 0.5);
    if (name == "ms_beyond_context") row["ms_beyond_context_p95"] = quantile(values, 0.95);
  }
}

/// One row: where the cubin comes from, and what the processes measured. The first of each kind only warms the file
/// cache.
Json measure_row(const Settings& settings, const std::string& what, const std::filesystem::path& folder, const char* code) {
  Json row{{"what", what}, {"processes", settings.processes}};
  std::map<std::string, std::vector<Json>> children;
  for (int i = -1; i < settings.processes; ++i) {
    for (const char* const kind : {"whole", "steps", "bare"}) {
      const Json child = run_child(settings, kind, folder);
      if (i >= 0) children[kind].push_back(child);
    }
  }
  for (const auto& child : children["whole"]) {
    if (child.at("compiles") != 0 || child.at("code") != code)
      throw Error(fmt::format("failed measuring: a child compiled or used other code: {}", dump_json(child)));
  }
  row["tier"] = children["whole"].front().at("tier");
  row["code"] = code;
  for (const char* const kind : {"whole", "bare", "steps"}) add_medians(row, children[kind]);
  fmt::print(stderr, "{}: {:.2f} ms beyond {:.0f} ms of context; bare {:.2f} ms\n", what, row["ms_beyond_context"].get<double>(),
             row["context_ms"].get<double>(), row["bare_ms"].get<double>());
  return row;
}

void use_folder(const std::filesystem::path& folder, const char* database) {
  ::setenv("ATTUNE_DB", (folder / database).c_str(), 1);
  ::setenv("ATTUNE_SHIPPED_DB", (folder / "none.db").c_str(), 1);
  ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
}

int run_as_child(const Settings& settings) {
  const Tuned what = tuned(settings);
  if (settings.child == "prepare") {
    prepare(what, settings.folder);
    return 0;
  }
  const Json figures = settings.child == "whole" ? whole_start(what) : settings.child == "steps" ? start_in_steps(what) : bare_start(what);
  fmt::print("{}\n", dump_json(figures));
  return 0;
}

int run(const Settings& settings) {
  const auto results = results_folder(settings.output);
  const test::TempFolder folder;
  use_folder(folder.path(), "tuned.db");
  static_cast<void>(run_child(settings, "prepare", folder.path()));
  std::vector<Json> rows{measure_row(settings, "tuned, cubin stored in the database", folder.path(), "database")};
  use_folder(folder.path(), "none.db");
  rows.push_back(measure_row(settings, "never tuned, the default's cubin in the compile cache", folder.path(), "cache"));
  const Tuned what = tuned(settings);
  const Json problem{{"template", what.template_name}, {"choices", what.choices}, {"n", what.n}};
  fmt::print("{}\n", write_results(results, "cold_start", gpu::read_device(0), {{"method", kMethod}, {"problem", problem}}, rows).string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line(
      "Measures the start of a process to its first tuned launch, and writes <output>/<device>/cold_start.json");
  line.option("--output", settings.output, "Results folder (default: bench/results of the source tree)");
  line.option("--synthetic", settings.synthetic, "Folder of the template tickets, for the fake driver (docs/testing.md)");
  line.option("--processes", settings.processes, "Processes of each kind").with_default().within(1, 1000);
  line.option("--child", settings.child, "").hidden();
  line.option("--folder", settings.folder, "").hidden();
  return line.run(argc, argv,
                  [&] { return settings.child.empty() ? attune::bench::run(settings) : attune::bench::run_as_child(settings); });
}
