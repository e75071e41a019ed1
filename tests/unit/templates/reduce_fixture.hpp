#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tuner/compile/compiler.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::templates::test {

inline const std::vector<std::string> kTypes = {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "u32", "i64", "u64"};
inline const std::vector<std::string> kOperators = {"sum", "product", "min", "max", "and", "or", "xor", "custom"};

inline bool is_floating(const std::string& type) { return type[0] == 'f' || type == "bf16"; }

/// The template as it is in the source tree, not the copy built into the library.
inline const spec::KernelTemplate& template_named(const std::string& name) {
  static std::map<std::string, spec::KernelTemplate> loaded;
  const auto found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  return loaded.emplace(name, spec::KernelTemplate::load(std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates" / name)).first->second;
}
inline const spec::KernelTemplate& reduce_template() { return template_named("reduce"); }

/// 132 SMs.
inline spec::DeviceInfo device() { return spec::DeviceInfo::of_architecture("sm_90"); }

/// A sum of f32 where `choices` say nothing else.
inline spec::Problem problem_of(const spec::KernelTemplate& kernel, std::map<std::string, std::string> choices, std::int64_t n) {
  choices.emplace("T", "f32");
  choices.emplace("op", "sum");
  return spec::canonical(kernel, {std::move(choices), {{"n", n}}});
}
inline spec::Problem problem(const std::string& type, const std::string& op, std::int64_t n) {
  return problem_of(reduce_template(), {{"T", type}, {"op", op}}, n);
}

/// The default configuration with some values changed; they are written as in template.json, strings without quotes.
inline spec::Configuration configuration_of(const spec::KernelTemplate& kernel, const std::map<std::string, std::string>& changes) {
  spec::Configuration result = spec::default_configuration(kernel);
  for (const auto& [name, value] : changes) {
    bool known = false;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
      const auto& values = kernel.parameters[p].values;
      for (std::size_t i = 0; kernel.parameters[p].name == name && i < values.size(); ++i) {
        if (spec::to_text(values[i]) != value) continue;
        result.index[p] = static_cast<std::uint16_t>(i);
        known = true;
      }
    }
    REQUIRE_MESSAGE(known, name << " has no value " << value);
  }
  return result;
}
inline spec::Configuration configuration(const std::map<std::string, std::string>& changes) {
  return configuration_of(reduce_template(), changes);
}

/// The launches of a plan that only launches.
inline std::vector<spec::ResolvedLaunch> launches(const spec::LaunchPlan& plan) {
  std::vector<spec::ResolvedLaunch> all;
  for (const auto& step : plan.steps) all.push_back(std::get<spec::ResolvedLaunch>(step));
  return all;
}

inline std::int64_t count(const spec::LaunchPlan& plan, const std::string& buffer) {
  for (const auto& candidate : plan.buffers) {
    if (candidate.name == buffer) return candidate.count;
  }
  FAIL("no buffer " << buffer);
  return -1;
}

/// Compiles without a word of the compiler, without spilling, and has the kernels that the launches name.
inline void check_compiles(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& chosen,
                           const char* architecture = "sm_90") {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);
  CAPTURE(spec::to_text(problem));
  CAPTURE(spec::to_text(kernel, chosen));
  CAPTURE(architecture);
  const auto device = spec::DeviceInfo::of_architecture(architecture);
  const auto result = nvrtc.compile({spec::make_source(kernel, problem, chosen, device), kernel.name + ".cu", architecture,
                                     spec::compiler_options(kernel, problem, chosen, device)});
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
  for (const auto& compiled : result.kernels) {
    CHECK(compiled.spill_store_bytes == 0);
    CHECK(compiled.stack_bytes == 0);
  }
  for (const auto& launch : launches(spec::resolve(kernel, problem, chosen, device))) {
    bool there = false;
    for (const auto& compiled : result.kernels) there = there || compiled.kernel == launch.kernel;
    CHECK_MESSAGE(there, launch.kernel);
  }
}

}  // namespace attune::templates::test
