#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tuner/session/source/recording.hpp"
#include "tuner/space/build_watch.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::simulate {

/// What a file of another tuner is said to be about: files name a device at most, and neither template nor problem.
struct ImportTarget {
  const spec::KernelTemplate& kernel;
  const spec::Problem& problem;
  std::function<spec::DeviceInfo(const std::string& named)> device;  ///< by the name in the file, which may be empty
  std::string policy;                                                ///< empty: the file's where attune exported it, else hot/stream
  space::BuildWatch watch = {};
};

struct ImportedSpace {
  session::Recording recording;
  std::uint64_t left_out = 0;  ///< entries that say that a constraint fails, where one of the template's does: they are in neither space
};

/// The configurations of a cache of Kernel Tuner or of T4 results as a recording of the template's problem, with their failures. It says
/// that it is imported; what worked is screened and not verified, since nobody here measured or checked it. Of a configuration that is
/// there twice the last counts. The date is that of the latest result, or now where the file tells none. Throws: UsageError (no such file,
/// what `device` throws); SpecError naming the file and the entry: damaged, a recording of attune, other parameters than the
///         template's, a value or configuration outside of its space on the device, an objective that is no time.
[[nodiscard]] ImportedSpace import_space(const std::filesystem::path& path, const ImportTarget& target);

}  // namespace attune::simulate
