#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tuner/importing/cuda_kernel.hpp"

namespace attune::importing {

/// What a kernel's body does with a pointer, as far as it shows.
struct PointerUse {
  bool read = false, written = false;
  bool updated = false;         ///< += and the like, atomics: what was there before counts
  bool escapes = false;         ///< handed on, so that not all uses show
  bool is_index = false;        ///< its elements stand in the index of another
  std::vector<Tokens> indices;  ///< of its elements
};

struct SharedArray {
  std::string name, type;
  std::vector<Tokens> dimensions;  ///< empty: its size is the launch's
  bool by_thread = false;          ///< an element for each thread: indexed by threadIdx.x itself
};

/// What a kernel's body tells of its launch and its data. Axes are 0 for x, 1 for y, 2 for z.
struct KernelUsage {
  std::array<bool, 3> block_index{}, thread_index{}, block_dim{};
  bool grid_stride = false;                              ///< it reads gridDim
  std::array<Tokens, 3> factors;                         ///< what blockIdx is multiplied with, with * between; empty: nothing
  std::map<std::string, std::set<int>> axes;             ///< variables that depend on blockIdx or threadIdx of an axis
  std::map<std::string, std::set<std::string>> depends;  ///< variables and the words that they are computed of
  std::map<std::string, std::set<std::string>> bounds;   ///< variables and the numbers that bound them
  std::map<std::string, std::set<int>> bound_axes;       ///< numbers that bound what depends on these axes
  std::map<std::string, std::vector<Tokens>> values;     ///< of variables: what is assigned to them
  std::set<std::string> limits;                          ///< macros and constants that alone bound what depends on blockIdx
  std::map<std::string, PointerUse> pointers;
  std::vector<SharedArray> shared;
};

/// `named`: macros and constants that are whole numbers.
[[nodiscard]] KernelUsage kernel_usage(const SourceKernel& kernel, const std::vector<KernelArgument>& arguments,
                                       const std::set<std::string>& named = {});

}  // namespace attune::importing
