// Whole templates: template.json, its sources and what they include, ladder.json; then what a command does with them up to the
// compiler: the space, the source text, the launches.
#include <iterator>
#include <stdexcept>

#include "attune/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/fuzz/template_input.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/untimed_steps.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace {

using namespace attune;

constexpr std::uint64_t kLargestBuilt = 100'000;

spec::Problem first_problem(const spec::KernelTemplate& kernel) {
  spec::Problem problem;
  for (const auto& axis : kernel.problem) {
    if (axis.kind == spec::AxisKind::Size)
      problem.sizes[axis.name] = axis.min;
    else if (axis.default_value.empty())
      problem.choices[axis.name] = axis.values.front();
  }
  return problem;
}

/// A refusal of one step leaves the others worth a try.
template <class Step>
void attempt(Step&& step) {
  try {
    step();
  } catch (const Error&) {
  }
}

void use(const spec::KernelTemplate& kernel) {
  const auto problem = first_problem(kernel);
  const auto device = spec::DeviceInfo::of_architecture("sm_90");
  const auto configuration = spec::default_configuration(kernel);
  spec::validate(kernel, problem);
  if (spec::configuration_from_text(kernel, spec::to_text(kernel, configuration)) != configuration) {
    throw std::logic_error("a configuration's text is another configuration");
  }
  attempt([&] { static_cast<void>(spec::satisfies(kernel, problem, configuration, device)); });
  attempt([&] { static_cast<void>(spec::make_source(kernel, problem, configuration, device)); });
  attempt([&] { static_cast<void>(spec::compiler_options(kernel, problem, configuration, device)); });
  attempt([&] { static_cast<void>(spec::resolve(kernel, problem, configuration, device)); });
  attempt([&] { static_cast<void>(spec::resolve_reference(kernel, problem, configuration, device)); });
  attempt([&] { static_cast<void>(spec::resolve_own_untimed(kernel, problem, configuration, device)); });
  std::uint64_t combinations = 1;
  for (const auto& parameter : kernel.parameters) combinations = std::min(kLargestBuilt + 1, combinations * parameter.values.size());
  if (combinations <= kLargestBuilt) attempt([&] { static_cast<void>(space::SearchSpace::build(kernel, problem, device)); });
}

void read_input(const std::string& text) {
  const auto input = test::TemplateInput::read(text);
  auto kernel = spec::KernelTemplate::parse(input.spec, input.files, "fuzzed/template.json");
  const auto again = spec::KernelTemplate::parse(input.spec, kernel.files, "fuzzed/template.json");
  if (again.content_hash != kernel.content_hash) throw std::logic_error("the files that a template keeps make another template");
  if (const auto ladder = input.files.find("ladder.json"); ladder != input.files.end()) {
    kernel.ladder_text = ladder->second;
    kernel.ladder_path = "fuzzed/ladder.json";
    attempt([&] { static_cast<void>(spec::VariantLadder::of(kernel)); });
  }
  use(kernel);
}

/// Words that mutations put into inputs.
constexpr const char* kDictionary[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       ":",
                                       ",",
                                       "\"",
                                       "\"\":1,",
                                       "\"a\":",
                                       "null",
                                       "true",
                                       "//",
                                       "/*",
                                       "*/",
                                       "\\u0000",
                                       "\\ud800",
                                       "\xEF\xBB\xBF",
                                       "\xC3",
                                       "R\"",
                                       "R\"\"",
                                       "R\"(",
                                       "R\"a(",
                                       ")\"",
                                       "u8R\"",
                                       "\\\n",
                                       "\\\r\n",
                                       "'",
                                       "#include \"a\"\n",
                                       "#include <attune/values.cuh>\n",
                                       "#include <cuda_fp16.h>\n",
                                       "#pragma once\n",
                                       "#include \"../a\"\n",
                                       "#include \"sub/../a\"\n",
                                       "\n@@ a\n",
                                       "\n@@ b\n#include \"a\"\n",
                                       "%:",
                                       "#if __has_include(\"a\")\n",
                                       "\n@@ ladder.json\n",
                                       "\"options\":[\"-std=c++17\"],",
                                       "\"options\":[\"-create-pch=x\"],",
                                       "\"--use_fast_math\"",
                                       "\"options\":[{\"option\":\"-w\",\"if\":\"n<1\"}],",
                                       "{T}",
                                       "<T,1>",
                                       "::",
                                       "\"cluster\":{\"blocks\":2,\"if\":\"True\"},",
                                       "\"dependent\":\"n<1\",",
                                       "\"values\":\"powers(2,1,64)\",",
                                       "\"values\":\"[i for i in range(9)]\",",
                                       "\"if\":\"n<1\",",
                                       "\"repeat\":{\"count\":\"1000000\",\"index\":\"i\"},",
                                       "\"let\":{\"x\":\"n\"},",
                                       "\"values\":[1,2],",
                                       "\"default\":1",
                                       "\"specialise\":[\"n\"],",
                                       "\"min\":0,\"max\":0",
                                       "\"code\":{\"returns\":\"T\",\"arguments\":{\"x\":\"T\"}}",
                                       "n",
                                       "T",
                                       "f32",
                                       "bf16",
                                       "**",
                                       "<",
                                       "(",
                                       ")",
                                       " and ",
                                       "clamp(",
                                       "[1,"};

}  // namespace

int main(int argc, char** argv) {
  auto corpus = test::template_inputs(std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates");
  for (auto& input : test::template_inputs(std::string(ATTUNE_SOURCE_DIR) + "/templates")) corpus.push_back(std::move(input));
  return test::fuzz_main(argc, argv, "template", std::move(corpus), {std::begin(kDictionary), std::end(kDictionary)}, read_input);
}
