// The references that are built in: their code compiles for every architecture that attune knows and NVRTC has, and has the kernels that
// reference.json names.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "attune/error.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/verify/programs.hpp"

namespace test_references_compile {

using namespace attune;

namespace {

/// What every NVRTC has that attune takes, from 12.4 to 13: later ones are in newer versions, sm_70 in older ones.
const std::vector<std::string> kInEveryNvrtc = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90"};
const std::vector<std::string> kKnown = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

compile::CompileResult compile(const std::string& source, const std::string& name, const std::string& architecture) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);
  return nvrtc.compile({source, name + ".cu", architecture, {}});
}

/// Those of kKnown that the NVRTC at hand compiles for.
const std::vector<std::string>& architectures() {
  static const auto found = [] {
    std::vector<std::string> compiled;
    for (const std::string& architecture : kKnown)
      if (compile("", "nothing", architecture).status == compile::CompileStatus::Ok) compiled.push_back(architecture);
    return compiled;
  }();
  return found;
}

compile::CompileResult compile_clean(const std::string& source, const std::string& name, const std::string& architecture) {
  auto result = compile(source, name, architecture);
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

/// A problem of every type `T` of a template, the other axes at their first values; one where it has no such axis.
std::vector<spec::Problem> problems_of(const spec::KernelTemplate& kernel) {
  std::vector<spec::Problem> problems;
  const auto* const type = kernel.axis("T");
  for (const std::string& value : type != nullptr ? type->values : std::vector<std::string>{""}) {
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

TEST_CASE("the architectures are all that attune knows, but for those that the NVRTC at hand has not yet or no longer") {
  std::string known;
  try {
    static_cast<void>(spec::DeviceInfo::of_architecture("none"));
  } catch (const UsageError& error) {
    known = error.what();
  }
  for (const std::string& architecture : kKnown) CHECK(known.find(architecture) != std::string::npos);
  std::size_t named = 0;
  for (std::size_t at = known.find("sm_"); at != std::string::npos; at = known.find("sm_", at + 1)) ++named;
  CHECK(named == kKnown.size());
  for (const std::string& architecture : kInEveryNvrtc)
    CHECK(std::count(architectures().begin(), architectures().end(), architecture) == 1);
}

TEST_CASE("a template without the axis T has one problem to compile for, another one of each type") {
  const std::string axes = R"("n": {"size": {"min": 0}}, "op": {"choice": ["sum", "max"]})";
  const auto of = [](const std::string& problem) {
    return problems_of(
        spec::KernelTemplate::parse(R"({"attune": 1, "name": "k", "sources": ["k.cu"], "problem": {)" + problem +
                                        R"(}, "parameters": {}, "buffers": {"out": {"type": "f32", "count": 1, "output": true}},
                                                       "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["out"]}],
                                                       "reference": "none"})",
                                    {{"k.cu", ""}}, "template.json"));
  };
  const auto plain = of(axes);
  REQUIRE(plain.size() == 1);
  CHECK(plain.front().choices == std::map<std::string, std::string>{{"op", "sum"}});
  CHECK(of(axes + R"(, "T": {"type": ["f32", "i8"]})").size() == 2);
}

TEST_CASE("the code of every built-in reference compiles without a word, and has the kernels that its reference.json names") {
  std::set<std::string> seen;
  for (const std::string& name : spec::TemplateLibrary().names()) {
    const auto kernel = spec::TemplateLibrary().find(name);
    if (kernel.reference.kind != spec::ReferenceSpec::Kind::Defined) continue;
    const auto& definition = *kernel.reference.definition;
    seen.insert(definition.name);
    std::set<std::string> sources;
    for (const std::string& architecture : architectures()) {
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
    CHECK(sources.size() == architectures().size() * (definition.compiled_once ? 1 : problems_of(kernel).size()));
  }
  const auto shipped = spec::shipped_reference_names();
  CHECK(seen == std::set<std::string>(shipped.begin(), shipped.end()));
}

TEST_CASE("attune's own device kernels compile without a word for every architecture") {
  for (const std::string& architecture : architectures())
    static_cast<void>(compile_clean(verify::support_source(), "attune_support", architecture));
}

}  // namespace test_references_compile
