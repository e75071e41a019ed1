// Combining the blocks of a cluster through distributed shared memory (sm_90 and later).

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned cluster_blocks() {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// Where the cluster's block 0 gets the others' values: each arrives with eight bytes of the barrier's phase.
struct ClusterInbox {
  static constexpr unsigned kMost = 16;
  Word values[kMost];
  Word barrier;
};

__device__ __forceinline__ unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

// The first thing that a block does: it says that it runs, and block 0 that its inbox is ready.
__device__ __forceinline__ void cluster_begin(ClusterInbox& inbox) {
  if (threadIdx.x == 0 && cluster_rank() == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&inbox.barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&inbox.barrier)), "r"((cluster_blocks() - 1) * 8)
                 : "memory");
  }
  __syncwarp();
  cluster_arrive();
}

// The cluster's result out of its blocks', which thread 0 of each holds; valid in thread 0 of block 0. Requires: every
// thread of every block calls it, after cluster_begin.
__device__ __forceinline__ Value cluster_total(ClusterInbox& inbox, Value x) {
  const unsigned rank = cluster_rank();
  cluster_wait();  // block 0 runs and its inbox is ready
  if (threadIdx.x != 0) return x;
  const unsigned barrier = shared_address(&inbox.barrier);
  if (rank != 0) {
    unsigned there, barrier_there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(shared_address(inbox.values + rank)));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(barrier_there) : "r"(barrier));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(there),
                 "l"(static_cast<Word>(attune::bits_of(x))), "r"(barrier_there)
                 : "memory");
    return x;
  }
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  for (unsigned k = 1; k < cluster_blocks(); ++k) x = Op::combine(x, attune::value_of<Value>(static_cast<Bits>(inbox.values[k])));
  return x;
}
