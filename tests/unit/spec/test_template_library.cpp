#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>

#include "spec_support.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_template_library {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;
using attune::test::TempFolder;

namespace {

/// $ATTUNE_TEMPLATES for one test.
class TemplatesVariable {
 public:
  explicit TemplatesVariable(const std::string& value) { ::setenv("ATTUNE_TEMPLATES", value.c_str(), 1); }
  ~TemplatesVariable() { ::unsetenv("ATTUNE_TEMPLATES"); }
  TemplatesVariable(const TemplatesVariable&) = delete;
  TemplatesVariable& operator=(const TemplatesVariable&) = delete;
};

void write_sample(const std::filesystem::path& folder, const std::string& name) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "template.json") << replaced(sample_template(), R"("name": "sample")", R"("name": ")" + name + "\"");
  std::ofstream(folder / "sample.cu") << "// sample\n";
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("built-in templates need no files at run time") {
  const TemplateLibrary library;
  CHECK(has(library.names(), "reduce"));
  const KernelTemplate reduce = library.find("reduce");
  CHECK(reduce.name == "reduce");
  CHECK(reduce.spec_path == "templates/reduce/template.json");
  CHECK(reduce.content_hash == KernelTemplate::load(std::string(ATTUNE_SOURCE_DIR) + "/templates/reduce").content_hash);
}

TEST_CASE("every built-in template resolves its default configuration for every type and choice") {
  const TemplateLibrary library;
  const DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  for (const std::string& name : library.names()) {
    const KernelTemplate kernel = library.find(name);
    Problem problem;
    for (const ProblemAxis& axis : kernel.problem) {
      if (axis.kind == AxisKind::Size)
        problem.sizes[axis.name] = 1 << 20;
      else if (axis.default_value.empty())
        problem.choices[axis.name] = axis.values.front();
    }
    validate(kernel, problem);
    CHECK(satisfies(kernel, problem, default_configuration(kernel), device));
    CHECK_FALSE(resolve(kernel, problem, default_configuration(kernel), device).steps.empty());
    CHECK_FALSE(make_source(kernel, problem, default_configuration(kernel), device).empty());
  }
}

TEST_CASE("the user's folders come before the variable's, and both before the built-in ones") {
  const TempFolder mine;
  const TempFolder shared;
  write_sample(mine / "blur", "mine");
  write_sample(shared / "blur", "shared");
  write_sample(shared / "reduce", "my_reduce");
  const TemplatesVariable variable(":" + (shared / "missing").string() + ":" + shared.path().string());
  const TemplateLibrary library({mine.path()});
  CHECK(library.find("blur").name == "mine");
  CHECK(library.find("reduce").name == "my_reduce");
  CHECK(TemplateLibrary().find("blur").name == "shared");
  CHECK(has(library.names(), "blur"));
  const std::vector<std::string> names = library.names();
  CHECK(std::count(names.begin(), names.end(), "reduce") == 1);
}

TEST_CASE("a template is found by the path of its folder") {
  const TempFolder folder;
  write_sample(folder / "blur", "blur");
  CHECK(TemplateLibrary().find((folder / "blur").string()).name == "blur");
  CHECK(contains(error_of([&] { (void)TemplateLibrary().find((folder / "nothing").string()); }), "the folder lacks template.json"));
}

TEST_CASE("a bare name never means a folder of the working directory") {
  const TempFolder folder;
  write_sample(folder / "mine", "mine");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  CHECK_THROWS_AS(static_cast<void>(TemplateLibrary().find("mine")), UsageError);
  CHECK(TemplateLibrary().find("./mine").name == "mine");
  std::filesystem::current_path(before);
}

TEST_CASE("an unknown name lists what is there, with a suggestion") {
  CHECK_THROWS_AS((void)TemplateLibrary().find("reduec"), UsageError);
  const std::string error = error_of([] { (void)TemplateLibrary().find("reduec"); });
  CHECK(contains(error, "there is no template 'reduec'; known: "));
  CHECK(contains(error, "did you mean 'reduce'?"));
  CHECK_THROWS_AS((void)TemplateLibrary().find(""), UsageError);
}

TEST_CASE("the example template of a user's own is valid") {
  const KernelTemplate saxpy = KernelTemplate::load(std::string(ATTUNE_SOURCE_DIR) + "/examples/templates/saxpy");
  const DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  const Problem problem{{{"T", "f64"}}, {{"n", 1000}}};
  const LaunchPlan plan = resolve(saxpy, problem, default_configuration(saxpy), device);
  CHECK(plan.buffers[1].input);
  CHECK(plan.buffers[1].output);
  CHECK(plan.work_bytes == 24000);
  CHECK(resolve_reference(saxpy, problem, default_configuration(saxpy), device).steps.size() == 1);
}

TEST_CASE("the reference of a built-in reduce is a kernel for operators and transforms of the caller's own only") {
  for (const char* name : {"reduce", "reproducible_reduce"}) {
    const KernelTemplate kernel = TemplateLibrary().find(name);
    CHECK(kernel.reference.kind == ReferenceSpec::Kind::Defined);
    const auto asks = [&](std::map<std::string, std::string> choices) {
      choices.emplace("T", "f32");
      return asks_reference_kernel(kernel, Problem{std::move(choices), {{"n", 1000}}});
    };
    CHECK_FALSE(asks({{"op", "sum"}}));
    CHECK_FALSE(asks({{"op", "max"}, {"transform", "times"}, {"finish", "scale_bias"}}));
    CHECK(asks({{"op", "custom"}}));
    CHECK(asks({{"op", "sum"}, {"transform", "custom"}}));
    CHECK(choice_of(kernel, Problem{{{"T", "f32"}, {"op", "sum"}}, {}}, "transform") == "identity");
  }
}

}  // namespace test_template_library
