// A process that is shown one device: apart, since a driver looks at CUDA_VISIBLE_DEVICES once.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>

#include "tuner/gpu/handles.hpp"

namespace test_own_device {

using namespace attune;

TEST_CASE("a process that asked for one of three devices sees no other") {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ::setenv("ATTUNE_FAKE_CUDA", R"({"devices": [{"name": "first"}, {"name": "second"}, {"name": "third"}]})", 1);
  REQUIRE(::dlopen(ATTUNE_FAKE_CUDA_LIBRARY, RTLD_NOW) != nullptr);
  CHECK(gpu::show_fewest(1) == 0);
  CHECK(gpu::device_count() == 1);
  CHECK(gpu::read_device(0).name == "second");
}

}  // namespace test_own_device
