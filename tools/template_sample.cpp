#include "tools/template_sample.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <unordered_map>

#include "attune/error.hpp"
#include "tools/compile_log.hpp"
#include "tools/compiled_kernels.hpp"
#include "tools/output.hpp"
#include "tuner/base/cubin_kernels.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/median.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/compile/find_kernel.hpp"
#include "tuner/session/source/kernel_resources.hpp"
#include "tuner/spec/untimed_steps.hpp"

namespace attune::tools {
namespace {

constexpr std::array<const char*, 4> kOutcomeNames{"fits", "exceeds_limits", "compile_failed", "does_not_bind"};

using CubinKernels = std::map<std::string, base::CubinKernel>;

/// What the cubin tells of the kernel that a launch names; null: no compiled kernel is called so.
const base::CubinKernel* launched_kernel(const spec::ResolvedLaunch& launch, const CubinKernels& kernels,
                                         const compile::CompileResult& compiled) {
  const auto* const named = compile::find_kernel(compiled, launch.kernel);
  const auto found = named == nullptr ? kernels.end() : kernels.find(named->kernel);
  return found == kernels.end() ? nullptr : &found->second;
}

/// Why a launch cannot be made of the compiled code, whatever the device; empty where it can.
std::string binding_fault(const spec::ResolvedLaunch& launch, const CubinKernels& kernels, const compile::CompileResult& compiled) {
  const auto* const found = launched_kernel(launch, kernels, compiled);
  if (found == nullptr) {
    return fmt::format("the launch of \"{}\" names no compiled kernel (there are: {})", launch.kernel, names_of_kernels(compiled));
  }
  const auto& bytes = found->parameter_bytes;
  if (bytes.size() != launch.arguments.size())
    return fmt::format("\"{}\" takes {} arguments, and {} are passed", launch.kernel, bytes.size(), launch.arguments.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != launch.arguments[i].size_bytes)
      return fmt::format("argument {} of \"{}\" has {} bytes, and {} are passed; name its type, e.g. {{\"n\": \"u32\"}}", i + 1,
                         launch.kernel, bytes[i], launch.arguments[i].size_bytes);
  }
  return {};
}

class Sampler {
 public:
  Sampler(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
          const compile::CompileResult& before, compile::CompilePool& pool)
      : kernel_(kernel), problem_(problem), device_(device), before_(before), pool_(pool) {}

  /// Nothing where the configuration need not be compiled: `sampled` says why.
  std::optional<std::uint64_t> submit(SampledConfiguration& sampled) {
    try {
      sampled.outcome = SampleOutcome::DoesNotBind;
      static_cast<void>(spec::resolve(kernel_, problem_, sampled.configuration, device_));
      static_cast<void>(spec::resolve_own_untimed(kernel_, problem_, sampled.configuration, device_));
      auto source = spec::make_source(kernel_, problem_, sampled.configuration, device_);
      return pool_.submit({std::move(source), kernel_.name + ".cu", device_.architecture,
                           spec::compiler_options(kernel_, problem_, sampled.configuration, device_)});
    } catch (const spec::LimitError& error) {
      sampled.outcome = SampleOutcome::ExceedsLimits;
      sampled.detail = error.what();
    } catch (const SpecError& error) {
      sampled.detail = error.what();
    }
    return std::nullopt;
  }

  void take(SampledConfiguration& sampled, const compile::CompileResult& compiled) {
    if (timed_.insert(compiled.key).second) sampled.compile_ms = compiled.key == before_.key ? before_.compile_ms : compiled.compile_ms;
    if (compiled.status != compile::CompileStatus::Ok) {
      sampled.outcome = session::exceeds_static_shared(compiled) ? SampleOutcome::ExceedsLimits : SampleOutcome::CompileFailed;
      sampled.detail = first_reason(compiled.log);
      return;
    }
    sampled.outcome = SampleOutcome::Fits;
    const auto plan = spec::resolve(kernel_, problem_, sampled.configuration, device_);
    bind(sampled, plan, compiled);
    for (const auto& untimed : spec::resolve_own_untimed(kernel_, problem_, sampled.configuration, device_)) {
      if (sampled.outcome != SampleOutcome::Fits) return;
      bind(sampled, untimed.plan, compiled);
      if (!sampled.detail.empty()) sampled.detail = fmt::format("{}: {}", untimed.name, sampled.detail);
    }
    if (sampled.outcome != SampleOutcome::Fits) return;
    try {
      measure::Resources resources;
      session::add_resources(resources, plan, compiled, device_, kernel_.spec_path);
      session::require_untimed_fits(kernel_, problem_, sampled.configuration, compiled, device_);
      sampled.occupancy = resources.occupancy;
      sampled.registers = resources.registers;
      sampled.shared_bytes = resources.shared_bytes;
      sampled.spill_bytes = resources.spill_bytes;
    } catch (const spec::LimitError& error) {
      sampled.outcome = SampleOutcome::ExceedsLimits;
      sampled.detail = error.what();
    }
  }

 private:
  static void bind(SampledConfiguration& sampled, const spec::LaunchPlan& plan, const compile::CompileResult& compiled) {
    const auto kernels = base::read_cubin_kernels(compiled.cubin);
    if (!kernels) return;  // another format of cubins: what it takes is not known
    for (const auto* const launch : spec::launches_of(plan)) {
      sampled.detail = binding_fault(*launch, *kernels, compiled);
      if (sampled.detail.empty()) continue;
      sampled.outcome = SampleOutcome::DoesNotBind;
      return;
    }
  }

