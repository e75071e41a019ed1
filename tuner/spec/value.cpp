#include "tuner/spec/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"

namespace attune::spec {
namespace {

enum class Kind { Signed, Unsigned, Floating };

struct TypeRow {
  ElementType type;
  const char* name;
  const char* cuda_name;
  int size_bytes;
  Kind kind;
  FloatFormat format;  ///< of a floating type
  const char* header;
  const char* spellings;  ///< of the same type in CUDA C++, beside cuda_name
  const char* words;      ///< what others call it, and CUDA C++ calls a type of the same size
  const char* numpy;      ///< numpy's texts without the byte order
};

constexpr FloatFormat kNone{0, 0};

/// In the order of ElementType. The CUDA names of integers need no header: NVRTC knows no int8_t.
constexpr std::array<TypeRow, 14> kTypes{{
    {ElementType::I8, "i8", "signed char", 1, Kind::Signed, kNone, "", "int8_t", "int8,char", "i1"},
    {ElementType::U8, "u8", "unsigned char", 1, Kind::Unsigned, kNone, "", "uint8_t", "uint8,uchar,byte", "u1,b1"},
    {ElementType::I16, "i16", "short", 2, Kind::Signed, kNone, "", "int16_t", "int16", "i2"},
    {ElementType::U16, "u16", "unsigned short", 2, Kind::Unsigned, kNone, "", "uint16_t", "uint16,ushort", "u2"},
    {ElementType::I32, "i32", "int", 4, Kind::Signed, kNone, "", "int32_t", "int32", "i4"},
    {ElementType::U32, "u32", "unsigned int", 4, Kind::Unsigned, kNone, "", "uint32_t,unsigned,uint", "uint32", "u4"},
    {ElementType::I64, "i64", "long long", 8, Kind::Signed, kNone, "", "", "int64,int64_t,long,longlong", "i8"},
    {ElementType::U64, "u64", "unsigned long long", 8, Kind::Unsigned, kNone, "", "",
     "uint64,uint64_t,ulong,size_t,unsigned long,ulonglong", "u8"},
    {ElementType::F16, "f16", "__half", 2, Kind::Floating, {5, 10}, "<cuda_fp16.h>", "half", "", "f2"},
    {ElementType::BF16, "bf16", "__nv_bfloat16", 2, Kind::Floating, {8, 7}, "<cuda_bf16.h>", "nv_bfloat16", "bfloat16", ""},
    {ElementType::F32, "f32", "float", 4, Kind::Floating, {8, 23}, "", "", "float32,single", "f4"},
    {ElementType::F64, "f64", "double", 8, Kind::Floating, {11, 52}, "", "", "float64", "f8"},
    {ElementType::F8E4M3, "f8e4m3", "__nv_fp8_e4m3", 1, Kind::Floating, {4, 3, false}, "<cuda_fp8.h>", "", "float8_e4m3fn,float8_e4m3", ""},
    {ElementType::F8E5M2, "f8e5m2", "__nv_fp8_e5m2", 1, Kind::Floating, {5, 2}, "<cuda_fp8.h>", "", "float8_e5m2", ""},
}};

const TypeRow& row(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::vector<std::string> parted(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

/// Which type a word means. Importers look up every word of a source.
using TypeWords = std::map<std::string, ElementType, std::less<>>;

/// The words of some columns. Of two types that are called alike the first one counts, by the order of the columns, then of the rows.
TypeWords words_of(std::initializer_list<const char * TypeRow::*> columns) {
  TypeWords words;
  for (const auto column : columns) {
    for (const TypeRow& one : kTypes) {
      for (std::string& word : parted(one.*column)) words.emplace(std::move(word), one.type);
    }
  }
  return words;
}

std::optional<ElementType> found_in(const TypeWords& words, std::string_view word) {
  const auto found = words.find(word);
  return found == words.end() ? std::nullopt : std::optional(found->second);
}

std::string float_text(double value) {
  // nlohmann writes the shortest digits that read back the same, with ".0" where needed: keys and macros then agree.
  return std::isfinite(value) ? base::dump_json(nlohmann::json(value)) : fmt::format("{}", value);
}

/// bool, integer or float as the widest type that holds each exactly.
long double number(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? 1.0L : 0.0L;
  if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return static_cast<long double>(*i);
  return static_cast<long double>(std::get<double>(value));
}

}  // namespace

std::string to_text(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const double* d = std::get_if<double>(&value)) return float_text(*d);
  return std::get<std::string>(value);
}

bool equal(const Value& a, const Value& b) {
  const std::string* left = std::get_if<std::string>(&a);
  const std::string* right = std::get_if<std::string>(&b);
  if (left != nullptr || right != nullptr) return left != nullptr && right != nullptr && *left == *right;
  return number(a) == number(b);
}

bool DistinctValues::add(const Value& value) {
  if (const std::string* text = std::get_if<std::string>(&value)) return texts_.insert(*text).second;
  const long double held = number(value);
  return std::isnan(held) || numbers_.insert(held).second;  // NaN equals nothing, and has no place in an order
}

nlohmann::json to_json(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

Value value_from_json(const nlohmann::json& json) {
  switch (json.type()) {
    case nlohmann::json::value_t::boolean:
      return json.get<bool>();
    case nlohmann::json::value_t::number_integer:
      return json.get<std::int64_t>();
    case nlohmann::json::value_t::number_unsigned: {
      const auto value = json.get<std::uint64_t>();
      if (value > static_cast<std::uint64_t>(INT64_MAX)) {
        throw Error(fmt::format("failed reading the value {}: it exceeds 64-bit signed integers", value), ExitCode::Spec);
      }
      return static_cast<std::int64_t>(value);
    }
    case nlohmann::json::value_t::number_float:
      return json.get<double>();
    case nlohmann::json::value_t::string:
      return json.get<std::string>();
    default:
      throw Error(fmt::format("failed reading a value: a number, a boolean or a string is needed, not {}", json.type_name()),
                  ExitCode::Spec);
  }
}

const char* name(ElementType type) { return row(type).name; }
const char* cuda_name(ElementType type) { return row(type).cuda_name; }
const char* cuda_header(ElementType type) { return row(type).header; }
int size_bytes(ElementType type) { return row(type).size_bytes; }

std::optional<FloatFormat> float_format(ElementType type) { return is_floating(type) ? std::optional(row(type).format) : std::nullopt; }
bool is_floating(ElementType type) { return row(type).kind == Kind::Floating; }
bool is_signed(ElementType type) { return row(type).kind != Kind::Unsigned; }

bool same_bits(ElementType a, ElementType b) {
  const bool integers = !is_floating(a) && !is_floating(b);
  return a == b || (integers && size_bytes(a) == size_bytes(b));
}

std::optional<ElementType> find_element_type(std::string_view name) {
  for (const TypeRow& candidate : kTypes) {
    if (name == candidate.name) return candidate.type;
  }
  return std::nullopt;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (const TypeRow& candidate : kTypes) names.emplace_back(candidate.name);
  return names;
}

std::optional<ElementType> find_cuda_type(std::string_view spelling) {
  static const TypeWords words = words_of({&TypeRow::cuda_name, &TypeRow::spellings});
  return found_in(words, spelling);
}

std::optional<ElementType> find_type_called(std::string_view word) {
  static const TypeWords words = words_of({&TypeRow::cuda_name, &TypeRow::spellings, &TypeRow::name, &TypeRow::words});
  return found_in(words, word);
}

std::optional<ElementType> find_numpy_type(std::string_view kind) {
  static const TypeWords words = words_of({&TypeRow::numpy});
  return found_in(words, kind);
}

std::vector<std::string> words_for_types() {
  std::vector<std::string> all;
  for (const TypeRow& one : kTypes) {
    all.insert(all.end(), {one.cuda_name, one.name});
    for (const char* const list : {one.spellings, one.words}) {
      for (std::string& word : parted(list)) all.push_back(std::move(word));
    }
  }
  return all;
}

ElementType element_type(const std::string& name) {
  if (const auto found = find_element_type(name)) return *found;
  throw Error(fmt::format("unknown element type '{}'; known: {}", name, fmt::join(element_type_names(), ", ")), ExitCode::Spec);
}

}  // namespace attune::spec
