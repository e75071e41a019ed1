// What the built-in reference "transpose" fills and expects, by its own code on the fake driver: values, of which every one must be said.
// Runs before test_driver.cpp, whose faults end the use of the driver.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/integration/fake_gpu/reference_lab.hpp"
#include "tests/support/replaced.hpp"

namespace test_device_transpose {

using namespace attune;
using namespace attune::test;
using verify::kIntegers;
using verify::kRandom;

namespace {

constexpr const char* kTemplate = R"json({
  "attune": 1, "name": "turned", "sources": ["k.cu"],
  "problem": {"T": {"type": ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"]},
              "rows": {"size": {"min": 0}}, "columns": {"size": {"min": 0}}},
  "parameters": {},
  "buffers": {"in": {"type": "T", "count": "rows * columns"}, "out": {"type": "T", "count": "rows * columns", "output": true}},
  "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}],
  "reference": {"file": "turned.json"}
})json";

/// The text of the built-in reference.
const std::string& built_in() { return spec::shipped_reference("transpose", {})->form.spec_text; }

/// A template whose reference is the code of the built-in one behind another reference.json.
spec::KernelTemplate turned(const std::string& reference = built_in()) {
  auto files = spec::shipped_reference("transpose", {})->form.files;
  files["turned.json"] = reference;
  files["k.cu"] = "";
  return spec::KernelTemplate::parse(kTemplate, files, "template.json");
}

spec::Problem problem_of(const std::string& type, std::int64_t rows, std::int64_t columns) {
  return {{{"T", type}}, {{"rows", rows}, {"columns", columns}}};
}

struct Turning : ReferenceLab {
  /// The values that are expected of the asked case.
  [[nodiscard]] Bits wanted(Laid& laid, std::size_t data) {
    auto& asked = laid.data->asked();
    const auto& output = asked.expectations.at(data).value().outputs.front();
    const auto& buffer = asked.buffers[output.buffer];
    return bits({reinterpret_cast<CUdeviceptr>(output.wanted.start), buffer.count, buffer.type});
  }
};

/// Of a floating type of so many bits: how many elements are what arithmetic might change.
struct Odd {
  std::size_t quiet_nans = 0, signalling_nans = 0, payloads = 0, subnormals = 0, zeros[2] = {}, infinities[2] = {};
};

Odd odd_elements(const Bits& elements, int width, int mantissa) {
  Odd odd;
  const std::uint64_t sign = std::uint64_t{1} << (width - 1), fraction = (std::uint64_t{1} << mantissa) - 1, infinite = sign - 1 - fraction;
  const std::uint64_t quiet = std::uint64_t{1} << (mantissa - 1);
  for (const std::uint64_t bits : elements) {
    const std::uint64_t magnitude = bits & ~sign;
    const std::size_t negative = bits / sign;
    if (magnitude > infinite) {
      ++((bits & quiet) != 0 ? odd.quiet_nans : odd.signalling_nans);
      if ((magnitude & (quiet - 1)) != 0) ++odd.payloads;
    }
    if (magnitude == infinite) ++odd.infinities[negative];
    if (magnitude == 0) ++odd.zeros[negative];
    if (magnitude > 0 && magnitude <= fraction) ++odd.subnormals;
  }
  return odd;
}

}  // namespace

TEST_CASE_FIXTURE(Turning, "the transpose of every type is expected, bit for bit, in both data sets") {
  constexpr std::size_t kRows = 33, kColumns = 17;
  const auto kernel = turned();
  for (const std::string& type : kernel.axis("T")->values) {
    CAPTURE(type);
    Laid laid = lay(kernel, problem_of(type, kRows, kColumns));
    for (const std::size_t data : {kIntegers, kRandom}) {
      const Bits in = input(laid, 0, data), out = wanted(laid, data);
      REQUIRE(out.size() == kRows * kColumns);
      bool right = true;
      for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t column = 0; column < kColumns; ++column) right = right && out[column * kRows + row] == in[row * kColumns + column];
      CHECK(right);
    }
  }
}

