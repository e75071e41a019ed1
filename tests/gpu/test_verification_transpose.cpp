// Planted defects of a transpose, which is compared with values, bit for bit; and references that leave values unsaid.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tests/support/replaced.hpp"
#include "tuner/spec/reference_definition.hpp"

namespace test_verification_transpose {

using namespace attune;
using measure::Outcome;
using test::replaced;

namespace {

const std::string kTurn = R"text({
  "attune": 1, "name": "turn", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["u8", "f16", "bf16", "f32", "f64"]}, "rows": {"size": {"min": 0}}, "columns": {"size": {"min": 0}}},
  "parameters": {"variant": {"values": ["correct", "swaps_two", "leaves_last_of_odd", "writes_padding", "flips_a_bit", "quiets_nans",
                                        "flushes_subnormals", "loses_signs_of_zeros", "saturates", "writes_input"], "default": "correct"}},
  "let": {"blocks": "max(1, ceil_div(rows * columns, 256))"},
  "buffers": {"in": {"type": "T", "count": "rows * columns"}, "out": {"type": "T", "count": "rows * columns", "output": true}},
  "launches": [{"kernel": "turn", "grid": "blocks", "block": 256, "args": ["in", "out", "rows", "columns"]}],
  "reference": {"builtin": "transpose"}
})text";

/// Elements are bits, of which `kFraction` and `kInfinite` are the fraction and an infinity of the floating type.
constexpr const char* kTurnSource = R"text(
template <int bytes> struct BitsOf;
template <> struct BitsOf<1> { typedef unsigned char Type; };
template <> struct BitsOf<2> { typedef unsigned short Type; };
template <> struct BitsOf<4> { typedef unsigned Type; };
template <> struct BitsOf<8> { typedef unsigned long long Type; };
typedef unsigned long long u64;
typedef BitsOf<sizeof(ATTUNE_T)>::Type Bits;
constexpr int kMantissa = ATTUNE_T_BF16 ? 7 : sizeof(Bits) == 1 ? 3 : sizeof(Bits) == 2 ? 10 : sizeof(Bits) == 4 ? 23 : 52;
constexpr u64 kSign = 1ull << (8 * sizeof(Bits) - 1), kFraction = (1ull << kMantissa) - 1, kInfinite = kSign - 1 - kFraction;
__device__ Bits carried(Bits bits) {
  const u64 magnitude = bits & ~kSign, sign = bits & kSign;
  if (ATTUNE_VARIANT_QUIETS_NANS && magnitude > kInfinite) return static_cast<Bits>(kSign - 1);
  if (ATTUNE_VARIANT_FLUSHES_SUBNORMALS && magnitude > 0 && magnitude <= kFraction) return static_cast<Bits>(sign);
  if (ATTUNE_VARIANT_LOSES_SIGNS_OF_ZEROS && magnitude == 0) return 0;
  if (ATTUNE_VARIANT_SATURATES && magnitude == kInfinite) return static_cast<Bits>(bits - 1);
  return bits;
}
extern "C" __global__ void turn(Bits* in, Bits* out, long long rows, long long columns) {
  const long long i = blockIdx.x * 256ll + threadIdx.x, count = rows * columns;
  if (i >= count) return;
  const long long row = i / columns, column = i % columns;
  if (ATTUNE_VARIANT_LEAVES_LAST_OF_ODD && rows % 2 == 1 && row == rows - 1) return;
  long long to = column * rows + row;
  if (ATTUNE_VARIANT_SWAPS_TWO) to = to == count / 3 ? count / 2 : to == count / 2 ? count / 3 : to;
  out[to] = static_cast<Bits>(carried(in[i]) ^ (ATTUNE_VARIANT_FLIPS_A_BIT && to == count / 2 ? 1 : 0));
  if (ATTUNE_VARIANT_WRITES_PADDING && i == 0) out[count] = in[0];
  if (ATTUNE_VARIANT_WRITES_INPUT && i == 0) in[count - 1] ^= 1;
}
)text";

