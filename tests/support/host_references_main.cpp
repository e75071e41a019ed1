// host_references FOLDER: writes the code of the built-in references for the host, for the fake driver and for tests of its arithmetic:
// FOLDER/types.inc, what attune writes before its own device code; code.inc, the code of each in a namespace of its own behind what attune
// writes before it; kernels.inc, the kernels that attune launches, as the fake driver lists them. A reference that is compiled for each
// kind of problem is left out: its types are macros.
#include <fstream>
#include <iostream>
#include <set>

#include "tuner/spec/reference_problem.hpp"

namespace {

using namespace attune;

std::set<std::string> kernels_of(const spec::ReferenceDefinition& reference) {
  std::set<std::string> kernels;
  for (const auto& step : reference.form.steps)
    if (const auto* const launch = std::get_if<spec::LaunchSpec>(&step)) kernels.insert(launch->kernel);
  for (const auto& input : reference.inputs)
    if (input.fill) kernels.insert(input.fill->launch.kernel);
  if (reference.plant) kernels.insert(reference.plant->kernel.launch.kernel);
  if (reference.alter) kernels.insert(reference.alter->launch.kernel);
  return kernels;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  try {
    std::ofstream(folder + "/types.inc") << spec::support_prelude();
    std::ofstream code(folder + "/code.inc"), kernels(folder + "/kernels.inc");
    for (const std::string& name : spec::shipped_reference_names()) {
      const auto reference = spec::shipped_reference(name, {});
      if (!reference->compiled_once) continue;
      code << "namespace of_" << name << " {\n" << spec::reference_prelude(*reference);
      for (const auto& source : reference->form.sources) code << "#include \"templates/references/" << name << "/" << source.file << "\"\n";
      code << "}\n";
      for (const auto& kernel : kernels_of(*reference))
        kernels << "{\"" << kernel << "\", OnHost<of_" << name << "::" << kernel << ">::run},\n";
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
