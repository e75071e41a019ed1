#include "tools/init_compiler.hpp"

#include <fmt/core.h>

#include <optional>

#include "attune/error.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/cubin_kernels.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/compile/find_kernel.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/kernel_name.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::tools {
namespace {

constexpr const char* kProbe = "attune_probe";
constexpr const char* kProbeFile = "attune_probe.cu";

/// The first "FILE(12): error" of a log; 0: there is none.
int error_line(const std::string& log, const std::string& file) {
  const std::size_t error = log.find("): error");
  if (error == std::string::npos) return 0;
  const std::size_t open = log.rfind('(', error);
  if (open == std::string::npos || open < file.size() || log.compare(open - file.size(), file.size(), file) != 0) return 0;
  const std::string digits = log.substr(open + 1, error - open - 1);
  const bool number = !digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : 0;
}

const char* remedy(const std::string& log) {
  const bool header =
      log.find("could not open source file") != std::string::npos || log.find("cannot open source file") != std::string::npos;
  return header
             ? "NVRTC has CUDA's headers and those of the kernel's folder; put what is for the host between #ifndef __CUDACC_RTC__ and #endif"
             : "mend it, or put code for the host between #ifndef __CUDACC_RTC__ and #endif";
}

/// By a worker that is there for this alone. `file`: what the compiler's messages call the source.
compile::CompileResult compile_configuration(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const spec::Configuration& configuration, const spec::DeviceInfo& device,
                                             const std::string& file, const CommandContext& context) {
  compile::CompilePool::Options options;
  options.worker = context.executable;
  options.workers = 1;
  compile::CompilePool pool(options);
  return pool.compile_now({spec::make_source(kernel, problem, configuration, device), file, device.architecture,
                           spec::compiler_options(kernel, problem, configuration, device)});
}

/// The parameters of its kernel have the bytes that are asked for. It stands where the kernel stands that names the struct.
std::string probe_source(const importing::StructQuestion& question) {
  std::string begin, end;
  for (const std::string& name : question.namespaces) {
    begin += fmt::format("namespace {} {{ ", name);
    end += " }";
  }
  return fmt::format(
      "{0}template <int count> struct attune_bytes {{ char all[count]; }};\n"
      "extern \"C\" __global__ void {1}(attune_bytes<sizeof({2})>, attune_bytes<alignof({2})>, char* out) {{ *out = 0; }}{3}\n",
      begin, kProbe, question.type, end);
}

std::optional<importing::ElementLayout> probe(const importing::StructQuestion& question, const std::string& file,
                                              const std::string& architecture, const CommandContext& context) {
  std::map<std::string, std::string> sources = question.files;
  sources[kProbeFile] = probe_source(question);
  const std::string text = fmt::format(
      R"({{"attune": 1, "name": "{0}", "macro_prefix": "", "sources": ["{1}", "{2}"], "problem": {{"n": {{"size": {{"min": 1, "max": 1}}}}}},
"parameters": {{"attune_unused": {{"values": [1], "default": 1}}}}, "buffers": {{"out": {{"type": "u8", "count": 1, "output": true}}}},
"launches": [{{"kernel": "{0}", "grid": 1, "block": 1, "args": ["out"]}}], "reference": "none"}})",
      kProbe, question.file, kProbeFile);
  const auto kernel = spec::KernelTemplate::parse(text, sources, kProbeFile);
  const auto device = spec::DeviceInfo::of_architecture(architecture);
  const auto problem = problem_of_size(kernel, 1);
  const auto compiled = compile_configuration(kernel, problem, spec::default_configuration(kernel), device, question.file, context);
  if (compiled.status != compile::CompileStatus::Ok) {
    if (const int line = error_line(compiled.log, question.file); line > 0)  // nothing is known of the struct then
      throw SpecError(
          file, line, 1,
          fmt::format("failed compiling the source to learn what '{}' is: {}\n{}", question.type, remedy(compiled.log), compiled.log));
    return std::nullopt;
  }
  const auto kernels = base::read_cubin_kernels(compiled.cubin);
  const auto found = kernels ? kernels->find(kProbe) : decltype(kernels->find(kProbe)){};
  if (!kernels || found == kernels->end() || found->second.parameter_bytes.size() != 3) return std::nullopt;
  importing::ElementLayout layout;
  layout.type = spec::ElementType::U8;
  layout.struct_bytes = found->second.parameter_bytes[0];
  layout.align_bytes = found->second.parameter_bytes[1];
  return layout;
}

}  // namespace

DefaultCode compile_default(const importing::InitialTemplate& initial, const std::string& file, const std::string& folder,
                            const std::string& architecture, const CommandContext& context) {
  std::map<std::string, std::string> sources = initial.made.files;
  sources.erase("template.json");
  spec::add_included_files(sources, [](const std::string&, std::string&) { return false; });  // attune's own headers
  const auto kernel = spec::KernelTemplate::parse(initial.made.files.at("template.json"), sources, folder + "/template.json");
  const auto device = spec::DeviceInfo::of_architecture(architecture);
  const auto problem = problem_of_size(kernel, 1 << 10);
  const auto standard = spec::default_configuration(kernel);
  const auto compiled = compile_configuration(kernel, problem, standard, device, kernel.name + ".cu", context);
  if (compiled.status != compile::CompileStatus::Ok)
    throw SpecError(file, error_line(compiled.log, initial.made.kernel.kernel_file), 1,
                    fmt::format("failed compiling the kernel with default values: {}\n{}", remedy(compiled.log), compiled.log));
  const auto* const launch = std::get_if<spec::LaunchSpec>(&kernel.steps.front());
  const auto scope = spec::make_scope(kernel, problem, standard, device);
  if (const auto* const found = compile::find_kernel(compiled, spec::kernel_name(kernel, *launch, problem, scope)))
    return {*found, compiled.cubin};
  throw SpecError(
      file, initial.made.kernel.kernel_position.line, initial.made.kernel.kernel_position.column,
      fmt::format("the compiled source has no kernel '{}'; is it inside an #if that does not hold?", initial.made.kernel.kernel));
}

importing::StructLayout struct_probe(const std::string& file, const std::string& architecture, const CommandContext& context) {
  return [file, architecture, &context](const importing::StructQuestion& question) { return probe(question, file, architecture, context); };
}

}  // namespace attune::tools
