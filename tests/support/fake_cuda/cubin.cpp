#include "tests/support/fake_cuda/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string_view>

namespace attune::fake_cuda {
namespace {

constexpr std::uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

// Attributes of .nv.info sections. Each is a format byte, an attribute byte and a 16-bit value; in the format kSized the
// value is the number of bytes that follow.
constexpr std::uint8_t kSized = 0x04;
constexpr std::uint8_t kMaxThreads = 0x05;     // x, y, z of __launch_bounds__
constexpr std::uint8_t kParameter = 0x17;      // index, ordinal and offset, size in the upper 14 bits
constexpr std::uint8_t kRegisterCount = 0x2f;  // symbol of the kernel, registers

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

struct Section {
  Elf64_Shdr header;
  std::string name;
  const std::byte* bytes;
};

class Image {
 public:
  explicit Image(const void* image) : base_(static_cast<const std::byte*>(image)), header_(load<Elf64_Ehdr>(base_)) {
    const bool elf = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_ident[EI_CLASS] == ELFCLASS64;
    if (!elf || header_.e_machine != kMachineCuda || header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shoff > kMostBytes ||
        header_.e_shstrndx >= header_.e_shnum) {
      throw std::runtime_error("no cubin");
    }
    for (int i = 0; i < header_.e_shnum; ++i) {
      const auto section = load<Elf64_Shdr>(base_ + header_.e_shoff + static_cast<std::size_t>(i) * sizeof(Elf64_Shdr));
      if (section.sh_offset > kMostBytes || section.sh_size > kMostBytes) throw std::runtime_error("no cubin: a section is out of bounds");
      sections_.push_back({section, "", base_ + section.sh_offset});
    }
    for (auto& section : sections_) section.name = text(sections_[header_.e_shstrndx], section.header.sh_name);
  }

  [[nodiscard]] int compute_capability() const {
    // CUDA 13 (ABI version 8) moved the real architecture from the lowest byte of the flags to the next.
    return static_cast<int>((header_.e_ident[EI_ABIVERSION] >= 8 ? header_.e_flags >> 8 : header_.e_flags) & 0xff);
  }
  [[nodiscard]] const Section* find(const std::string& name) const {
    const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& section) { return section.name == name; });
    return found == sections_.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Section* section(std::size_t index) const { return index < sections_.size() ? &sections_[index] : nullptr; }

  struct Symbol {
    Elf64_Sym entry;
    std::string name;
  };
  [[nodiscard]] std::vector<Symbol> symbols() const {
    std::vector<Symbol> found;
    const Section* const table = find(".symtab");
    if (table == nullptr || section(table->header.sh_link) == nullptr) throw std::runtime_error("no cubin: it has no symbols");
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->header.sh_size; at += sizeof(Elf64_Sym)) {
      const auto entry = load<Elf64_Sym>(table->bytes + at);
      found.push_back({entry, text(sections_[table->header.sh_link], entry.st_name)});
    }
    return found;
  }

 private:
  static std::string text(const Section& strings, std::size_t offset) {
    if (offset >= strings.header.sh_size) throw std::runtime_error("no cubin: a name is out of bounds");
    const auto* begin = reinterpret_cast<const char*>(strings.bytes) + offset;
    return {begin, ::strnlen(begin, strings.header.sh_size - offset)};
  }

  const std::byte* base_;
  Elf64_Ehdr header_;
  std::vector<Section> sections_;
};

/// Calls `take(attribute, bytes, size)` for every sized attribute of the section.
template <class Take>
void for_each_attribute(const Section* info, Take&& take) {
  if (info == nullptr) return;
  for (std::uint64_t at = 0; at + 4 <= info->header.sh_size;) {
    const auto format = load<std::uint8_t>(info->bytes + at);
    const auto attribute = load<std::uint8_t>(info->bytes + at + 1);
    const auto size = load<std::uint16_t>(info->bytes + at + 2);
    at += 4;
    if (format != kSized) continue;
    if (at + size > info->header.sh_size) throw std::runtime_error("no cubin: an attribute is out of bounds");
    take(attribute, info->bytes + at, size);
    at += size;
  }
}

std::map<std::uint32_t, int> registers_by_symbol(const Image& image) {
  std::map<std::uint32_t, int> registers;
  for_each_attribute(image.find(".nv.info"), [&](std::uint8_t attribute, const std::byte* bytes, std::size_t size) {
    if (attribute == kRegisterCount && size >= 8) registers[load<std::uint32_t>(bytes)] = load<int>(bytes + 4);
  });
  return registers;
}

CubinKernel read_kernel(const Image& image, const std::string& name) {
  CubinKernel kernel;
  kernel.name = name;
  for_each_attribute(image.find(".nv.info." + name), [&](std::uint8_t attribute, const std::byte* bytes, std::size_t size) {
    if (attribute == kMaxThreads && size >= 12) {
      kernel.most_threads = load<int>(bytes) * load<int>(bytes + 4) * load<int>(bytes + 8);
    }
    if (attribute != kParameter || size < 12) return;
    const std::size_t ordinal = load<std::uint16_t>(bytes + 4);
    if (kernel.parameters.size() <= ordinal) kernel.parameters.resize(ordinal + 1);
    kernel.parameters[ordinal] = {load<std::uint16_t>(bytes + 6), load<std::uint32_t>(bytes + 8) >> 18};
  });
  if (const auto* shared = image.find(".nv.shared." + name)) kernel.static_shared_bytes = static_cast<int>(shared->header.sh_size);
  return kernel;
}

CubinVariable read_variable(const Section& section, const Elf64_Sym& symbol, const std::string& name) {
  CubinVariable variable{name, std::vector<std::byte>(symbol.st_size)};
  if (section.header.sh_type != SHT_NOBITS && symbol.st_value + symbol.st_size <= section.header.sh_size) {
    std::memcpy(variable.initial.data(), section.bytes + symbol.st_value, symbol.st_size);
  }
  return variable;
}

}  // namespace

Cubin Cubin::read(const void* image_bytes) {
  const Image image(image_bytes);
  Cubin cubin;
  cubin.compute_capability = image.compute_capability();
  const auto registers = registers_by_symbol(image);
  const auto symbols = image.symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto& [entry, name] = symbols[i];
    const Section* const home = image.section(entry.st_shndx);
    if (home == nullptr) continue;
    // Instances of templates are weak, device functions local.
    if (ELF64_ST_TYPE(entry.st_info) == STT_FUNC && ELF64_ST_BIND(entry.st_info) != STB_LOCAL && home->name == ".text." + name) {
      cubin.kernels.push_back(read_kernel(image, name));
      const auto found = registers.find(static_cast<std::uint32_t>(i));
      if (found != registers.end()) cubin.kernels.back().registers = found->second;
    }
    const bool variable = home->name == ".nv.constant3" || home->name == ".nv.global" || home->name == ".nv.global.init";
    if (ELF64_ST_TYPE(entry.st_info) == STT_OBJECT && variable) cubin.variables.push_back(read_variable(*home, entry, name));
  }
  return cubin;
}

}  // namespace attune::fake_cuda
