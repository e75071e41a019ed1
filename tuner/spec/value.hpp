#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attune::spec {

/// What a parameter, a choice or an expression can be. Arithmetic follows Python: bool counts as 0 or 1, `/` gives a
/// float, `//` and `%` floor; integers are 64-bit and overflow is an error.
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// "256", "0.5", "true", "two_pass"; the form that keys, macros and tables use.
[[nodiscard]] std::string to_text(const Value& value);
/// Python equality: 1 == 1.0 == True; a string equals only a string.
[[nodiscard]] bool equal(const Value& a, const Value& b);
/// Values no two of which are equal.
class DistinctValues {
 public:
  /// False when one that is equal is there already.
  [[nodiscard]] bool add(const Value& value);

 private:
  std::set<std::string> texts_;
  std::set<long double> numbers_;
};
[[nodiscard]] nlohmann::json to_json(const Value& value);
/// Throws: Error for null, arrays and objects.
[[nodiscard]] Value value_from_json(const nlohmann::json& json);

/// Element types of buffers and scalars. Their numbers are ATTUNE_TYPE_I8 and so on in the device code of references: new ones go to the
/// end.
enum class ElementType { I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, F8E4M3, F8E5M2 };
[[nodiscard]] const char* name(ElementType type);         ///< "f32"
[[nodiscard]] const char* cuda_name(ElementType type);    ///< "float"
[[nodiscard]] const char* cuda_header(ElementType type);  ///< "<cuda_fp16.h>", which defines it; empty: the compiler knows it
[[nodiscard]] int size_bytes(ElementType type);

/// A floating type's sign bit is followed by these.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool infinities = true;  ///< else the highest exponent is one of numbers, and only all ones are NaN
};
/// Nothing: an integer type.
[[nodiscard]] std::optional<FloatFormat> float_format(ElementType type);
[[nodiscard]] bool is_floating(ElementType type);
[[nodiscard]] bool is_signed(ElementType type);
/// Whether elements of one type may stand for those of the other: integers of one size are the same bits, whatever their sign.
[[nodiscard]] bool same_bits(ElementType a, ElementType b);

/// Throws: Error listing the known names.
[[nodiscard]] ElementType element_type(const std::string& name);
[[nodiscard]] std::optional<ElementType> find_element_type(std::string_view name);
[[nodiscard]] std::vector<std::string> element_type_names();

/// The element type that a spelling of C++ means, and no other type: "unsigned", "uint32_t"; not `char` or `long`, which
/// are types of their own.
[[nodiscard]] std::optional<ElementType> find_cuda_type(std::string_view spelling);
/// What else may be called by this name: "size_t" of CUDA, "single" and "uchar" of other tuners, "float32" of numpy, "f32" of attune.
[[nodiscard]] std::optional<ElementType> find_type_called(std::string_view word);
/// The element type that numpy means by a type's text without its byte order: "i4", "f2", "b1".
[[nodiscard]] std::optional<ElementType> find_numpy_type(std::string_view kind);
/// All that find_type_called knows.
[[nodiscard]] std::vector<std::string> words_for_types();

}  // namespace attune::spec
