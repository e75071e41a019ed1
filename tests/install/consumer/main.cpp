// A program outside the tree that links attune::runtime alone; what it does needs no GPU.
#include <attune/runtime.hpp>
#include <cstdio>

/// The first argument: the GPU that is asked about, which a database has results of, or an architecture.
int main(int argc, char** argv) {
  const char* const gpu = argc > 1 ? argv[1] : "sm_90";
  attune::Runtime runtime;
  for (const auto& notice : runtime.notices()) std::printf("notice: %s\n", notice.c_str());
  const auto sum = runtime.reduce<float>(attune::Op::Sum);
  std::printf("%s\n", attune::describe(sum.explain_on(gpu, 1 << 24)).c_str());
  const auto own = runtime.reduce<float>({.op = attune::CustomOp{"a > b ? a : b", "A(-1)"}, .finish = attune::Finish::ScaleBias});
  std::printf("%s\n", attune::describe(own.explain_on(gpu, 1000)).c_str());
  const auto histogram = runtime.histogram<unsigned char>(256, attune::Skew::Zipf);
  std::printf("%s\n", attune::describe(histogram.explain_on(gpu, 1 << 24, 0, 256)).c_str());
  std::printf("NVRTC compiles in this process: %llu\n", static_cast<unsigned long long>(runtime.counters().compiles));
  return 0;
}
