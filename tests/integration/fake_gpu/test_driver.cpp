// The fake driver through the product's own handles: what the tests that run on it rest on.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/integration/fake_gpu/driver_fixture.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/measure/support.hpp"

namespace test_driver {

using namespace attune;
using gpu::Driver;
using test::cubin_of;
using test::Fake;
using test::read_back;

namespace {

constexpr const char* kSource = R"text(
struct Wide { char bytes[20]; };
extern "C" { __constant__ float coefficients[5] = {1, 2, 3, 4, 5}; }
extern "C" __global__ void many(const float* a, Wide wide, char c, long long n, float* out) {
  out[n] = a[n] + wide.bytes[c] * coefficients[c];
}
extern "C" __global__ void none() {}
extern "C" __global__ void synthetic(const int* in, int* out, long long n, long long time_ns, long long fault) {
  out[n] = in[time_ns + fault];
}
)text";

CUresult launch(const gpu::Function& function, const gpu::Stream& stream, std::vector<void*> parameters) {
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream.get();
  return Driver::get().cuLaunchKernelEx(&config, function.handle, parameters.data(), nullptr);
}

/// A launch of the kernel `synthetic`, which the fake driver runs.
CUresult launch_copy(const gpu::Function& function, const gpu::Stream& stream, const gpu::Buffer& in, const gpu::Buffer& out,
                     long long time_ns, long long fault) {
  CUdeviceptr from = in.address();
  CUdeviceptr to = out.address();
  long long n = static_cast<long long>(in.bytes() / 4);
  return launch(function, stream, {&from, &to, &n, &time_ns, &fault});
}

}  // namespace

TEST_CASE_FIXTURE(Fake, "kernels, their parameters and variables are those of the compiled cubin") {
  const gpu::Module module(cubin_of(kSource));
  CHECK(module.function("many").parameter_bytes == std::vector<int>{8, 20, 1, 8, 8});
  CHECK(module.function("none").parameter_bytes.empty());
  CHECK_THROWS_AS(static_cast<void>(module.function("absent")), Error);
  const auto [address, bytes] = module.global("coefficients");
  REQUIRE(bytes == 5 * sizeof(float));
  std::vector<float> values(5);
  CHECK(Driver::get().cuMemcpyDtoHAsync(values.data(), address, bytes, stream.get()) == CUDA_SUCCESS);
  CHECK(values == std::vector<float>{1, 2, 3, 4, 5});
}

