#include "tuner/worker/gpu_worker.hpp"

int main() { return attune::worker::gpu_worker_main(); }
