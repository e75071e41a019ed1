#include "tests/support/fake_cuda/kernels.hpp"

#include <stdexcept>
#include <utility>

namespace attune::fake_cuda {

Fault fault_from_name(const std::string& name) {
  static const std::vector<std::pair<std::string, Fault>> names = {{"illegal_address", Fault::IllegalAddress},
                                                                   {"misaligned_address", Fault::MisalignedAddress},
                                                                   {"trap", Fault::Trap},
                                                                   {"assert", Fault::Assert},
                                                                   {"stack_overflow", Fault::StackOverflow},
                                                                   {"endless_loop", Fault::EndlessLoop},
                                                                   {"out_of_resources", Fault::OutOfResources},
                                                                   {"process_killed", Fault::ProcessKilled}};
  for (const auto& [known, fault] : names) {
    if (known == name) return fault;
  }
  throw std::runtime_error("unknown fault \"" + name + "\"");
}

HostKernel find_host_kernel(std::string_view name) {
  for (const auto* table : {&support_kernels(), &synthetic_kernels(), &scratch_kernels(), &packed_kernels(), &million_kernels(),
                            &reduce_kernels(), &arg_reduce_kernels(), &row_kernels(), &transpose_kernels()}) {
    for (const auto& kernel : *table) {
      if (kernel.name == name) return kernel.run;
    }
  }
  return nullptr;
}

}  // namespace attune::fake_cuda
