// Streams of which one got another's address: the allocator decides whether there are such.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "tests/integration/dispatch/dispatching.hpp"
#include "tests/support/skip.hpp"

namespace test_stream_address {

using namespace attune;
using namespace attune::test;

TEST_CASE_FIXTURE(Dispatching, "a stream that got a destroyed one's address does not get its scratch") {
  Runtime runtime(options);
  const auto sum = sum_kernel(runtime);
  const Elements elements(64);
  auto first = std::make_unique<gpu::Stream>();
  const CUstream address = first->get();
  launch(sum, elements, address);
  std::size_t free_before = 0, free_after = 0, total = 0;
  gpu::check(gpu::Driver::get().cuMemGetInfo(&free_before, &total), "cuMemGetInfo", "counting");
  first.reset();
  std::vector<std::unique_ptr<gpu::Stream>> streams;  // the allocator gives the address out again, sooner or later
  for (int i = 0; i < 1000 && (streams.empty() || streams.back()->get() != address); ++i) {
    streams.push_back(std::make_unique<gpu::Stream>());
  }
  if (streams.back()->get() != address) {
    return skip("the allocator keeps freed memory back: no address was given out twice");
  }
  launch(sum, elements, address);
  gpu::check(gpu::Driver::get().cuMemGetInfo(&free_after, &total), "cuMemGetInfo", "counting");
  CHECK(free_after < free_before);
}

}  // namespace test_stream_address
