#include "tuner/spec/host_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tuner/spec/device_headers.hpp"
#include "tuner/spec/host_header_texts.hpp"

namespace attune::spec {
namespace {

/// What <cub/cub.cuh> of CUDA 13.0 includes, without the algorithms of the whole device and the allocator, which are host code, and with
/// two headers for blocks that it has from those.
constexpr std::array<std::string_view, 41> kCub = {
    "<cub/config.cuh>",
    "<cub/block/block_adjacent_difference.cuh>",
    "<cub/block/block_discontinuity.cuh>",
    "<cub/block/block_exchange.cuh>",
    "<cub/block/block_histogram.cuh>",
    "<cub/block/block_load.cuh>",
    "<cub/block/block_merge_sort.cuh>",
    "<cub/block/block_radix_rank.cuh>",
    "<cub/block/block_radix_sort.cuh>",
    "<cub/block/block_reduce.cuh>",
    "<cub/block/block_run_length_decode.cuh>",
    "<cub/block/block_scan.cuh>",
    "<cub/block/block_shuffle.cuh>",
    "<cub/block/block_store.cuh>",
    "<cub/grid/grid_even_share.cuh>",
    "<cub/grid/grid_mapping.cuh>",
    "<cub/grid/grid_queue.cuh>",
    "<cub/thread/thread_load.cuh>",
    "<cub/thread/thread_operators.cuh>",
    "<cub/thread/thread_reduce.cuh>",
    "<cub/thread/thread_scan.cuh>",
    "<cub/thread/thread_search.cuh>",
    "<cub/thread/thread_sort.cuh>",
    "<cub/thread/thread_store.cuh>",
    "<cub/warp/warp_exchange.cuh>",
    "<cub/warp/warp_load.cuh>",
    "<cub/warp/warp_merge_sort.cuh>",
    "<cub/warp/warp_reduce.cuh>",
    "<cub/warp/warp_scan.cuh>",
    "<cub/warp/warp_store.cuh>",
    "<cub/iterator/arg_index_input_iterator.cuh>",
    "<cub/iterator/cache_modified_input_iterator.cuh>",
    "<cub/iterator/cache_modified_output_iterator.cuh>",
    "<cub/iterator/tex_obj_input_iterator.cuh>",
    "<cub/util_debug.cuh>",
    "<cub/util_device.cuh>",
    "<cub/util_math.cuh>",
    "<cub/util_ptx.cuh>",
    "<cub/util_temporary_storage.cuh>",
    "<cub/util_type.cuh>",
    "<cub/version.cuh>",
};

constexpr std::string_view kAllOfCub = "<cub/cub.cuh>";

/// Headers of C and of the system; those of C++ are the ones without an extension.
constexpr std::array<std::string_view, 16> kOfTheSystem = {
    "<complex.h>", "<ctype.h>",   "<errno.h>",  "<fenv.h>",   "<inttypes.h>", "<locale.h>", "<malloc.h>", "<memory.h>",
    "<omp.h>",     "<pthread.h>", "<setjmp.h>", "<signal.h>", "<strings.h>",  "<unistd.h>", "<wchar.h>",  "<getopt.h>"};
/// Headers of C++ of which libcu++ has a form for device code.
constexpr std::array<std::string_view, 19> kOfLibcudacxx = {
    "array",  "atomic", "bit",     "bitset",   "chrono", "complex", "concepts", "expected",    "functional", "iterator",
    "limits", "memory", "numeric", "optional", "ratio",  "span",    "tuple",    "type_traits", "utility"};

/// How headers of CUDA begin that are of use to the host alone. <cufft.h> and <curand.h> are none: NVRTC compiles them.
constexpr std::array<std::string_view, 6> kOfCudaLibraries = {"cublas", "cusolver", "cusparse", "cudaProfiler.h", "cuda_profiler_api.h",
                                                              "nvtx3/"};
/// These begin like them and are for device code.
constexpr std::array<std::string_view, 2> kOfDeviceLibraries = {"cublasdx", "cusolverdx"};

bool begins_with(std::string_view header, std::string_view begin) { return header.substr(1).starts_with(begin); }

bool is_of_cub_or_thrust(std::string_view header) {
  return is_of_thrust(header) || begins_with(header, "cub/device/") || header == "<cub/util_allocator.cuh>";
}

}  // namespace

bool is_replaced(std::string_view header) { return header == kAllOfCub || host_header_text(header) != nullptr; }

HeaderReplacement replacement_of(std::string_view header) {
  HeaderReplacement replacement;
  if (header == kAllOfCub) {
    replacement.includes.assign(kCub.begin(), kCub.end());
  } else {
    replacement.declarations = fmt::format("#ifdef __CUDACC_RTC__\n{}#else\n#include {}\n#endif\n", *host_header_text(header), header);
  }
  return replacement;
}

bool is_host_code(std::string_view header) {
  if (is_replaced(header)) return false;
  const bool of_cpp = header.find_first_of("./") == std::string_view::npos && header != "<nvfunctional>";
  return of_cpp || begins_with(header, "sys/") || is_host_library(header) ||
         std::find(kOfTheSystem.begin(), kOfTheSystem.end(), header) != kOfTheSystem.end();
}

bool is_host_library(std::string_view header) {
  const auto begins = [&](std::string_view begin) { return begins_with(header, begin); };
  if (std::any_of(kOfDeviceLibraries.begin(), kOfDeviceLibraries.end(), begins)) return false;
  return is_of_cub_or_thrust(header) || std::any_of(kOfCudaLibraries.begin(), kOfCudaLibraries.end(), begins);
}

bool is_of_thrust(std::string_view header) { return begins_with(header, "thrust/"); }

std::string remedy_for(std::string_view header) {
  constexpr const char* kApart = "put it and the host code that needs it between #ifndef __CUDACC_RTC__ and #endif";
  if (is_of_cub_or_thrust(header))
    return fmt::format("include <cub/cub.cuh>, which has CUB's algorithms for blocks and warps here, or {}", kApart);
  const std::string name = without_brackets(header);
  if (std::find(kOfLibcudacxx.begin(), kOfLibcudacxx.end(), name) == kOfLibcudacxx.end()) return kApart;
  return fmt::format("include <cuda/std/{}>, which has the same in cuda::std for device code, or {}", name, kApart);
}

}  // namespace attune::spec