const std::vector<const char*> kOfAnyBits = {"swaps_two", "leaves_last_of_odd", "writes_padding", "flips_a_bit", "writes_input"};
const std::vector<const char*> kOfFloats = {"quiets_nans", "flushes_subnormals", "loses_signs_of_zeros", "saturates"};

measure::VisitReply run(const char* variant, const char* type, std::int64_t rows, std::int64_t columns) {
  auto& lab = test::Lab::get();
  static const auto kernel = test::make_template(kTurn, kTurnSource);
  const spec::Problem problem{{{"T", type}}, {{"rows", rows}, {"columns", columns}}};
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
}

bool says(const measure::VisitReply& reply, const std::string& text) { return reply.detail.find(text) != std::string::npos; }

/// A template whose reference is the code of the built-in one behind another reference.json.
spec::KernelTemplate turned(const std::string& reference) {
  auto files = spec::shipped_reference("transpose", {})->form.files;
  files["turned.json"] = reference;
  files["kernel.cu"] = kTurnSource;
  return spec::KernelTemplate::parse(replaced(kTurn, R"("builtin": "transpose")", R"("file": "turned.json")"), files, "template.json");
}

/// Prepares a problem by that reference.
void prepare(const std::string& reference, const char* type) {
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), turned(reference), {{{"T", type}}, {{"rows", 33}, {"columns", 17}}});
}

}  // namespace

TEST_CASE("a right transpose of any bits is verified, in every size of element") {
  for (const char* type : {"u8", "f16", "bf16", "f32", "f64"}) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{33, 17}, {1000, 1003}, {1, 1}}) {
      CAPTURE(std::string(type));
      const auto reply = run("correct", type, rows, columns);
      INFO(reply.detail);
      CHECK(reply.outcome == Outcome::Ok);
      CHECK(reply.verified);
    }
  }
}

TEST_CASE("every defect of a transpose is found, in every size of element") {
  for (const char* type : {"u8", "f16", "bf16", "f32", "f64"}) {
    std::vector<const char*> variants = kOfAnyBits;
    if (type != std::string("u8")) variants.insert(variants.end(), kOfFloats.begin(), kOfFloats.end());
    for (const char* variant : variants) {
      CAPTURE(std::string(type));
      CAPTURE(std::string(variant));
      const auto reply = run(variant, type, 33, 101);
      CHECK(reply.outcome == Outcome::WrongResult);
      CHECK_FALSE(reply.verified);
    }
  }
}

TEST_CASE("a defect of a transpose is told with its first element, or with what it wrote where it must not") {
  CHECK(says(run("swaps_two", "f32", 33, 17), "2 of 561 elements of output \"out\" are wrong; the first is column 22 of row 5: "));
  CHECK(says(run("flips_a_bit", "f64", 33, 17), "1 of 561 elements of output \"out\" are wrong; the first is column 16 of row 8: "));
  CHECK(
      says(run("leaves_last_of_odd", "f16", 33, 17), "17 of 561 elements of output \"out\" are wrong; the first is column 32 of row 0: "));
  CHECK(says(run("leaves_last_of_odd", "f32", 6, 100), "a ragged size"));
  CHECK(says(run("writes_padding", "f32", 33, 17), "wrote past the end of buffer \"out\""));
  CHECK(says(run("writes_input", "f32", 33, 17), "wrote to input \"in\""));
}

TEST_CASE("values that a reference leaves unsaid end its problem, and values that are as their memory was do not") {
  const std::string& built_in = spec::shipped_reference("transpose", {})->form.spec_text;
  const std::string last = replaced(replaced(built_in, R"("inputs")", R"x("let": {"said": "columns - int(rows == 33)"}, "inputs")x"),
                                    R"({"columns": "u64"}, "T"])", R"({"said": "u64"}, "T"])");
  for (const char* type : {"u8", "f16", "f32", "f64"}) {
    CAPTURE(std::string(type));
    CHECK_NOTHROW(prepare(built_in, type));
    CHECK_THROWS_WITH_AS(prepare(last, type), doctest::Contains("does not say what is expected of 33 elements, the first of which is 528"),
                         Error);
  }
}

}  // namespace test_verification_transpose
