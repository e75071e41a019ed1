#include <doctest/doctest.h>

#include "tuner/verify/buffer_layout.hpp"

namespace test_buffer_layout {

using namespace attune;
using verify::BufferLayout;
using verify::Part;
using verify::Support;

namespace {

spec::ResolvedBuffer buffer(spec::ElementType type, std::int64_t count, bool workspace, int align_bytes) {
  spec::ResolvedBuffer result;
  result.type = type;
  result.count = count;
  result.bytes = count * spec::size_bytes(type);
  result.workspace = workspace;
  result.align_bytes = align_bytes;
  return result;
}

const std::vector<spec::ResolvedBuffer> kBuffers = {buffer(spec::ElementType::F32, 1001, false, 0),
                                                    buffer(spec::ElementType::I8, 7, true, 0), buffer(spec::ElementType::F64, 3, false, 16),
                                                    buffer(spec::ElementType::I8, 0, false, 0)};

}  // namespace

TEST_CASE("each part holds its own buffers only") {
  const BufferLayout data(kBuffers, Part::Data);
  const BufferLayout scratch(kBuffers, Part::Scratch);
  for (std::size_t i = 0; i < kBuffers.size(); ++i) {
    CHECK(data.holds(i) == !kBuffers[i].workspace);
    CHECK(scratch.holds(i) == kBuffers[i].workspace);
  }
}

TEST_CASE("buffers are 256-byte aligned and guard zones of two buffers never touch") {
  const BufferLayout layout(kBuffers, Part::Data);
  std::size_t end = 0;
  for (const std::size_t i : {0, 2, 3}) {
    CHECK(layout.offset(i) % 256 == 0);
    CHECK(layout.offset(i) - Support::kGuardBytes >= end);
    end = layout.offset(i) + static_cast<std::size_t>(kBuffers[i].bytes) + Support::kGuardBytes;
  }
  CHECK(layout.bytes() >= end);
  CHECK(layout.bytes() % 256 == 0);
}

TEST_CASE("a misaligned layout shifts by elements what promises no alignment, and nothing else") {
  const BufferLayout data(kBuffers, Part::Data, 1);
  CHECK(data.offset(0) % 256 == 4);
  CHECK(data.offset(2) % 256 == 0);  // promises 16 bytes
  CHECK(data.offset(3) % 256 == 1);
  const BufferLayout scratch(kBuffers, Part::Scratch, 1);
  CHECK(scratch.offset(1) % 256 == 0);
}

TEST_CASE("placing fills the addresses of the held buffers and leaves the others") {
  verify::Addresses addresses(kBuffers.size(), 5);
  const BufferLayout scratch(kBuffers, Part::Scratch);
  verify::place(scratch, 0x10000, addresses);
  CHECK(addresses[0] == 5);
  CHECK(addresses[1] == 0x10000 + scratch.offset(1));
}

}  // namespace test_buffer_layout
