// A program outside the tree that links attune::runtime alone; what it does needs no GPU.
#include <attune/runtime.hpp>
#include <cstdio>

constexpr const char* kGpu = "NVIDIA H200";  // the shipped database has results of it

int main() {
  attune::Runtime runtime;
  for (const auto& notice : runtime.notices()) std::printf("notice: %s\n", notice.c_str());
  const auto sum = runtime.reduce<float>(attune::Op::Sum);
  std::printf("%s\n", attune::describe(sum.explain_on(kGpu, 1 << 24)).c_str());
  const auto own = runtime.reduce<float>({.op = attune::CustomOp{"a > b ? a : b", "A(-1)"}, .finish = attune::Finish::ScaleBias});
  std::printf("%s\n", attune::describe(own.explain_on(kGpu, 1000)).c_str());
  const auto histogram = runtime.histogram<unsigned char>(256, attune::Skew::Zipf);
  std::printf("%s\n", attune::describe(histogram.explain_on(kGpu, 1 << 24, 0, 256)).c_str());
  std::printf("NVRTC compiles in this process: %llu\n", static_cast<unsigned long long>(runtime.counters().compiles));
  return 0;
}