TEST_CASE_FIXTURE(Fake, "garbage is no image, and a cubin of another architecture is refused") {
  CUmodule module = nullptr;
  const std::string garbage(4096, 'x');
  CHECK(Driver::get().cuModuleLoadData(&module, garbage.data()) == CUDA_ERROR_INVALID_IMAGE);
  CHECK(Driver::get().cuModuleLoadData(&module, cubin_of(kSource, "sm_80").data()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE_FIXTURE(Fake, "a kernel without a host function is refused with a hint") {
  const gpu::Module module(cubin_of(kSource));
  const CUresult result = launch(module.function("none"), stream, {});
  CHECK(result == CUDA_ERROR_NOT_SUPPORTED);
  const char* text = nullptr;
  Driver::get().cuGetErrorString(result, &text);
  CHECK(std::string(text).find("docs/testing.md") != std::string::npos);
}

TEST_CASE_FIXTURE(Fake, "memory is counted, and more than the device has is refused") {
  std::size_t before = 0, after = 0, total = 0;
  Driver::get().cuMemGetInfo(&before, &total);
  CHECK(total == 268435456);
  {
    const gpu::Buffer buffer(std::size_t{1} << 20);
    Driver::get().cuMemGetInfo(&after, &total);
    CHECK(before - after == std::size_t{1} << 20);
    CHECK_THROWS_AS(gpu::Buffer{total}, EnvironmentError);
  }
  Driver::get().cuMemGetInfo(&after, &total);
  CHECK(before == after);
}

TEST_CASE_FIXTURE(Fake, "a graph repeats what was captured, and takes the sum of its kernels' times") {
  const gpu::Module module(cubin_of(kSource));
  const auto copy = module.function("synthetic");
  const gpu::Buffer in(400), out(400);
  Driver::get().cuMemsetD8Async(in.address(), 7, 400, stream.get());
  const auto graph = gpu::Graph::capture(stream, [&] {
    for (int i = 0; i < 10; ++i) CHECK(launch_copy(copy, stream, in, out, 2000, 0) == CUDA_SUCCESS);
  });
  const gpu::Event start, end;
  for (int repetition = 0; repetition < 2; ++repetition) {
    Driver::get().cuMemsetD8Async(out.address(), 0, 400, stream.get());
    start.record(stream);
    graph.launch(stream);
    end.record(stream);
    end.synchronize();
    CHECK(gpu::elapsed_us(start, end) == doctest::Approx(20));
    CHECK(read_back<unsigned char>(out, stream) == std::vector<unsigned char>(400, 7));
  }
}

TEST_CASE_FIXTURE(Fake, "fills of every type sum to what their elements sum to, and one changed byte is found") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  constexpr std::int64_t kCount = 300000;  // more than one element a thread of the reduction
  for (int code = 0; code < 12; ++code) {
    const auto type = static_cast<spec::ElementType>(code);
    CAPTURE(code);
    const auto element_bytes = static_cast<std::size_t>(spec::size_bytes(type));
    const gpu::Buffer buffer(kCount * element_bytes);
    support.fill(buffer.address(), kCount, type, {measure::FillKind::SmallIntegers}, 5);
    const auto bytes = read_back<unsigned char>(buffer, stream);
    double sum = 0, magnitude = 0;  // exact: the elements are 1, 2, -1, -2
    for (std::int64_t i = 0; i < kCount; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(i) * element_bytes, element_bytes);
      const double value = measure::to_double(type, bits);
      const bool expected = value == 1 || value == 2 || value == -1 || value == -2;
      if (!expected) FAIL("element ", i, " is ", value);
      sum += value;
      magnitude += value < 0 ? -value : value;
    }
    const auto totals = support.reduce(buffer.address(), kCount, type);
    if (measure::is_floating(type)) {
      CHECK(totals.sum == sum);
      CHECK(totals.magnitude == magnitude);
    } else {
      CHECK(measure::extend(type, totals.integer_sum) == measure::extend(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(sum))));
    }
    support.begin_checks();
    support.check_fill("filled", buffer.address(), kCount, type, {measure::FillKind::SmallIntegers}, 5);
    CHECK_FALSE(support.findings().has_value());
    Driver::get().cuMemsetD8Async(buffer.address() + 1234 * element_bytes, 0x55, 1, stream.get());
    support.begin_checks();
    support.check_fill("changed", buffer.address(), kCount, type, {measure::FillKind::SmallIntegers}, 5);
    const auto finding = support.findings();
    REQUIRE(finding.has_value());
    CHECK(finding->count == 1);
    CHECK(finding->first == 1234);
  }
}

TEST_CASE_FIXTURE(Fake, "the extreme of a buffer is the first of the elements that equal it, for every type") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using measure::Extreme;
  for (int code = 0; code < 12; ++code) {
    const auto type = static_cast<spec::ElementType>(code);
    CAPTURE(code);
    const auto size = static_cast<std::size_t>(spec::size_bytes(type));
    constexpr std::int64_t kCount = 5000;
    const gpu::Buffer buffer(kCount * size);
    const auto put = [&](std::int64_t index, std::uint64_t bits) {
      support.store_element(buffer.address() + static_cast<std::size_t>(index) * size, type, bits);
    };
    support.fill(buffer.address(), kCount, type, {measure::FillKind::Ones}, 0);
    const auto equal = support.find_extreme(buffer.address(), kCount, type, Extreme::Least);
    REQUIRE(equal.has_value());
    CHECK(equal->index == 0);
    CHECK(measure::to_double(type, equal->bits) == 1);
    for (const std::int64_t index : {4321, 77, 4999}) put(index, measure::highest_bits(type));
    for (const std::int64_t index : {2000, 1999}) put(index, measure::lowest_bits(type));
    const auto greatest = support.find_extreme(buffer.address(), kCount, type, Extreme::Greatest);
    const auto least = support.find_extreme(buffer.address(), kCount, type, Extreme::Least);
    REQUIRE(greatest.has_value());
    REQUIRE(least.has_value());
    CHECK(greatest->index == 77);
    CHECK(greatest->bits == measure::highest_bits(type));
    CHECK(least->index == 1999);
    CHECK(least->bits == measure::lowest_bits(type));
    CHECK_FALSE(support.find_extreme(buffer.address(), 0, type, Extreme::Least).has_value());
  }
}

