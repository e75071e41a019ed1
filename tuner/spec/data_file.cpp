#include "tuner/spec/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/file_pieces.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::spec {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = 8;  // behind it stands the header's length
constexpr std::size_t kMostHeaderBytes = 1 << 16;
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

/// The header of an .npy file, a dictionary as Python writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class NpyHeader {
 public:
  /// `file`: the beginning of it, as much as a header may have, or all of a shorter one.
  NpyHeader(std::string path, std::string_view file) : path_(std::move(path)) {
    if (!file.starts_with(kMagic) || file.size() < kVersionEnd) refuse("it does not begin as numpy's files do; save it by numpy.save");
    const int major = static_cast<unsigned char>(file[6]), minor = static_cast<unsigned char>(file[7]);
    if (major < 1 || major > 3 || minor != 0)
      refuse(fmt::format("it is of version {}.{} of numpy's format, which has 1.0, 2.0 and 3.0; save it anew by numpy.save", major, minor));
    const std::size_t begin = kVersionEnd + (major == 1 ? 2 : 4);
    std::size_t length = 0;
    for (std::size_t i = std::min(begin, file.size()); i-- > kVersionEnd;) length = length << 8 | static_cast<unsigned char>(file[i]);
    if (length > kMostHeaderBytes || begin + length > file.size()) refuse("its header is cut off or too long; save it anew");
    text_ = file.substr(begin, length);
    end_ = begin + length;
  }

  [[nodiscard]] std::size_t end() const { return end_; }

  void read_type(DataFile& file) const {
    std::string_view value = value_of("descr");
    if (!value.starts_with('\''))
      refuse(
          "its elements are records of several fields; save each field by itself or, for a buffer of structs, the bytes of the records: "
          "array.view(f'V{array.itemsize}')");
    value.remove_prefix(1);
    const std::string_view type = value.substr(0, std::min(value.find('\''), value.size()));
    if (type.substr(std::min<std::size_t>(1, type.size())).starts_with('O'))
      refuse("its elements are objects of Python ('|O'), which cannot be read; save numbers of one type, e.g. array.astype('float32')");
    if (type.size() < 3 || type.front() == '>') {
      refuse(fmt::format("its elements of type '{}' stand in another byte order; save array.astype(array.dtype.newbyteorder('<'))", type));
    }
    const std::string_view kind = type.substr(1);
    if (const auto element = find_numpy_type(kind)) {
      file.type = element;
      file.element_bytes = size_bytes(*element);
      return;
    }
    // What numpy has no type for it writes as so many bytes; c8 is two floats.
    int bytes = 0;
    const auto [stop, error] = std::from_chars(kind.data() + 1, kind.data() + kind.size(), bytes);
    const bool opaque = kind.front() == 'V' || kind.front() == 'c';
    if (!opaque || error != std::errc{} || stop != kind.data() + kind.size() || bytes < 1 || bytes > 16)
      refuse(fmt::format("its elements are of type '{}', which no kernel takes; save numbers", type));
    file.element_bytes = bytes;
  }

  [[nodiscard]] std::vector<std::int64_t> shape() const {
    std::string_view value = value_of("shape");
    std::vector<std::int64_t> shape;
    const std::size_t close = value.find(')');
    if (!value.starts_with('(') || close == std::string_view::npos) refuse("its header says no shape; save it anew");
    value = value.substr(1, close - 1);
    while (!value.empty()) {
      value.remove_prefix(std::min(value.find_first_not_of(", "), value.size()));
      if (value.empty()) break;
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (error != std::errc{} || size < 0 || size > kMostElements) refuse("its shape is none; save it anew");
      shape.push_back(size);
      value.remove_prefix(static_cast<std::size_t>(stop - value.data()));
    }
    const bool columns_first = value_of("fortran_order").starts_with("True");
    if (columns_first && std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size > 1; }) > 1)
      refuse("its columns stand one behind the other; save numpy.ascontiguousarray(array)");
    return shape;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw SpecError(path_, 0, 0, why); }

  [[nodiscard]] std::string_view value_of(std::string_view key) const {
    const std::size_t at = text_.find(fmt::format("'{}':", key));
    if (at == std::string_view::npos) refuse(fmt::format("its header says no '{}'; save it anew by numpy.save", key));
    std::string_view value = text_.substr(at + key.size() + 3);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
  }

  std::string path_;
  std::string_view text_;
  std::size_t end_ = 0;
};

