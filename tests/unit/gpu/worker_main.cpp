#include "tuner/measure/gpu_executor.hpp"

int main() { return attune::measure::gpu_worker_main(); }
