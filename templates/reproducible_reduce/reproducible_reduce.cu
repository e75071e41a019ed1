// One value out of n elements, whose bits depend on n and the elements alone.
//
// The input is cut into rows of 256 times 16 bytes, counted from its first element wherever that lies. Row r belongs to chunk
// r % chunks; thread t of the block that has a chunk combines the elements t * kWidth + k of its rows, each k for itself,
// from the first row on. A chunk's 256 threads are combined by one tree, the chunks by 256 threads and the same tree.
// None of this depends on how many blocks there are, on how wide the loads are and how many are in flight, on the second
// stage or on the alignment: these are what is tuned.
//
// Scratch: `sync` is zero before the first launch and zero again after each one; `partials` needs no initial value.
// Launches that may overlap need scratch of their own.

// A thread's elements of one row.
struct Share {
  Value x[kWidth];
};

// The elements at `at`, all of them there.
__device__ __forceinline__ void load_elements(Value (&x)[kWidth], Address at, bool aligned) {
  constexpr unsigned kParts = 16 / kVectorBytes, kEach = kVectorBytes / sizeof(In);
  if (aligned) {
#pragma unroll
    for (unsigned p = 0; p < kParts; ++p) {
      const auto v = attune::load_vector<kVectorBytes>(at + p * kVectorBytes);
#pragma unroll
      for (unsigned k = 0; k < kEach; ++k) x[p * kEach + k] = attune::element<In, kVectorBytes>(v, k);
    }
  } else {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) x[k] = attune::load_element(reinterpret_cast<const In*>(at) + k);
  }
}

struct Source {
  const In *in, *other;
  Index n;
  bool in_aligned, other_aligned;
};

__device__ __forceinline__ Share load_share(const Source& source, Index first, const Setting& setting) {
  Share share, second;
  load_elements(share.x, attune::address_of(source.in + first), source.in_aligned);
  if constexpr (kTwoInputs) load_elements(second.x, attune::address_of(source.other + first), source.other_aligned);
#pragma unroll
  for (unsigned k = 0; k < kWidth; ++k) share.x[k] = mapped(share.x[k], kTwoInputs ? second.x[k] : Value{0}, setting.scalars);
  return share;
}

// The sum of a thread's rows of one chunk.
__device__ __forceinline__ Sum sum_of_chunk(const Source& source, unsigned chunk, unsigned chunks, const Setting& setting) {
  Sum sum[kWidth];
#pragma unroll
  for (unsigned k = 0; k < kWidth; ++k) sum[k] = Total::none();
  const Index rows = source.n / kRow;  // whole ones
  Index row = chunk;
#pragma unroll 1
  for (; row + Index{kItems - 1} * chunks < rows; row += Index{kItems} * chunks) {
    Share share[kItems];
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i) share[i] = load_share(source, (row + Index{i} * chunks) * kRow + threadIdx.x * kWidth, setting);
#pragma unroll
    for (unsigned i = 0; i < kItems; ++i)
#pragma unroll
      for (unsigned k = 0; k < kWidth; ++k) sum[k] = Total::add(sum[k], share[i].x[k], setting);
  }
#pragma unroll 1
  for (; row < rows; row += chunks) {
    const Share share = load_share(source, row * kRow + threadIdx.x * kWidth, setting);
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) sum[k] = Total::add(sum[k], share.x[k], setting);
  }
  if (row == rows) {  // the row that is not whole is this chunk's
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) {
      const Index i = rows * kRow + threadIdx.x * kWidth + k;
      if (i < source.n) sum[k] = Total::add(sum[k], load_one(source.in, source.other, i, setting.scalars), setting);
    }
  }
#pragma unroll
  for (unsigned half = kWidth / 2; half > 0; half /= 2)
#pragma unroll
    for (unsigned k = 0; k < half; ++k) sum[k] = Total::combine(sum[k], sum[k + half]);
  return sum[0];
}

// Of 256 threads; valid in thread 0. Calls may follow each other.
__device__ __forceinline__ Sum block_sum(Sum sum) {
  __shared__ Sum warps[kThreads / 32];
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) sum = Total::combine(sum, Total::from_lane(sum, distance));
  __syncthreads();  // what a call before stored was read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned w = 1; w < kThreads / 32; ++w) sum = Total::combine(sum, warps[w]);
  }
  return sum;
}

__device__ __forceinline__ Sum sum_of_chunks(const Sum* partials, unsigned chunks) {
  Sum sum = Total::none();
  for (unsigned c = threadIdx.x; c < chunks; c += kThreads) sum = Total::combine(sum, partials[c]);
  return block_sum(sum);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    reduce_in_order(const In* __restrict__ in, const In* __restrict__ other, Index n, Value shift, Value scale, Value bias, Value resolution,
                    Value* out, Sum* partials, unsigned chunks, attune::Word* sync) {
  const Setting setting = setting_of({shift, scale, bias}, resolution, n);
  const auto aligned = [](const In* at) { return attune::bytes_to_vector<kVectorBytes>(attune::address_of(at)) == 0; };
  const Source source{in, other, n, aligned(in), !kTwoInputs || aligned(other)};
  for (unsigned chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const Sum sum = block_sum(sum_of_chunk(source, chunk, chunks, setting));
    if (threadIdx.x == 0) partials[chunk] = sum;
  }
#if ATTUNE_GRID_STAGE_LAST_BLOCK
  __shared__ bool last;
  if (threadIdx.x == 0) last = attune::arrive(reinterpret_cast<unsigned*>(sync), gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  const Sum sum = sum_of_chunks(partials, chunks);
  if (threadIdx.x == 0) *out = finished(Total::result(sum, setting), n, setting.scalars);
#endif
}

#if ATTUNE_GRID_STAGE_TWO_PASS
extern "C" __global__ void __launch_bounds__(kThreads)
    reduce_chunks(const Sum* partials, unsigned chunks, Index n, Value scale, Value bias, Value resolution, Value* out) {
  const Setting setting = setting_of({Value{0}, scale, bias}, resolution, n);
  const Sum sum = sum_of_chunks(partials, chunks);
  if (threadIdx.x == 0) *out = finished(Total::result(sum, setting), n, setting.scalars);
}
#endif