  const spec::KernelTemplate& kernel_;
  const spec::Problem& problem_;
  const spec::DeviceInfo& device_;
  const compile::CompileResult& before_;
  compile::CompilePool& pool_;
  std::set<std::string> timed_;  ///< keys of code that was compiled once
};

std::vector<double> compile_times(const std::vector<SampledConfiguration>& sample) {
  std::vector<double> times;
  for (const auto& sampled : sample) {
    if (sampled.compile_ms > 0) times.push_back(sampled.compile_ms);
  }
  return times;
}

std::size_t count_of(const std::vector<SampledConfiguration>& sample, SampleOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(sample.begin(), sample.end(), [&](const auto& sampled) { return sampled.outcome == outcome; }));
}

}  // namespace

const char* name(SampleOutcome outcome) { return kOutcomeNames.at(static_cast<std::size_t>(outcome)); }

std::vector<SampledConfiguration> check_sample(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                               const spec::DeviceInfo& device, const std::vector<spec::Configuration>& configurations,
                                               const compile::CompileResult& before, compile::CompilePool& pool, ProgressLine& line) {
  Sampler sampler(kernel, problem, device, before, pool);
  std::vector<SampledConfiguration> sample;
  std::unordered_map<std::uint64_t, std::size_t> waiting;  // tickets
  std::size_t done = 0;
  const auto collect = [&] {
    for (const auto& completed : pool.collect(std::chrono::milliseconds(200))) {
      const auto found = waiting.find(completed.ticket);
      if (found == waiting.end()) continue;
      sampler.take(sample[found->second], completed.result);
      waiting.erase(found);
      ++done;
    }
    if (line.due()) line.show(fmt::format("compiled {} of {} configurations", done, configurations.size()));
  };
  for (const auto& configuration : configurations) {
    sample.push_back({configuration});
    while (pool.queued() >= static_cast<std::size_t>(pool.workers())) collect();
    if (const auto ticket = sampler.submit(sample.back()))
      waiting.emplace(*ticket, sample.size() - 1);
    else
      ++done;
  }
  while (!waiting.empty()) collect();
  line.clear();
  return sample;
}

std::string binding_fault(const spec::LaunchPlan& plan, const compile::CompileResult& compiled) {
  const auto kernels = base::read_cubin_kernels(compiled.cubin);
  if (!kernels) return {};
  for (const auto* const launch : spec::launches_of(plan))
    if (std::string fault = binding_fault(*launch, *kernels, compiled); !fault.empty()) return fault;
  return {};
}

bool is_sound(const std::vector<SampledConfiguration>& sample) {
  return std::all_of(sample.begin(), sample.end(), [](const auto& sampled) {
    return sampled.outcome == SampleOutcome::Fits || sampled.outcome == SampleOutcome::ExceedsLimits;
  });
}

nlohmann::json sample_json(const spec::KernelTemplate& kernel, const std::vector<SampledConfiguration>& sample) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& sampled : sample) {
    list.push_back({{"configuration", base::parse_json(spec::to_text(kernel, sampled.configuration))},
                    {"outcome", name(sampled.outcome)},
                    {"detail", sampled.detail},
                    {"compile_ms", sampled.compile_ms},
                    {"registers", sampled.registers},
                    {"shared_bytes", sampled.shared_bytes},
                    {"spill_bytes", sampled.spill_bytes},
                    {"occupancy", sampled.occupancy}});
  }
  const auto times = compile_times(sample);
  nlohmann::json told = {
      {"configurations", std::move(list)},
      {"compilations", times.size()},
      {"compile_ms_median", times.empty() ? nlohmann::json() : nlohmann::json(base::median(times))},
      {"compile_ms_longest", times.empty() ? nlohmann::json() : nlohmann::json(*std::max_element(times.begin(), times.end()))}};
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) told[kOutcomeNames[i]] = count_of(sample, static_cast<SampleOutcome>(i));
  return told;
}

void print_sample(const spec::KernelTemplate& kernel, const std::vector<SampledConfiguration>& sample) {
  base::print("  of {} configurations {} fit, {} exceed limits, {} do not compile, {} do not bind\n", sample.size(),
              count_of(sample, SampleOutcome::Fits), count_of(sample, SampleOutcome::ExceedsLimits),
              count_of(sample, SampleOutcome::CompileFailed), count_of(sample, SampleOutcome::DoesNotBind));
  const auto told = [&](const SampledConfiguration& sampled) { return short_configuration(spec::to_text(kernel, sampled.configuration)); };
  if (const auto times = compile_times(sample); !times.empty()) {
    const auto longest =
        std::max_element(sample.begin(), sample.end(), [](const auto& a, const auto& b) { return a.compile_ms < b.compile_ms; });
    base::print("  {} compilations: {:.0f} ms in the middle, the longest {:.0f} ms ({})\n", times.size(), base::median(times),
                longest->compile_ms, told(*longest));
  }
  for (const auto& sampled : sample) {
    if (sampled.outcome == SampleOutcome::Fits) {
      if (sample.size() == 1)
        base::print("  {} registers, {} bytes shared, {} bytes spilled, occupancy {:.0f} %\n", sampled.registers, sampled.shared_bytes,
                    sampled.spill_bytes, 100 * sampled.occupancy);
      continue;
    }
    base::print("  {}  {}\n    {}\n", name(sampled.outcome), told(sampled), sampled.detail);
  }
}

}  // namespace attune::tools