TEST_CASE_FIXTURE(Turning, "one data set has all that arithmetic on floating types might change, the other numbers between -1 and 1") {
  for (const auto& [type, width, mantissa] : {std::tuple{"f16", 16, 10}, {"bf16", 16, 7}, {"f32", 32, 23}, {"f64", 64, 52}}) {
    CAPTURE(std::string(type));
    Laid laid = lay(turned(), problem_of(type, 64, 64));
    const Odd odd = odd_elements(input(laid, 0, kIntegers), width, mantissa);
    for (const std::size_t count : {odd.quiet_nans, odd.signalling_nans, odd.payloads, odd.subnormals, odd.zeros[0], odd.zeros[1],
                                    odd.infinities[0], odd.infinities[1]})
      CHECK(count > 20);
    const Bits plain = input(laid, 0, kRandom);
    const std::uint64_t one = ((std::uint64_t{1} << (width - 2)) - 1) >> mantissa << mantissa, sign = std::uint64_t{1} << (width - 1);
    CHECK(std::all_of(plain.begin(), plain.end(), [&](std::uint64_t bits) { return (bits & ~sign) > 0 && (bits & ~sign) <= one; }));
  }
  Laid laid = lay(turned(), problem_of("u8", 64, 64));
  Bits bytes = input(laid, 0, kIntegers);
  std::sort(bytes.begin(), bytes.end());
  CHECK(std::unique(bytes.begin(), bytes.end()) - bytes.begin() == 256);
}

TEST_CASE_FIXTURE(Turning, "a value that the reference leaves unsaid is its own fault, in every size of element") {
  // The last row of the output, and all of it.
  const std::string last = replaced(replaced(built_in(), R"("inputs")", R"x("let": {"said": "columns - int(rows == 33)"}, "inputs")x"),
                                    R"({"columns": "u64"}, "T"])", R"({"said": "u64"}, "T"])");
  const std::string silent =
      replaced(built_in(), R"({"kernel": "transpose_expect",)", R"({"kernel": "transpose_expect", "if": "rows != 33",)");
  for (const char* type : {"u8", "i16", "f32", "f64"}) {
    CAPTURE(std::string(type));
    CHECK_THROWS_WITH_AS(lay(turned(last), problem_of(type, 33, 17)),
                         doctest::Contains("does not say what is expected of 33 elements, the first of which is 528"),
                         verify::ReferenceError);
    CHECK_THROWS_WITH_AS(lay(turned(silent), problem_of(type, 33, 17)),
                         doctest::Contains("does not say what is expected of 561 elements, the first of which is 0"),
                         verify::ReferenceError);
  }
}

TEST_CASE_FIXTURE(Turning, "a value that is right and happens to be as its memory was before is said") {
  // Of 4,096 bytes of any bits, some are like every poison.
  Laid laid = lay(turned(), problem_of("u8", 64, 64));
  const Bits out = wanted(laid, kIntegers);
  for (const reference::u64 poison : {reference::kUnsaid, reference::kUnsaidAgain})
    CHECK(std::count(out.begin(), out.end(), poison & 0xFF) > 0);
  CHECK(laid.data->has_answers());
}

TEST_CASE_FIXTURE(Turning, "marks outlast a pass: only a value that was as its memory in both is unsaid") {
  constexpr std::int64_t kCount = 70;
  const gpu::Buffer memory(kCount), marks(verify::Support::marks_bytes(kCount));
  CHECK(marks.bytes() == 12);
  const verify::Elements values{memory.address(), kCount, spec::ElementType::U8};
  constexpr auto kFirst = static_cast<unsigned char>(reference::kUnsaid & 0xFF), kAgain = static_cast<unsigned char>(~kFirst);
  const auto check = [&](verify::Pass pass, const std::vector<std::pair<std::size_t, unsigned char>>& written) {
    support.make_unsaid(values, pass);
    std::vector<unsigned char> now(kCount, 0);
    support.download(now.data(), memory.address(), now.size());
    CHECK(std::count(now.begin(), now.end(), pass == verify::Pass::First ? kFirst : kAgain) == kCount);
    std::fill(now.begin(), now.end(), static_cast<unsigned char>(1));
    for (const auto& [at, value] : written) now[at] = value;
    support.upload(memory.address(), now.data(), now.size());
    support.begin_checks();
    support.check_values_said(values, marks.address(), pass);
    return support.findings();
  };
  const auto first = check(verify::Pass::First, {{31, kFirst}, {32, kFirst}, {50, kAgain}, {69, kFirst}});
  REQUIRE(first.has_value());
  CHECK(first->count() == 3);
  CHECK(first->first() == 31);
  // 31 is the first poison itself, 50 the second; 32 and 69 were written in no pass.
  const auto second = check(verify::Pass::Again, {{31, kFirst}, {32, kAgain}, {50, kAgain}, {69, kAgain}});
  REQUIRE(second.has_value());
  CHECK(second->count() == 2);
  CHECK(second->first() == 32);
}

TEST_CASE_FIXTURE(Turning, "the memory of values is theirs, and a bit for each while they are computed") {
  Laid laid = lay(turned(), problem_of("f32", 33, 17));
  const auto memory = laid.data->asked().reference->answer_memory(kRandom);
  CHECK(memory.kept == 561 * 4);
  CHECK(memory.scratch == 18 * 4);
}

}  // namespace test_device_transpose
