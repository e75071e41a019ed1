#include <doctest/doctest.h>

#include <string>

#include "attune/error.hpp"
#include "tuner/runtime/arguments.hpp"

namespace test_arguments {

using namespace attune;

namespace {

spec::ResolvedBuffer buffer(const std::string& name, std::int64_t bytes) {
  spec::ResolvedBuffer result;
  result.name = name;
  result.bytes = bytes;
  return result;
}

spec::ResolvedBuffer scratch(const std::string& name, std::int64_t bytes, spec::WorkspaceInit init) {
  auto result = buffer(name, bytes);
  result.workspace = true;
  result.init = init;
  return result;
}

/// in (f32, promised 16-byte alignment), out (f64), scratch, and the scalar a (f32).
spec::LaunchPlan plan() {
  spec::LaunchPlan result;
  result.buffers = {buffer("in", 4096), scratch("partials", 64, spec::WorkspaceInit::None), buffer("out", 8)};
  result.buffers[0].align_bytes = 16;
  result.buffers[2].type = spec::ElementType::F64;
  result.scalars = {{"a", spec::ElementType::F32, 0}};
  return result;
}

std::string refusal(const std::vector<Argument>& arguments, const spec::LaunchPlan& of = plan()) {
  try {
    runtime::Signature(of, "kernel 'k'", "k/template.json").check(arguments.data(), arguments.size());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Argument address(std::uint64_t value) { return Argument::pointer(reinterpret_cast<const void*>(value)); }

}  // namespace

TEST_CASE("scratch that must stay zero comes first and every part is 256-byte aligned") {
  spec::LaunchPlan resolved;
  resolved.buffers = {buffer("in", 1000), scratch("partials", 100, spec::WorkspaceInit::None),
                      scratch("flags", 10, spec::WorkspaceInit::ZeroOnce), scratch("each", 256, spec::WorkspaceInit::ZeroEach),
                      scratch("tickets", 300, spec::WorkspaceInit::ZeroOnce)};
  const auto layout = runtime::layout_workspace(resolved);
  CHECK(layout.offsets == std::vector<std::size_t>{runtime::WorkspaceLayout::kNone, 768, 0, 1024, 256});
  CHECK(layout.zero_bytes == 768);
  CHECK(layout.total_bytes == 1280);
}

TEST_CASE("a plan without scratch, or with empty scratch, needs no workspace") {
  CHECK(runtime::layout_workspace({}).total_bytes == 0);
  spec::LaunchPlan resolved;
  resolved.buffers = {scratch("empty", 0, spec::WorkspaceInit::ZeroOnce)};
  CHECK(runtime::layout_workspace(resolved).total_bytes == 0);
}

TEST_CASE("arguments are the public buffers in order, then the scalars") {
  CHECK(refusal({address(1024), address(2048), Argument::scalar(1.0f)}).empty());
  CHECK(refusal({address(1024), address(2048)}) == "failed launching kernel 'k': it takes 3 argument(s) (in, out, a), 2 were given");
}

TEST_CASE("an argument of the wrong size is refused by name") {
  CHECK(refusal({address(1024), address(2048), Argument::scalar(1.0)}) ==
        "failed launching kernel 'k': argument 'a' has 4 bytes, 8 were given");
  CHECK(refusal({Argument::scalar(7), address(2048), Argument::scalar(1.0f)}) ==
        "failed launching kernel 'k': argument 'in' has 8 bytes, 4 were given");
}

TEST_CASE("a null address is refused unless the buffer is empty") {
  CHECK(refusal({address(0), address(2048), Argument::scalar(1.0f)}) == "failed launching kernel 'k': buffer 'in' is null");
  auto empty = plan();
  empty.buffers[0].bytes = 0;
  CHECK(refusal({address(0), address(2048), Argument::scalar(1.0f)}, empty).empty());
}

TEST_CASE("an address that breaks the promised or the element's alignment is refused") {
  CHECK(refusal({address(1032), address(2048), Argument::scalar(1.0f)}) ==
        "failed launching kernel 'k': the address 0x408 of buffer 'in' is not a multiple of 16 bytes");
  CHECK(refusal({address(1024), address(2052), Argument::scalar(1.0f)}) ==
        "failed launching kernel 'k': the address 0x804 of buffer 'out' is not a multiple of 8 bytes");
}

TEST_CASE("a template with more entries than the hot path holds is refused when its plan is built") {
  spec::LaunchPlan resolved;
  for (int i = 0; i < 65; ++i) resolved.buffers.push_back(buffer("b" + std::to_string(i), 4));
  CHECK_THROWS_AS(runtime::Signature(resolved, "kernel 'k'", "k/template.json"), SpecError);
  resolved.buffers.pop_back();
  CHECK(runtime::Signature(resolved, "kernel 'k'", "k/template.json").buffer_count() == 64);
}

TEST_CASE("a scalar keeps its bytes and its size") {
  const auto argument = Argument::scalar(std::int16_t{-2});
  CHECK(argument.size_bytes == 2);
  CHECK(argument.bits == 0xfffe);
}

TEST_CASE("what only setup and check have is no argument") {
  auto with_untimed = plan();
  for (const std::size_t at : {std::size_t{0}, with_untimed.buffers.size()}) {
    auto raw = buffer("raw", 100);
    raw.untimed = true;
    with_untimed.buffers.insert(with_untimed.buffers.begin() + static_cast<std::ptrdiff_t>(at), raw);
  }
  CHECK(refusal({address(64), address(8), Argument::scalar(1.0F)}, with_untimed).empty());
  CHECK(refusal({address(64)}, with_untimed) == "failed launching kernel 'k': it takes 3 argument(s) (in, out, a), 1 were given");
}

}  // namespace test_arguments