TEST_CASE_FIXTURE(Fake, "elements of several types are read at once, in order, and nothing of their neighbours") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using spec::ElementType;
  const gpu::Buffer buffer(64);
  support.set_bytes(buffer.address(), buffer.bytes(), 0xff);
  support.store_element(buffer.address() + 3, ElementType::U8, 0x12);
  support.store_element(buffer.address() + 24, ElementType::I16, 0x8001);
  support.store_element(buffer.address() + 40, ElementType::F32, 0x3f800000);
  support.store_words(buffer.address() + 8, {0x0123456789abcdef, 7});
  const std::vector<std::uint64_t> read = support.load_elements({{buffer.address() + 40, ElementType::F32},
                                                                 {buffer.address() + 3, ElementType::U8},
                                                                 {buffer.address() + 8, ElementType::U64},
                                                                 {buffer.address() + 16, ElementType::F64},
                                                                 {buffer.address() + 24, ElementType::I16},
                                                                 {buffer.address(), ElementType::U8}});
  CHECK(read == std::vector<std::uint64_t>{0x3f800000, 0x12, 0x0123456789abcdef, 7, 0x8001, 0xff});
  CHECK(support.load_elements({}).empty());
}

TEST_CASE_FIXTURE(Fake, "NaN is no extreme, an infinity among NaN is one, and -0 is +0") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using measure::Extreme;
  for (const auto type : {spec::ElementType::F16, spec::ElementType::BF16, spec::ElementType::F32, spec::ElementType::F64}) {
    CAPTURE(spec::name(type));
    const auto size = static_cast<std::size_t>(spec::size_bytes(type));
    const gpu::Buffer buffer(1000 * size);
    const auto put = [&](std::size_t index, std::uint64_t bits) { support.store_element(buffer.address() + index * size, type, bits); };
    support.set_bytes(buffer.address(), buffer.bytes(), 0xff);  // all NaN
    for (const Extreme which : {Extreme::Least, Extreme::Greatest})
      CHECK_FALSE(support.find_extreme(buffer.address(), 1000, type, which).has_value());
    put(600, measure::lowest_bits(type));
    for (const Extreme which : {Extreme::Least, Extreme::Greatest}) {
      const auto found = support.find_extreme(buffer.address(), 1000, type, which);
      REQUIRE(found.has_value());
      CHECK(found->index == 600);
    }
    const std::uint64_t minus_zero = std::uint64_t{1} << (8 * size - 1);
    support.set_bytes(buffer.address(), buffer.bytes(), 0);
    put(0, minus_zero);
    put(500, minus_zero);
    for (const Extreme which : {Extreme::Least, Extreme::Greatest})
      CHECK(support.find_extreme(buffer.address(), 1000, type, which)->index == 0);
  }
}

TEST_CASE_FIXTURE(Fake, "rows of every type are reduced to what a loop over them gives, and one wrong result is found") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using measure::RowOperation;
  struct Shape {
    std::int64_t rows, columns;
  };
  for (int code = 0; code < 12; ++code) {
    for (const auto& [rows, columns] : {Shape{3, 5000}, Shape{200, 7}, Shape{4, 0}}) {
      const auto type = static_cast<spec::ElementType>(code);
      CAPTURE(code);
      CAPTURE(rows);
      const auto size = static_cast<std::size_t>(spec::size_bytes(type));
      const gpu::Buffer in(std::max(size, static_cast<std::size_t>(rows * columns) * size));  // an address, also of nothing
      const gpu::Buffer out(static_cast<std::size_t>(rows) * 8);
      // Odd integers, or 1 and -1 with a few factors of 2 and 1/2: sums and products are exact in a double.
      support.fill(in.address(), rows * columns, type, {measure::FillKind::Factors, 20}, 9);
      const auto bytes = read_back<unsigned char>(in, stream);
      const bool floating = measure::is_floating(type);
      const auto out_type = floating ? spec::ElementType::F64 : measure::is_signed(type) ? spec::ElementType::I64 : spec::ElementType::U64;
      for (const auto operation : {RowOperation::Sum, RowOperation::Product, RowOperation::Minimum, RowOperation::Maximum}) {
        CAPTURE(static_cast<int>(operation));
        std::vector<std::uint64_t> expected;
        for (std::int64_t row = 0; row < rows; ++row) {
          double value = operation == RowOperation::Product ? 1 : 0;
          std::uint64_t integer = operation == RowOperation::Product ? 1 : 0;
          if (operation == RowOperation::Minimum) value = measure::to_double(type, measure::highest_bits(type));
          if (operation == RowOperation::Maximum) value = measure::to_double(type, measure::lowest_bits(type));
          std::uint64_t extreme =
              measure::extend(type, operation == RowOperation::Minimum ? measure::highest_bits(type) : measure::lowest_bits(type));
          for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(i) * size, size);
            const double x = measure::to_double(type, bits);
            const std::uint64_t extended = floating ? 0 : measure::extend(type, bits);
            const bool better = operation == RowOperation::Minimum ? x < value : x > value;
            if (operation == RowOperation::Sum) {
              value += x;
              integer += extended;
            } else if (operation == RowOperation::Product) {
              value *= x;
              integer *= extended;
            } else if (better) {
              value = x;
              extreme = extended;
            }
          }
          const bool selects = operation == RowOperation::Minimum || operation == RowOperation::Maximum;
          expected.push_back(floating ? std::bit_cast<std::uint64_t>(value) : selects ? extreme : integer);
        }
        const auto answers = support.reduce_rows({in.address(), type, rows, columns}, operation, 0);
        CHECK(read_back<std::uint64_t>(answers.wanted, stream) == expected);
        for (std::int64_t row = 0; row < rows; ++row)
          support.store_element(out.address() + static_cast<std::size_t>(row) * 8, out_type, expected[static_cast<std::size_t>(row)]);
        support.begin_checks();
        support.compare_rows("right", out.address(), out_type, rows, answers);
        CHECK_FALSE(support.findings().has_value());
        support.store_element(out.address() + 2 * 8, out_type, expected[2] ^ 4);
        support.begin_checks();
        support.compare_rows("wrong", out.address(), out_type, rows, answers);
        const auto finding = support.findings();
        REQUIRE(finding.has_value());
        CHECK(finding->count == 1);
        CHECK(finding->first == 2);
      }
    }
  }
}

