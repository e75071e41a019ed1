#include "tuner/compile/find_kernel.hpp"

#include <algorithm>
#include <vector>

#include "tuner/base/kernel_symbol.hpp"

namespace attune::compile {

const KernelResources* find_kernel(const CompileResult& compiled, const std::string& launched) {
  std::vector<std::string> symbols;
  for (const KernelResources& kernel : compiled.kernels) symbols.push_back(kernel.kernel);
  const auto found = std::find(symbols.begin(), symbols.end(), base::kernel_symbol(symbols, launched));
  return found == symbols.end() ? nullptr : &compiled.kernels[static_cast<std::size_t>(found - symbols.begin())];
}

}  // namespace attune::compile
