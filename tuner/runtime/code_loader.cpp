#include "tuner/runtime/code_loader.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

/// Results that speak of the image itself. Anything else (no memory, a lost context) would meet a new cubin as well.
bool is_refused_image(int result) {
  switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_INVALID_VALUE:
      return true;
    default:
      return false;
  }
}

}  // namespace

LoadedCode CodeLoader::load(const CodeRequest& request, const Choice& choice) {
  const std::string layer = choice.layer ? layers_[*choice.layer].path.string() : "";
  if (auto loaded = try_load(store_.stored(request, choice, layers_), layer)) return std::move(*loaded);
  if (auto loaded = try_load(store_.cached(request), "the compile cache")) return std::move(*loaded);
  compiles_.fetch_add(1, std::memory_order_relaxed);
  const Code code = store_.compile(request);
  return {std::make_shared<const gpu::Module>(code.cubin), code.origin, true};
}

std::optional<LoadedCode> CodeLoader::try_load(const std::optional<Code>& code, const std::string& place) {
  if (!code) return std::nullopt;
  try {
    return LoadedCode{std::make_shared<const gpu::Module>(code->cubin), code->origin, false};
  } catch (const CudaError& error) {
    if (!is_refused_image(error.result())) throw;
    notices_.push_back(fmt::format("a cubin of {} is not used: {}", place, error.what()));
    return std::nullopt;
  }
}

}  // namespace attune::runtime
