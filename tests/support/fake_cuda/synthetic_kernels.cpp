// The kernels of tests/support/fake_templates. They copy, take the time that the template computes for them, and fail
// the way that the template asks for.
#include <cstdint>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

/// As numbered by "fault_code" in the templates: faults that the driver reports, and those that only show in memory.
enum class Ask : std::int64_t {
  Nothing = 0,
  IllegalAddress = 1,
  MisalignedAddress = 2,
  Trap = 3,
  Assert = 4,
  StackOverflow = 5,
  EndlessLoop = 6,
  OutOfResources = 7,
  ProcessKilled = 8,
  WrongResult = 9,
  PartialWrite = 10,
  OutOfBoundsWrite = 11,
  InputWrite = 12,
};

Fault reported(Ask ask) {
  switch (ask) {
    case Ask::IllegalAddress:
      return Fault::IllegalAddress;
    case Ask::MisalignedAddress:
      return Fault::MisalignedAddress;
    case Ask::Trap:
      return Fault::Trap;
    case Ask::Assert:
      return Fault::Assert;
    case Ask::StackOverflow:
      return Fault::StackOverflow;
    case Ask::EndlessLoop:
      return Fault::EndlessLoop;
    case Ask::OutOfResources:
      return Fault::OutOfResources;
    case Ask::ProcessKilled:
      return Fault::ProcessKilled;
    default:
      return Fault::None;
  }
}

/// Elements of any 4-byte type; a copy needs no more.
struct Copy {
  std::uint32_t* in;
  std::uint32_t* out;
  std::int64_t n;

  explicit Copy(const KernelLaunch& launch)
      : in(launch.argument<std::uint32_t*>(0)), out(launch.argument<std::uint32_t*>(1)), n(launch.argument<std::int64_t>(2)) {}
  [[nodiscard]] bool allowed(const KernelLaunch& launch) const {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(std::uint32_t);
    return launch.may_access(in, bytes) && launch.may_access(out, bytes);
  }
  void run(std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) out[i] = in[i];
  }
};

/// synthetic_plain(in, out, n): the reference.
Effect plain(const KernelLaunch& launch) {
  const Copy copy(launch);
  if (!copy.allowed(launch)) return {1, Fault::IllegalAddress};
  copy.run(copy.n);
  return {10, Fault::None};
}

/// synthetic(in, out, n, time_ns, fault_code).
Effect synthetic(const KernelLaunch& launch) {
  const Copy copy(launch);
  const double us = 1e-3 * static_cast<double>(launch.argument<std::int64_t>(3));
  const auto ask = static_cast<Ask>(launch.argument<std::int64_t>(4));
  if (reported(ask) != Fault::None) return {us, reported(ask)};
  if (!copy.allowed(launch)) return {us, Fault::IllegalAddress};
  copy.run(ask == Ask::PartialWrite ? copy.n / 2 : copy.n);
  if (ask == Ask::WrongResult) copy.out[copy.n / 3] ^= 0x00800000u;  // twice or half of a float
  if (ask == Ask::OutOfBoundsWrite) copy.out[copy.n] = 42;           // a guard zone lies there
  if (ask == Ask::InputWrite) copy.in[0] ^= 1u;
  return {us, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& synthetic_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"synthetic", synthetic}, {"synthetic_plain", plain}};
  return kernels;
}

}  // namespace attune::fake_cuda
