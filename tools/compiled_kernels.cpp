#include "tools/compiled_kernels.hpp"

#include "tuner/base/json.hpp"
#include "tuner/base/kernel_symbol.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {

nlohmann::json describe_kernels(const compile::CompileResult& compiled) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const auto& kernel : compiled.kernels) {
    kernels.push_back({{"kernel", base::shown_kernel(kernel.kernel)},
                       {"registers", kernel.registers},
                       {"shared_bytes", kernel.static_shared_bytes},
                       {"stack_bytes", kernel.stack_bytes},
                       {"spill_bytes", kernel.spill_store_bytes + kernel.spill_load_bytes}});
  }
  return kernels;
}

std::string names_of_kernels(const compile::CompileResult& compiled) {
  std::string names;
  for (const auto& kernel : compiled.kernels) names += (names.empty() ? "" : ", ") + base::shown_kernel(kernel.kernel);
  return names;
}

void print_kernels(const compile::CompileResult& compiled) {
  for (const auto& used : compiled.kernels) {
    base::print("  {}: {} registers, {} bytes shared, {} bytes stack, {} bytes spilled\n", base::shown_kernel(used.kernel), used.registers,
                used.static_shared_bytes, used.stack_bytes, used.spill_store_bytes + used.spill_load_bytes);
  }
}

}  // namespace attune::tools
