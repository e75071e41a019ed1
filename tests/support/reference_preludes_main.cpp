// reference_preludes FOLDER: writes what stands before the code of each built-in reference as FOLDER/<name>.inc, and the numbers of element
// types alone as FOLDER/types.inc, for the fake driver, which compiles that code for the host.
#include <fstream>
#include <iostream>

#include "tuner/spec/reference_problem.hpp"

int main(int count, char** arguments) {
  using namespace attune;
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  try {
    std::ofstream(folder + "/types.inc") << spec::type_numbers();
    for (const std::string& name : spec::shipped_reference_names())
      std::ofstream(folder + "/" + name + ".inc") << spec::reference_prelude(*spec::shipped_reference(name, {}));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
