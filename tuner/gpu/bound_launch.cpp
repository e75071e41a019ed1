#include <fmt/core.h>

#include "tuner/gpu/handles.hpp"

namespace attune::gpu {
namespace {

constexpr std::uint32_t kPortableClusterSize =
    8;  // larger ones must be allowed for each kernel (CUDA programming guide)

void check_arguments(const spec::ResolvedLaunch& launch, const Function& function) {
  if (launch.arguments.size() != function.parameter_bytes.size()) {
    throw Error(
        fmt::format("failed binding kernel \"{}\": template.json passes {} arguments, the compiled kernel takes {}",
                    function.name, launch.arguments.size(), function.parameter_bytes.size()),
        ExitCode::Spec);
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].size_bytes != function.parameter_bytes[i]) {
      throw Error(
          fmt::format(
              "failed binding kernel \"{}\": argument {} (counted from 1) has {} bytes in template.json, {} in the "
              "compiled kernel; name its type, e.g. {{\"n\": \"u32\"}}",
              function.name, i + 1, launch.arguments[i].size_bytes, function.parameter_bytes[i]),
          ExitCode::Spec);
    }
  }
}

void raise_shared_limit(const Function& function, std::uint32_t shared_bytes) {
  const Driver& driver = Driver::get();
  int limit_bytes = 0;
  check(driver.cuFuncGetAttribute(&limit_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function.handle),
        "cuFuncGetAttribute", fmt::format("reading the shared memory limit of kernel \"{}\"", function.name));
  // Only ever raised: another launch of the same kernel may need more.
  if (static_cast<std::uint32_t>(limit_bytes) >= shared_bytes) return;
  check(driver.cuFuncSetAttribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(shared_bytes)),
        "cuFuncSetAttribute",
        fmt::format("allowing {} bytes of dynamic shared memory to kernel \"{}\"", shared_bytes, function.name));
}

bool has_cluster(const spec::ResolvedLaunch& launch) { return launch.cluster[0] != 0; }

}  // namespace

BoundLaunch::BoundLaunch(const spec::ResolvedLaunch& launch, Function function)
    : launch_(launch), function_(std::move(function)) {
  check_arguments(launch_, function_);
  raise_shared_limit(function_, launch_.shared_bytes);
  if (has_cluster(launch_) && launch_.cluster[0] * launch_.cluster[1] * launch_.cluster[2] > kPortableClusterSize) {
    check(Driver::get().cuFuncSetAttribute(function_.handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
          "cuFuncSetAttribute", fmt::format("allowing a large cluster to kernel \"{}\"", function_.name));
  }
}

CUresult BoundLaunch::enqueue(void** parameters, CUstream stream) const noexcept {
  CUlaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (has_cluster(launch_)) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim.x = launch_.cluster[0];
    attributes[count].value.clusterDim.y = launch_.cluster[1];
    attributes[count].value.clusterDim.z = launch_.cluster[2];
    ++count;
  }
  if (launch_.cooperative) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count].value.cooperative = 1;
    ++count;
  }
  CUlaunchConfig config{};
  config.gridDimX = launch_.grid[0];
  config.gridDimY = launch_.grid[1];
  config.gridDimZ = launch_.grid[2];
  config.blockDimX = launch_.block[0];
  config.blockDimY = launch_.block[1];
  config.blockDimZ = launch_.block[2];
  config.sharedMemBytes = launch_.shared_bytes;
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return Driver::get().cuLaunchKernelEx(&config, function_.handle, parameters, nullptr);
}

}  // namespace attune::gpu
