// Uses one class of every tuning layer that needs no GPU.
#include <cstdio>

#include "db/database.hpp"
#include "tuner/gpu/driver.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/kernel_template.hpp"

int main() {
  const auto kernel = attune::spec::TemplateLibrary().find("reduce");
  const attune::spec::Problem problem{{{"T", "f32"}, {"op", "sum"}}, {{"n", 1024}}};
  const auto space = attune::space::SearchSpace::build(kernel, problem, attune::spec::DeviceInfo::of_architecture("sm_90"));
  std::printf("%llu configurations; %s\n", static_cast<unsigned long long>(space.size()),
              attune::gpu::Driver::unavailable_reason().c_str());
  return space.size() > 0 ? 0 : 1;
}