/// What the header says, of a file of so many bytes that begins so.
DataFile npy_file(const std::string& path, std::string_view begin, std::uint64_t bytes) {
  DataFile file;
  const NpyHeader header(path, begin);
  header.read_type(file);
  file.shape = header.shape();
  file.offset = static_cast<std::int64_t>(header.end());
  file.bytes = file.element_bytes;
  for (const std::int64_t size : file.shape) {
    if (size > 0 && file.bytes > kMostElements / size) throw SpecError(path, 0, 0, "its shape is larger than any memory; save it anew");
    file.bytes *= size;
  }
  if (const auto there = static_cast<std::int64_t>(bytes) - file.offset; there != file.bytes) {
    throw SpecError(
        path, 0, 0,
        fmt::format("its header says {} bytes of elements, and {} follow; it is cut off, or written to: save it anew", file.bytes, there));
  }
  return file;
}

}  // namespace

DataFile read_data_file(const std::filesystem::path& path) {
  base::FilePieces pieces(path);
  const auto bytes = static_cast<std::int64_t>(pieces.bytes());
  std::string_view piece = pieces.next();
  DataFile file;
  if (path.extension() == ".npy") {
    file = npy_file(path.string(), piece, pieces.bytes());
  } else {
    file.shape = {bytes};
    file.bytes = bytes;
  }
  base::ContentHasher hasher;
  for (; !piece.empty(); piece = pieces.next()) hasher.add_piece(piece);
  file.digest = hasher.key();
  return file;
}

std::string to_text(const DataFile& file) {
  Json json = {{"attune_data", kFormat}, {"element_bytes", file.element_bytes},
               {"shape", file.shape},    {"offset", file.offset},
               {"bytes", file.bytes},    {"digest", file.digest}};
  if (file.type) json["type"] = name(*file.type);
  return base::dump_json(json);
}

DataFile data_file_from_text(const std::string& text, const std::string& name, const SourcePosition& position) {
  try {
    const Json json = base::try_parse_shallow_json(text, 3, "nested too deeply");
    if (!json.is_object() || json.at("attune_data") != kFormat) throw Error("another format");
    DataFile file;
    if (json.contains("type")) file.type = element_type(json.at("type"));
    json.at("element_bytes").get_to(file.element_bytes);
    json.at("shape").get_to(file.shape);
    json.at("offset").get_to(file.offset);
    json.at("bytes").get_to(file.bytes);
    json.at("digest").get_to(file.digest);
    if (file.offset < 0 || file.bytes < 0 || file.element_bytes < 1) throw Error("no sizes");
    return file;
  } catch (const std::exception&) {
    fail(position, fmt::format("'{}' is no array: name an .npy file or one of raw elements, which is no source of the template", name));
  }
}

void read_elements(const std::filesystem::path& path, const DataFile& expected,
                   const std::function<void(std::size_t at, std::string_view piece)>& take) {
  const auto begin = static_cast<std::uint64_t>(expected.offset), end = begin + static_cast<std::uint64_t>(expected.bytes);
  base::FilePieces pieces(path);
  base::ContentHasher hasher;
  std::uint64_t at = 0;  // of the piece in the file
  for (std::string_view piece = pieces.next(); !piece.empty(); at += piece.size(), piece = pieces.next()) {
    hasher.add_piece(piece);
    const std::uint64_t from = std::max(at, begin), to = std::min(at + piece.size(), end);
    if (from < to) take(from - begin, piece.substr(from - at, to - from));
  }
  if (hasher.key() != expected.digest)
    throw SpecError(path.string(), 0, 0, "it is another file than when the template was read; start again");
}

std::string described(const DataFile& file) {
  if (file.type) return fmt::format("{} elements of {}", file.bytes / file.element_bytes, name(*file.type));
  return fmt::format("{} bytes", file.bytes);
}

}  // namespace attune::spec
