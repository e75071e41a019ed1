// y = A x for an A that stays: setup lays it out by columns, so that the threads of a warp, which have a row each, read neighbours. Each of
// gridDim.y parts sums some of the columns; who needs y adds them, as the check of template.json does.

// A tile of 32 by 32 elements goes through shared memory, so that reads and writes are both of neighbours.
extern "C" __global__ void __launch_bounds__(256) pack(const float* a, float* packed, long long rows, long long columns) {
  __shared__ float tile[32][33];
  const long long column = blockIdx.x * 32ll, row = blockIdx.y * 32ll;
  for (int y = threadIdx.y; y < 32; y += 8) {
    if (row + y < rows && column + threadIdx.x < columns) tile[y][threadIdx.x] = a[(row + y) * columns + column + threadIdx.x];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) {
    if (column + y < columns && row + threadIdx.x < rows) packed[(column + y) * rows + row + threadIdx.x] = tile[threadIdx.x][y];
  }
}

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    packed_matvec(const float* __restrict__ packed, const float* __restrict__ x, float* __restrict__ sums, long long rows, long long columns) {
  const long long first = static_cast<long long>(blockIdx.x) * ATTUNE_BLOCK_SIZE * ATTUNE_ITEMS + threadIdx.x;
  const long long parts = gridDim.y, part = blockIdx.y, share = (columns + parts - 1) / parts;
  const long long begin = ATTUNE_NEIGHBOURS ? part * share : part;
  const long long end = ATTUNE_NEIGHBOURS && begin + share < columns ? begin + share : columns;
  const long long step = ATTUNE_NEIGHBOURS ? 1 : parts;
  float sum[ATTUNE_ITEMS] = {};
#pragma unroll ATTUNE_UNROLL
  for (long long column = begin; column < end; column += step) {
    const float factor = x[column];
#pragma unroll
    for (int item = 0; item < ATTUNE_ITEMS; ++item) {
      const long long row = first + item * ATTUNE_BLOCK_SIZE;
      if (row < rows) sum[item] += packed[column * rows + row] * factor;
    }
  }
#pragma unroll
  for (int item = 0; item < ATTUNE_ITEMS; ++item) {
    const long long row = first + item * ATTUNE_BLOCK_SIZE;
    if (row < rows) sums[part * rows + row] = sum[item];
  }
}

extern "C" __global__ void add_parts(const float* sums, float* y, long long rows, long long parts) {
  const long long row = blockIdx.x * 256ll + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (long long part = 0; part < parts; ++part) sum += sums[part * rows + row];
  y[row] = sum;
}

// What results are checked against.
extern "C" __global__ void matvec_plain(const float* a, const float* x, float* y, long long rows, long long columns) {
  const long long row = blockIdx.x * 256ll + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (long long column = 0; column < columns; ++column) sum += static_cast<double>(a[row * columns + column]) * x[column];
  y[row] = static_cast<float>(sum);
}
