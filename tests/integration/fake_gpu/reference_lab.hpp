#pragma once
#include <cstring>
#include <map>
#include <memory>

#include "tests/integration/fake_gpu/driver_fixture.hpp"
#include "tuner/verify/problem_data.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::test {

/// Raw bits of the elements of a buffer.
using Bits = std::vector<std::uint64_t>;

/// A problem whose answers the fake driver has computed by the device code of its reference.
struct Laid {
  spec::KernelTemplate kernel;
  spec::Problem problem;
  std::unique_ptr<verify::ProblemData> data;
};

/// References on the fake driver.
struct ReferenceLab : Fake {
  spec::DeviceInfo info = gpu::read_device(0);
  verify::Support support{support_cubin(), info, stream};

  [[nodiscard]] Laid lay(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
    Laid laid{kernel, spec::canonical(kernel, problem), nullptr};
    const auto program = verify::reference_program(laid.kernel, laid.problem, info);
    REQUIRE(program.has_value());
    laid.data = std::make_unique<verify::ProblemData>(laid.kernel, laid.problem, compiled(program->source), support);
    laid.data->allocate(1);
    laid.data->expect_all(spec::default_configuration(laid.kernel));
    return laid;
  }

  /// What a data set fills an input of the asked case with.
  [[nodiscard]] Bits input(Laid& laid, std::size_t buffer, std::size_t data, int group = 0) {
    auto& asked = laid.data->asked();
    laid.data->fill(asked, data, verify::Guard::HighFirst, 0, group);
    return bits(verify::ProblemData::elements(asked, buffer, laid.data->addresses(asked)));
  }

  [[nodiscard]] Bits bits(const verify::Elements& elements) {
    const auto size = static_cast<std::size_t>(spec::size_bytes(elements.type)), count = static_cast<std::size_t>(elements.count);
    std::vector<unsigned char> bytes(count * size);
    if (!bytes.empty()) support.download(bytes.data(), elements.start, bytes.size());
    Bits raw(count);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(&raw[i], bytes.data() + i * size, size);
    return raw;
  }

  /// What is expected of an output of the asked case.
  [[nodiscard]] std::vector<reference::Expected> expected(Laid& laid, std::size_t data, std::size_t output = 0) {
    auto& asked = laid.data->asked();
    const auto& wanted = asked.expectations.at(data).value().outputs.at(output);
    std::vector<reference::Expected> values(static_cast<std::size_t>(asked.buffers[wanted.buffer].count));
    if (!values.empty())
      support.download(values.data(), reinterpret_cast<CUdeviceptr>(wanted.wanted.start), values.size() * sizeof(reference::Expected));
    return values;
  }

 private:
  static const std::string& compiled(const std::string& source) {
    static std::map<std::string, std::string> known;
    auto& cubin = known[source];
    if (cubin.empty()) cubin = cubin_of(source);
    return cubin;
  }
};

/// Whether an element is one of these bits, or the number whose double they are.
inline bool is_exactly(const reference::Expected& expected, std::uint64_t bits) {
  return expected.high == reference::kExactMark && expected.low == bits;
}
inline double low_of(const reference::Expected& expected) { return std::bit_cast<double>(static_cast<std::uint64_t>(expected.low)); }
inline double high_of(const reference::Expected& expected) { return std::bit_cast<double>(static_cast<std::uint64_t>(expected.high)); }
inline bool is_number(const reference::Expected& expected, double value) {
  return expected.high != reference::kExactMark && low_of(expected) == value && high_of(expected) == value;
}
inline bool holds(const reference::Expected& expected, double value) { return low_of(expected) <= value && value <= high_of(expected); }

}  // namespace attune::test
