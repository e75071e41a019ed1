// attune's own headers for device code, templates/include/attune.
#include <doctest/doctest.h>

#include <string>

#include "tuner/compile/compiler.hpp"
#include "tuner/spec/device_headers.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_device_headers {

using namespace attune;

namespace {

constexpr const char* kSpec = R"json({
  "attune": 1, "name": "probe", "sources": ["probe.cu"],
  "problem": {"T": {"type": ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"]}},
  "parameters": {"block_size": {"values": [64, 1024], "default": 64}},
  "buffers": {"in": {"type": "T", "count": "1"}, "out": {"type": "T", "count": "1", "output": true}},
  "launches": [{"kernel": "probe", "grid": 1, "block": "block_size", "args": ["in", "out"]}],
  "reference": "none"
})json";

const std::vector<std::string> kIntegers = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
const std::vector<std::string> kFloats = {"f16", "bf16", "f32", "f64"};

compile::CompileResult compile_probe(const std::string& source, const std::string& type, const std::string& architecture) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);  // for the headers of the 16-bit types
  const auto kernel = spec::KernelTemplate::parse(kSpec, {{"probe.cu", source}}, "template.json");
  const std::string text =
      spec::make_source(kernel, {{{"T", type}}, {}}, spec::default_configuration(kernel), spec::DeviceInfo::of_architecture(architecture));
  return nvrtc.compile({text, "probe.cu", architecture, {}});
}

void check_clean(const std::string& source, const std::string& type, const std::string& architecture) {
  CAPTURE(type);
  CAPTURE(architecture);
  const auto result = compile_probe(source, type, architecture);
  CHECK_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK(result.log.empty());
}

/// Combines in[0] of every thread by each operator, through vectors, tiles, the block, slots and a gather.
std::string all_of_them(bool integers) {
  std::string uses;
  for (const char* op : {"Sum", "Product", "Min", "Max"}) uses += std::string("  use<attune::") + op + "<attune_T>>(in, out);\n";
  if (integers)
    for (const char* op : {"And", "Or", "Xor"}) uses += std::string("  use<attune::") + op + "<attune_T>>(in, out);\n";
  return R"(#include <attune/bits.cuh>
#include <attune/block.cuh>
#include <attune/gather.cuh>
#include <attune/tiles.cuh>
#include <attune/vector.cuh>
template <class Op>
__device__ void use(const attune_T* in, attune_T* out) {
  constexpr unsigned kBytes = 16;
  const auto v = attune::load_vector<kBytes>(attune::address_of(in) + attune::bytes_to_vector<kBytes>(attune::address_of(in)));
  typename Op::Value x = attune::load_element(in);
  for (unsigned k = 0; k < kBytes / sizeof(attune_T); ++k) x = Op::combine(x, attune::element<attune_T>(v, k));
  x = attune::block_combine<Op, ATTUNE_BLOCK_SIZE, attune::BlockStage::Shuffle>(x);
  x = attune::block_combine<Op, ATTUNE_BLOCK_SIZE, attune::BlockStage::SharedTree, 2>(x);
  const auto in_block = [](typename Op::Value y) { return attune::block_combine<Op, ATTUNE_BLOCK_SIZE, attune::BlockStage::Shuffle, 1>(y); };
  attune::Word* const slots = reinterpret_cast<attune::Word*>(out) + 8;
  attune::fill_slot_with<attune::PartsOf<typename Op::Value>>(slots, blockIdx.x, 100, x);
  x = attune::gather<Op, ATTUNE_BLOCK_SIZE, 2>(100, attune::FetchSlots<Op, 2>{slots}, in_block);
  x = attune::gather<Op, ATTUNE_BLOCK_SIZE, 2>(100, attune::FetchPartials<Op, 2>{reinterpret_cast<const typename Op::Value*>(in)}, in_block);
  using Tile = attune::Tile<ATTUNE_BLOCK_SIZE, 2, kBytes>;
  attune::Vector<kBytes> tile[2];
  Tile::load<attune_T>(tile, attune::address_of(in), Tile::bytes_before(attune::address_of(in), attune::address_of(in + 1000)), Op::neutral());
  const auto loose = attune::Loose::of<attune_T, kBytes>(attune::address_of(in), attune::address_of(in + 1), attune::address_of(in + 1000), 1000);
  if (loose.there(threadIdx.x)) x = Op::combine(x, attune::load_element(in + loose.index(threadIdx.x, 1000)));
  x = Op::combine(x, attune::element<attune_T>(tile[0], 0));
  x = Op::combine(x, attune::element<attune_T>(tile[1], 0));
  x = attune::from_ordered<typename Op::Value>(attune::ordered(x));
  attune::store_element(out, x);
}
extern "C" __global__ void probe(const attune_T* in, attune_T* out) {
)" + uses +
         "}\n";
}

}  // namespace

TEST_CASE("each of attune's own headers compiles alone, also for architectures without the warp's integer instructions") {
  REQUIRE_FALSE(spec::device_header_names().empty());
  for (const std::string& name : spec::device_header_names()) {
    CAPTURE(name);
    if (name == "<attune/reduction.cuh>") continue;       // of templates with the axes of a reduction: test_reduce_compiles.cpp
    if (name.starts_with("<attune/reference")) continue;  // of references, before which attune writes: test_references_compile.cpp
    const std::string source = "#include " + name + "\nextern \"C\" __global__ void probe(const attune_T*, attune_T*) {}\n";
    for (const char* const architecture : {"sm_75", "sm_90"}) check_clean(source, "f32", architecture);
  }
}

TEST_CASE("every operator combines every type that it is for, without a warning") {
  for (const std::string& type : kIntegers) check_clean(all_of_them(true), type, "sm_90");
  for (const std::string& type : kFloats) check_clean(all_of_them(false), type, "sm_90");
  for (const char* const type : {"i8", "u32"}) check_clean(all_of_them(true), type, "sm_75");  // shuffles throughout
}

TEST_CASE("the limits of integer elements are those of the type, not of its accumulator") {
  check_clean(R"(#include <attune/operators.cuh>
using namespace attune;
static_assert(Element<signed char>::lowest() == -128 && Element<signed char>::highest() == 127, "");
static_assert(Element<unsigned char>::lowest() == 0 && Element<unsigned char>::highest() == 255, "");
static_assert(Element<short>::lowest() == -32768 && Element<unsigned short>::highest() == 65535, "");
static_assert(Element<int>::lowest() == -2147483647 - 1 && Element<int>::highest() == 2147483647, "");
static_assert(Element<unsigned>::lowest() == 0 && Element<unsigned>::highest() == 4294967295u, "");
static_assert(Element<long long>::lowest() == -9223372036854775807ll - 1, "");
static_assert(Element<unsigned long long>::highest() == 18446744073709551615ull, "");
extern "C" __global__ void probe(const attune_T*, attune_T*) {}
)",
              "i8", "sm_90");
}

TEST_CASE("a mistake in a template that uses the headers is told at the template's own line") {
  const auto result = compile_probe("#include <attune/gather.cuh>\nint x = nowhere;\n", "f32", "sm_90");
  CHECK(result.status == compile::CompileStatus::Failed);
  CHECK(result.log.find("probe.cu(2): error") != std::string::npos);
}

}  // namespace test_device_headers
