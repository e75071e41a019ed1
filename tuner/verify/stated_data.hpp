#pragma once
#include <vector>

#include "tuner/verify/expectation.hpp"

namespace attune::verify {

/// The arrays that a template states, by a file or a pattern, in device memory: what inputs of a case are filled with, and what outputs
/// must be.
class StatedData {
 public:
  /// `buffers`: the template's, of the case.
  StatedData(const spec::KernelTemplate& kernel, const std::vector<spec::ResolvedBuffer>& buffers);

  /// Device memory that `load` takes.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Reads the files, makes the patterns. Waits. Throws: SpecError (a file is another one now), EnvironmentError.
  void load(Support& support);
  /// What an input is filled with; 0: neither.
  [[nodiscard]] CUdeviceptr input(std::size_t buffer) const;
  /// Those that a file says, by their place among the template's buffers.
  [[nodiscard]] std::vector<std::pair<std::size_t, CUdeviceptr>> outputs() const;

 private:
  struct Array {
    std::size_t buffer;
    const spec::DataUse* file;  ///< null: the buffer's own pattern
    spec::ResolvedBuffer is;
    gpu::Buffer memory = {};
  };
  void load(Array& array, Support& support) const;

  const spec::KernelTemplate* kernel_;
  std::vector<Array> inputs_, outputs_;
  std::size_t bytes_ = 0;
};

/// How far an element of an output may be off: |got - wanted| <= relative * |wanted| + absolute.
struct Closeness {
  double relative = 0;
  double absolute = 0;
  /// Whether the mean of all |wanted| is added to |wanted|, so that errors of rounding where terms cancel are within a relative tolerance.
  bool with_mean = false;
};

/// What the template's tolerance comes to for an output of this type. A tolerance that is given for a file's answer is numpy.allclose's.
/// Throws: SpecError (the terms of the reference).
[[nodiscard]] Closeness closeness(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                                  std::size_t buffer, spec::ElementType type);

/// What an output must be, so far as the template's tolerance goes, where `wanted` are values of its type. Waits.
/// Throws: SpecError (the terms of the reference).
[[nodiscard]] WantedOutput wanted_values(const spec::KernelTemplate& kernel, const spec::Problem& problem, Support& support,
                                         std::size_t buffer, const Elements& wanted);

}  // namespace attune::verify
