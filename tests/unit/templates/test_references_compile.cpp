// The references that are built in: their code compiles for every architecture, and has the kernels that reference.json names.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "attune/error.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/verify/programs.hpp"

namespace test_references_compile {

using namespace attune;

namespace {

const std::vector<std::string> kArchitectures = {"sm_75", "sm_80", "sm_90"};

compile::CompileResult compile_clean(const std::string& source, const std::string& name, const std::string& architecture) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);
  auto result = nvrtc.compile({source, name + ".cu", architecture, {}});
  CAPTURE(name);
  CAPTURE(architecture);
  CHECK_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
  return result;
}

/// Every kernel that reference.json names.
std::set<std::string> named_kernels(const spec::ReferenceDefinition& definition) {
  std::set<std::string> names;
  for (const auto& step : definition.form.steps)
    if (const auto* launch = std::get_if<spec::LaunchSpec>(&step)) names.insert(launch->kernel);
  for (const auto& input : definition.inputs)
    if (input.fill) names.insert(input.fill->launch.kernel);
  if (definition.plant) names.insert(definition.plant->kernel.launch.kernel);
  if (definition.alter) names.insert(definition.alter->launch.kernel);
  return names;
}

/// A problem of every type of a template, the other axes at their first values.
std::vector<spec::Problem> problems_of(const spec::KernelTemplate& kernel) {
  std::vector<spec::Problem> problems;
  const auto* type = kernel.axis("T");
  for (const std::string& value : type->values) {
    spec::Problem problem;
    for (const auto& axis : kernel.problem) {
      if (axis.kind == spec::AxisKind::Size)
        problem.sizes[axis.name] = 1024;
      else if (axis.kind != spec::AxisKind::Code)
        problem.choices[axis.name] = &axis == type ? value : axis.values.front();
    }
    problems.push_back(spec::canonical(kernel, problem));
  }
  return problems;
}

/// Empty: a kind of problem that the reference refuses.
std::string program_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  try {
    return verify::reference_program(kernel, problem, device).value().source;
  } catch (const SpecError&) {
    return "";
  }
}

}  // namespace

TEST_CASE("the code of every built-in reference compiles without a word, and has the kernels that its reference.json names") {
  std::set<std::string> seen;
  for (const std::string& name : spec::TemplateLibrary().names()) {
    const auto kernel = spec::TemplateLibrary().find(name);
    if (kernel.reference.kind != spec::ReferenceSpec::Kind::Defined) continue;
    const auto& definition = *kernel.reference.definition;
    seen.insert(definition.name);
    std::set<std::string> sources;
    for (const std::string& architecture : kArchitectures) {
      const auto device = spec::DeviceInfo::of_architecture(architecture);
      for (const auto& problem : problems_of(kernel)) {
        const std::string source = program_of(kernel, problem, device);
        if (source.empty() || !sources.insert(architecture + source).second) continue;
        const auto result = compile_clean(source, definition.name, architecture);
        for (const std::string& wanted : named_kernels(definition)) {
          CAPTURE(wanted);
          CHECK(std::any_of(result.kernels.begin(), result.kernels.end(), [&](const auto& used) { return used.kernel == wanted; }));
        }
      }
    }
    CHECK(sources.size() == kArchitectures.size() * (definition.compiled_once ? 1 : kernel.axis("T")->values.size()));
  }
  const auto shipped = spec::shipped_reference_names();
  CHECK(seen == std::set<std::string>(shipped.begin(), shipped.end()));
}

TEST_CASE("attune's own device kernels compile without a word for every architecture") {
  for (const std::string& architecture : kArchitectures)
    static_cast<void>(compile_clean(verify::support_source(), "attune_support", architecture));
}

}  // namespace test_references_compile
