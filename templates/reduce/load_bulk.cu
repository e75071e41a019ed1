// Loading by bulk copies (sm_90 and later): from the first address that is aligned to 16 bytes on, rows of kBlock vectors are
// dealt to the blocks round-robin. The copy engine brings each into one of kItems places of a ring in shared memory, and
// tells by a barrier when it is there; a thread then reads its vector of the row. What does not fill a row, and the elements
// before the first aligned address, the last block loads without the ring.

constexpr unsigned kRowBytes = kBlock * kVectorBytes;

__device__ __forceinline__ unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

__device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
}
// Starts the copy of a row, whose arrival completes the barrier's phase.
__device__ __forceinline__ void copy_row(unsigned to, Address from, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kRowBytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(kRowBytes), "r"(barrier)
               : "memory");
}

__device__ __forceinline__ Loaded row_vector(unsigned at) {
  Loaded v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x.word[0]), "=r"(v.x.word[1]), "=r"(v.x.word[2]), "=r"(v.x.word[3])
               : "r"(at)
               : "memory");
  return v;
}

// What this thread makes of its share of the input. `meanwhile` runs once, when the first copies are on their way.
template <class Meanwhile>
__device__ __forceinline__ Value read_share(const In* in, const In* other, Index n, const Scalars& scalars, Meanwhile meanwhile) {
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ Word full_barriers[kItems], empty_barriers[kItems];
  const Source source = source_of(in, other);
  const unsigned to_vector = attune::bytes_to_vector<kVectorBytes>(source.in) / sizeof(In);
  const unsigned head = to_vector < n ? to_vector : static_cast<unsigned>(n);
  const Address base = source.in + static_cast<Address>(head * sizeof(In));
  const Index rows = (n - head) * sizeof(In) / kRowBytes;
  const Index mine = blockIdx.x < rows ? (rows - blockIdx.x - 1) / gridDim.x + 1 : 0;
  const unsigned ring_at = shared_address(ring), full = shared_address(full_barriers), empty = shared_address(empty_barriers);
  const auto start = [&](Index k, unsigned place) {
    copy_row(ring_at + place * kRowBytes, base + static_cast<Address>((blockIdx.x + k * gridDim.x) * kRowBytes), full + place * 8);
  };
  if (threadIdx.x == 0) {
    for (unsigned k = 0; k < kItems; ++k) {
      barrier_init(full + k * 8, 1);
      barrier_init(empty + k * 8, kWarps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (unsigned k = 0; k < kItems && k < mine; ++k) start(k, k);
  }
  __syncthreads();
  meanwhile();

  Value first = Op::identity();
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x < head) first = Op::combine(first, load_one(source, threadIdx.x, scalars));
  State state(first);
  unsigned place = 0, parity = 0;
#pragma unroll 1
  for (Index k = 0; k < mine; ++k) {
    barrier_wait(full + place * 8, parity);
    const Loaded v = row_vector(ring_at + place * kRowBytes + threadIdx.x * kVectorBytes);
    state.add(v, scalars);
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(empty + place * 8);
    if (threadIdx.x == 0 && k + kItems < mine) {
      barrier_wait(empty + place * 8, parity);  // every warp has read the row
      start(k + kItems, place);
    }
    if (++place == kItems) {
      place = 0;
      parity ^= 1;
    }
  }
  Value last = Op::identity();
  if (blockIdx.x == gridDim.x - 1) {
    const Index taken = head + rows * (kRowBytes / sizeof(In));
    for (Index i = taken + threadIdx.x; i < n; i += kBlock) last = Op::combine(last, load_one(source, i, scalars));
  }
  return Op::combine(state.total(), last);
}