TEST_CASE_FIXTURE(Fake, "what a row's result may be off by grows with the sum of its magnitudes, and extremes must be exact") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using measure::RowOperation;
  const gpu::Buffer in(4 * sizeof(float));
  for (std::size_t i = 0; i < 4; ++i)  // -1 2 / 4 -8
    support.store_element(in.address() + i * sizeof(float), spec::ElementType::F32,
                          std::bit_cast<std::uint32_t>(static_cast<float>(i % 3 == 0 ? -1 << i : 1 << i)));
  const measure::Matrix matrix{in.address(), spec::ElementType::F32, 2, 2};
  const auto allowed = [&](RowOperation operation) {
    return read_back<double>(support.reduce_rows(matrix, operation, 0.5).allowed, stream);
  };
  CHECK(allowed(RowOperation::Sum) == std::vector<double>{1.5, 6});
  CHECK(allowed(RowOperation::Product) == std::vector<double>{1, 16});
  CHECK(allowed(RowOperation::Minimum) == std::vector<double>{0, 0});
  CHECK(allowed(RowOperation::Maximum) == std::vector<double>{0, 0});
}

TEST_CASE_FIXTURE(Fake, "rows pass over NaN when they are reduced to an extreme, and a row of NaN has no element") {
  const auto device = gpu::read_device(0);
  measure::Support support(test::support_cubin(), device, stream);
  using measure::RowOperation;
  const gpu::Buffer in(6 * sizeof(double));
  support.set_bytes(in.address(), in.bytes(), 0xff);  // NaN
  support.store_element(in.address() + 8, spec::ElementType::F64, std::bit_cast<std::uint64_t>(-3.0));
  support.store_element(in.address() + 16, spec::ElementType::F64, std::bit_cast<std::uint64_t>(5.0));
  const measure::Matrix matrix{in.address(), spec::ElementType::F64, 2, 3};
  const auto wanted = [&](RowOperation operation) { return read_back<double>(support.reduce_rows(matrix, operation, 0).wanted, stream); };
  CHECK(wanted(RowOperation::Minimum) == std::vector<double>{-3, HUGE_VAL});
  CHECK(wanted(RowOperation::Maximum) == std::vector<double>{5, -HUGE_VAL});
}

// The last: afterwards nothing works in this process any more, as on a GPU.
TEST_CASE_FIXTURE(Fake, "a fault appears at the next synchronisation and in every call from then on") {
  const gpu::Module module(cubin_of(kSource));
  const gpu::Buffer in(400), out(400);
  const auto copy = module.function("synthetic");
  CHECK(launch_copy(copy, stream, in, out, 1000, 1) == CUDA_SUCCESS);
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK(Driver::get().cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_SUCCESS);
  CHECK(Driver::get().cuStreamSynchronize(stream.get()) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(Driver::get().cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(launch_copy(copy, stream, in, out, 1000, 0) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace test_driver
