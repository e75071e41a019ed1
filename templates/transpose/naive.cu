// One element a thread: reads follow each other in memory, every write goes to another row of the output.
extern "C" __global__ void __launch_bounds__(kThreads)
    transpose_naive(const Element* __restrict__ in, Element* __restrict__ out, Index rows, Index columns) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < rows * columns) out[i % columns * rows + i / columns] = in[i];
}
