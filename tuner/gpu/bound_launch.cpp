#include <fmt/core.h>

#include "tuner/gpu/handles.hpp"

namespace attune::gpu {
namespace {

constexpr std::uint32_t kPortableClusterSize = 8;  // larger ones must be allowed for each kernel (CUDA programming guide)

void check_arguments(const spec::ResolvedLaunch& launch, const Function& function) {
  if (launch.arguments.size() != function.parameter_bytes.size()) {
    throw Error(fmt::format("failed binding kernel \"{}\": template.json passes {} arguments, the compiled kernel takes {}", function.name,
                            launch.arguments.size(), function.parameter_bytes.size()),
                ExitCode::Spec);
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].size_bytes != function.parameter_bytes[i]) {
      throw Error(fmt::format("failed binding kernel \"{}\": argument {} (counted from 1) has {} bytes in template.json, {} in the "
                              "compiled kernel; name its type, e.g. {{\"n\": \"u32\"}}",
                              function.name, i + 1, launch.arguments[i].size_bytes, function.parameter_bytes[i]),
                  ExitCode::Spec);
    }
  }
}

void raise_shared_limit(const Function& function, std::uint32_t shared_bytes) {
  const Driver& driver = Driver::get();
  int limit_bytes = 0;
  check(driver.cuFuncGetAttribute(&limit_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function.handle), "cuFuncGetAttribute",
        fmt::format("reading the shared memory limit of kernel \"{}\"", function.name));
  // Only ever raised: another launch of the same kernel may need more.
  if (static_cast<std::uint32_t>(limit_bytes) >= shared_bytes) return;
  check(driver.cuFuncSetAttribute(function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared_bytes)),
        "cuFuncSetAttribute", fmt::format("allowing {} bytes of dynamic shared memory to kernel \"{}\"", shared_bytes, function.name));
}

bool has_cluster(const spec::ResolvedLaunch& launch) { return launch.cluster[0] != 0; }

}  // namespace

BoundLaunch::BoundLaunch(const spec::ResolvedLaunch& launch, Function function)
    : driver_(&Driver::get()), function_(std::move(function)), launch_(launch) {
  check_arguments(launch_, function_);
  raise_shared_limit(function_, launch_.shared_bytes);
  if (has_cluster(launch_) && launch_.cluster[0] * launch_.cluster[1] * launch_.cluster[2] > kPortableClusterSize) {
    check(driver_->cuFuncSetAttribute(function_.handle, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "cuFuncSetAttribute",
          fmt::format("allowing a large cluster to kernel \"{}\"", function_.name));
  }
  if (has_cluster(launch_)) {
    CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = launch_.cluster[0];
    attribute.value.clusterDim.y = launch_.cluster[1];
    attribute.value.clusterDim.z = launch_.cluster[2];
  }
  if (launch_.cooperative) {
    CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
  }
  if (launch_.dependent) {
    CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  config_.gridDimX = launch_.grid[0];
  config_.gridDimY = launch_.grid[1];
  config_.gridDimZ = launch_.grid[2];
  config_.blockDimX = launch_.block[0];
  config_.blockDimY = launch_.block[1];
  config_.blockDimZ = launch_.block[2];
  config_.sharedMemBytes = launch_.shared_bytes;
}

CUresult BoundLaunch::enqueue(void** parameters, CUstream stream) const noexcept {
  CUlaunchConfig config = config_;
  config.hStream = stream;
  config.attrs = const_cast<CUlaunchAttribute*>(attributes_);  // the driver reads them
  return driver_->cuLaunchKernelEx(&config, function_.handle, parameters, nullptr);
}

}  // namespace attune::gpu
