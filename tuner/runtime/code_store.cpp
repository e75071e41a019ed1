#include "tuner/runtime/code_store.hpp"

#include <fmt/core.h>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"

namespace attune::runtime {

CodeRequest make_code_request(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                              const spec::DeviceInfo& device) {
  CodeRequest request;
  request.compile = {spec::make_source(kernel, problem, configuration, device), kernel.name + ".cu", device.architecture,
                     spec::compiler_options(kernel, problem, configuration, device)};
  request.source_key = compile::source_key(request.compile);
  base::ContentHasher hasher;
  hasher.add("dispatch").add(device.architecture).add(request.compile.source);
  for (const auto& option : compile::full_options(request.compile)) hasher.add(option);
  request.cache_key = hasher.key();
  return request;
}

CodeStore::CodeStore(const std::filesystem::path& folder) {
  if (folder.empty()) {
    warning_ = "no cache folder ($XDG_CACHE_HOME and HOME are not set): compiled kernels are not kept between processes";
    return;
  }
  cache_.emplace(folder);
}

std::optional<Code> CodeStore::stored(const CodeRequest& request, const Choice& choice, const std::vector<Layer>& layers) const {
  const bool usable = choice.layer && layers[*choice.layer].trusted && !choice.cubin_key.empty() && choice.source_key == request.source_key;
  if (!usable) return std::nullopt;
  try {
    if (auto cubin = layers[*choice.layer].database.cubin(choice.cubin_key)) return Code{std::move(*cubin), "database"};
  } catch (const DatabaseError&) {
    // The page that holds it is damaged. The row that names it was sound, and the source gives the same code again.
  }
  return std::nullopt;
}

std::optional<Code> CodeStore::find(const CodeRequest& request, const Choice& choice, const std::vector<Layer>& layers) const {
  auto code = stored(request, choice, layers);
  return code ? code : cached(request);
}

std::optional<Code> CodeStore::cached(const CodeRequest& request) const {
  if (!cache_) return std::nullopt;
  auto cached = cache_->find(request.cache_key);
  if (!cached || cached->status != compile::CompileStatus::Ok) return std::nullopt;
  return Code{std::move(cached->cubin), "cache"};
}

Code CodeStore::compile(const CodeRequest& request) {
  if (!nvrtc_) nvrtc_ = std::make_unique<compile::Nvrtc>();
  auto result = nvrtc_->compile(request.compile);
  if (result.status != compile::CompileStatus::Ok) {
    throw CompileError(fmt::format("failed compiling {} for {} with {}: NVRTC rejected the source; its log:\n{}", request.compile.name,
                                   request.compile.architecture, nvrtc_->build(), result.log),
                       result.log);
  }
  // A failed compilation is not kept under this key: another NVRTC may well accept the source.
  if (cache_) {
    result.key = request.cache_key;  // the cache checks that a file holds what its name says
    cache_->store(request.cache_key, result);
  }
  return Code{std::move(result.cubin), "compiled"};
}

}  // namespace attune::runtime
