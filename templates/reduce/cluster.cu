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

// Stores a value of 4 or 8 bytes in the shared memory of the cluster's block 0, at the place where `here` lies in ours.
template <class V>
__device__ __forceinline__ void store_at_leader(const V* here, V x) {
  const unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(here));
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(mine));
  if constexpr (sizeof(V) == 8)
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(there), "l"(attune::bits_of(x)) : "memory");
  else
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(attune::bits_of(x)) : "memory");
}

// The cluster's result out of its blocks', which thread 0 of each holds; valid in thread 0 of block 0. Requires: every
// thread of every block calls it, after cluster_arrive.
__device__ __forceinline__ Value cluster_total(Value x) {
  constexpr unsigned kMost = 8;
  __shared__ Value values[kMost];
  const unsigned rank = cluster_rank();
  cluster_wait();  // block 0 runs, so its shared memory is there
  if (threadIdx.x == 0) store_at_leader(values + rank, x);
  cluster_arrive();
  cluster_wait();
  if (rank != 0 || threadIdx.x != 0) return x;
  x = values[0];
  for (unsigned k = 1; k < cluster_blocks(); ++k) x = Op::combine(x, values[k]);
  return x;
}
