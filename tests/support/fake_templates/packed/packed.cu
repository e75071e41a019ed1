// Compiled as any template; what runs in its place is tests/support/fake_cuda/packed_kernels.cpp.

extern "C" __global__ void packed_setup(const int* in, int* packed, long long rows, long long columns, long long layout) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  for (long long column = 0; row < rows && column < columns; ++column)
    packed[layout == 0 ? row * columns + column : column * rows + row] = in[row * columns + column];
}

extern "C" __global__ void __launch_bounds__(ATTUNE_BLOCK_SIZE)
    packed_sums(const int* packed, int* parts, long long rows, long long columns, long long layout, long long defect_code) {
  const long long row = blockIdx.x * static_cast<long long>(ATTUNE_BLOCK_SIZE) + threadIdx.x;
  for (int part = 0; row < rows && part < 4; ++part) {
    int sum = defect_code < 0;
    for (long long column = part; column < columns; column += 4) sum += packed[layout == 0 ? row * columns + column : column * rows + row];
    parts[part * rows + row] = sum;
  }
}

extern "C" __global__ void packed_check(const int* parts, int* out, long long rows) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  if (row < rows) out[row] = parts[row] + parts[rows + row] + parts[2 * rows + row] + parts[3 * rows + row];
}

extern "C" __global__ void packed_plain(const int* in, int* out, long long rows, long long columns) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  for (long long column = 0; column < columns; ++column) sum += in[row * columns + column];
  out[row] = sum;
}
