#include "tuner/runtime/code_loader.hpp"

#include <elf.h>
#include <fmt/core.h>

#include <cstring>

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

/// Whether the tables that the header speaks of, and the sections, lie inside the image. cuModuleLoadData is not told
/// where it ends, and follows a cut one past it.
bool is_whole_elf(const std::string& image) {
  const auto inside = [&](std::uint64_t offset, std::uint64_t bytes) { return offset <= image.size() && bytes <= image.size() - offset; };
  Elf64_Ehdr header;
  if (!inside(0, sizeof header)) return false;
  std::memcpy(&header, image.data(), sizeof header);
  const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf || header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  if (!inside(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return false;
  if (!inside(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize)) return false;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && !inside(section.sh_offset, section.sh_size)) return false;
  }
  return true;
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
  if (!is_whole_elf(code->cubin)) {
    notices_.push_back(fmt::format("a cubin of {} is not used: its {} bytes are no complete ELF image", place, code->cubin.size()));
    return std::nullopt;
  }
  try {
    return LoadedCode{std::make_shared<const gpu::Module>(code->cubin), code->origin, false};
  } catch (const CudaError& error) {
    if (!is_refused_image(error.result())) throw;
    notices_.push_back(fmt::format("a cubin of {} is not used: {}", place, error.what()));
    return std::nullopt;
  }
}

}  // namespace attune::runtime
