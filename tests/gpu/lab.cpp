#include "tests/gpu/lab.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tuner/gpu/handles.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::test {

std::filesystem::path attune_executable() {
  const char* const given = std::getenv("ATTUNE_WORKER");
  return given != nullptr ? given : ATTUNE_WORKER_EXECUTABLE;
}

spec::KernelTemplate make_template(const std::string& json, const std::string& source) {
  return spec::KernelTemplate::parse(json, {{"kernel.cu", source}}, "template.json");
}

Lab& Lab::get() {
  static Lab lab;
  return lab;
}

Lab::Lab() {
  compile::CompilePool::Options options;
  options.worker = attune_executable();
  cache_ = std::filesystem::temp_directory_path() / ("attune-gpu-tests-" + std::to_string(::getpid()));
  options.cache = cache_;
  options.workers = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 12);
  compilers_ = std::make_unique<compile::CompilePool>(options);
  executor_ = make_executor({});
}

Lab::~Lab() {
  std::error_code ignored;  // a leftover folder in the temporary directory harms nobody
  std::filesystem::remove_all(cache_, ignored);
}

std::string Lab::cubin(const std::string& source) {
  const auto device = gpu::read_device(0);
  const auto result = compilers_->compile_now({source, "test.cu", device.architecture, {}});
  if (result.status != compile::CompileStatus::Ok) throw CompileError("failed compiling a test kernel", result.log);
  return result.cubin;
}

std::unique_ptr<measure::GpuExecutor> Lab::make_executor(const measure::Policy& policy) {
  measure::GpuExecutor::Options options;
  options.worker = attune_executable();
  options.policy = policy;
  auto executor = std::make_unique<measure::GpuExecutor>(options);
  if (support_cubin_.empty()) support_cubin_ = cubin(verify::support_source());
  executor->set_support(support_cubin_);
  return executor;
}

void Lab::prepare(measure::GpuExecutor& executor, const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const auto cubin_of = [&](const std::optional<verify::ReferenceProgram>& program) -> std::string {
    if (!program) return {};
    const auto result = compilers_->compile_now({program->source, program->file, executor_->device().architecture, program->options});
    if (result.status != compile::CompileStatus::Ok) throw CompileError("failed compiling " + program->what, result.log);
    return result.cubin;
  };
  executor.prepare(kernel, problem, cubin_of(verify::reference_program(kernel, problem, executor_->device())),
                   cubin_of(verify::setup_program(kernel, problem, executor_->device())));
}

measure::VisitRequest Lab::request(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                   const spec::Configuration& configuration) {
  const auto& device = executor_->device();
  const compile::CompileRequest compile{spec::make_source(kernel, problem, configuration, device), kernel.name + ".cu", device.architecture,
                                        spec::compiler_options(kernel, problem, configuration, device)};
  const auto result = compilers_->compile_now(compile);
  if (result.status != compile::CompileStatus::Ok)
    throw CompileError("failed compiling " + spec::to_text(kernel, configuration), result.log);
  measure::VisitRequest request;
  request.configuration = spec::to_text(kernel, configuration);
  request.cubin_key = result.key;
  request.cubin = result.cubin;
  request.verify = true;
  request.max_samples = 3;
  return request;
}

measure::VisitReply Lab::visit(measure::GpuExecutor& executor, const measure::VisitRequest& request) {
  executor.submit(request);
  std::optional<measure::VisitReply> reply;
  while (!reply) reply = executor.collect(std::chrono::milliseconds(200));
  return *reply;
}

spec::Configuration with(const spec::KernelTemplate& kernel, const std::string& parameter, const std::string& value) {
  auto configuration = spec::default_configuration(kernel);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].name != parameter) continue;
    for (std::size_t k = 0; k < kernel.parameters[i].values.size(); ++k) {
      if (spec::to_text(kernel.parameters[i].values[k]) == value) {
        configuration.index[i] = static_cast<std::uint16_t>(k);
        return configuration;
      }
    }
  }
  throw UsageError("the test's template has no " + parameter + " = " + value);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

}  // namespace attune::test
