// What a cooperative launch promises: every block runs, so that they may all wait for each other.
#include <cooperative_groups.h>

__device__ __forceinline__ void wait_for_grid() { cooperative_groups::this_grid().sync(); }
