#pragma once
#include <map>
#include <string>
#include <vector>

#include "tuner/spec/reference_definition.hpp"
#include "tuner/verify/support.hpp"

namespace attune::verify {

/// What an output must be.
struct WantedOutput {
  std::size_t buffer = 0;  ///< of the template
  std::int64_t count = 0;  ///< elements
  reference::Wanted wanted{};
  std::vector<std::pair<std::string, std::int64_t>> shape = {};  ///< what an index is called and how many there are, the outermost first
  std::uint64_t may_be_off = 0;                                  ///< so many elements may be anything
};

/// What a problem's outputs must be for one data set, in device memory.
struct Expectation {
  std::vector<WantedOutput> outputs;
  std::map<std::string, CUdeviceptr> kept;  ///< workspaces of the reference that planting and altered data sets read
  CUdeviceptr alteration = 0;               ///< of an altered data set: its reference::Alteration
  std::vector<gpu::Buffer> memory;
};

/// "3 of 100 rows are wrong; the first is row 7: 1 instead of 2 (allowed error 1e-06)": what a comparison found. `only`: the output is
/// the only one.
[[nodiscard]] std::string describe(const Finding& finding, const WantedOutput& output, const spec::ResolvedBuffer& buffer, bool only);

}  // namespace attune::verify
