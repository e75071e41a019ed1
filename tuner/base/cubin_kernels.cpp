#include "tuner/base/cubin_kernels.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace attune::base {
namespace {

constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr std::string_view kInfoSection = ".nv.info.";
constexpr std::size_t kMostSymbolBytes = 65536;  // compilers have shorter ones

// An attribute is a byte of its format, a byte of its kind and 16 bits, which in the format kSized tell the bytes that follow.
constexpr std::uint8_t kSized = 0x04;
constexpr std::uint8_t kMostThreads = 0x05;  // x, y, z of __launch_bounds__
constexpr std::uint8_t kParameter = 0x17;    // index (32 bits), ordinal and offset (16 each), size in the upper 14 of 32

/// A value at a place, where the bytes hold it.
template <class T>
std::optional<T> load(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  return at <= bytes.size() && size <= bytes.size() - at ? bytes.substr(at, size) : std::string_view();
}

std::string_view content(std::string_view bytes, const Elf64_Shdr& section) { return part(bytes, section.sh_offset, section.sh_size); }

CubinKernel read_attributes(std::string_view info) {
  CubinKernel kernel;
  for (std::uint64_t at = 0; at + 4 <= info.size();) {
    const auto format = *load<std::uint8_t>(info, at), kind = *load<std::uint8_t>(info, at + 1);
    const auto size = *load<std::uint16_t>(info, at + 2);
    at += 4;
    if (format != kSized) continue;
    const std::string_view value = part(info, at, size);
    at += size;
    if (kind == kMostThreads && value.size() >= 12) {
      kernel.most_threads =
          static_cast<int>(*load<std::uint32_t>(value, 0) * *load<std::uint32_t>(value, 4) * *load<std::uint32_t>(value, 8));
    } else if (kind == kParameter && value.size() >= 12) {
      const std::size_t ordinal = *load<std::uint16_t>(value, 4);
      kernel.parameter_bytes.resize(std::max(kernel.parameter_bytes.size(), ordinal + 1));
      kernel.parameter_bytes[ordinal] = static_cast<int>(*load<std::uint32_t>(value, 8) >> 18);
    }
  }
  return kernel;
}

}  // namespace

std::optional<std::map<std::string, CubinKernel>> read_cubin_kernels(std::string_view cubin) {
  const auto header = load<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != kMachineCuda || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum)
    return std::nullopt;
  const auto section_at = [&](std::uint64_t i) { return load<Elf64_Shdr>(cubin, header->e_shoff + i * sizeof(Elf64_Shdr)); };
  const auto named = section_at(header->e_shstrndx);
  if (!named) return std::nullopt;
  const std::string_view names = content(cubin, *named);
  std::map<std::string, CubinKernel> kernels;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section) return std::nullopt;
    const std::string_view name = names.substr(std::min<std::size_t>(section->sh_name, names.size()));
    const std::string_view whole = name.substr(0, name.find('\0'));
    if (whole.size() <= kMostSymbolBytes && whole.starts_with(kInfoSection))
      kernels[std::string(whole.substr(kInfoSection.size()))] = read_attributes(content(cubin, *section));
  }
  return kernels;
}

}  // namespace attune::base
