// Types, operator and tunable parameters of the segmented reduction; segmented_reduce.cu says what the parts do.
#include <attune/operators.cuh>
#include <attune/tiles.cuh>
#include <attune/vector.cuh>

using Item = ATTUNE_T;
using Accumulator = ATTUNE_A;
using Index = unsigned long long;
using attune::Address;

#if ATTUNE_OP_SUM
using Op = attune::Sum<Item>;
#elif ATTUNE_OP_PRODUCT
using Op = attune::Product<Item>;
#elif ATTUNE_OP_MIN
using Op = attune::Min<Item>;
#else
using Op = attune::Max<Item>;
#endif

constexpr bool kSum = ATTUNE_OP_SUM;
constexpr bool kMinimum = ATTUNE_OP_MIN;
constexpr bool kExtreme = ATTUNE_OP_MIN || ATTUNE_OP_MAX;
constexpr bool kSigned = attune::Element<Item>::kSigned;

constexpr unsigned kBlock = ATTUNE_BLOCK_SIZE;
constexpr unsigned kVectorBytes = ATTUNE_VECTOR_BYTES;
constexpr unsigned kItems = ATTUNE_ITEMS;                   // vectors of a row that a thread has on their way
constexpr unsigned kRowsInFlight = ATTUNE_ROWS_IN_FLIGHT;   // rows that the lanes of a warp read at once
constexpr unsigned kLanes = ATTUNE_ROW_STAGE_ADAPTIVE ? 0 : ATTUNE_LANES;  // threads of a row; 0: known at the launch only
constexpr unsigned kWidth = kVectorBytes / sizeof(Item);    // elements of a vector
using Tile = attune::Tile<kBlock, kItems, kVectorBytes>;
using Vector = attune::Vector<kVectorBytes>;

constexpr bool kByLanes = ATTUNE_ROW_STAGE_THREAD || ATTUNE_ROW_STAGE_SUB_WARP || ATTUNE_ROW_STAGE_WARP;
constexpr bool kTicket = ATTUNE_ROW_STAGE_TICKET || ATTUNE_ROW_STAGE_ADAPTIVE;

// These two stand in template.json too.
constexpr unsigned kSyncWords = 16;       // words of `sync` for a row's counter: a cache line
constexpr unsigned kFinishThreads = 256;  // block of segmented_partials

static_assert(kWidth >= 1, "a vector holds at least one element");
static_assert(kWidth <= kBlock, "a block loads the elements before and after its vectors in one step");

// Registers a thread is given: the loads in flight, the state of each row, and what surrounds them. With a tighter limit
// (the compiler's own choice) loads wait for additions or registers are spilled; without one fewer blocks fit on an SM.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
constexpr unsigned kSmThreads = 2048;
#else
constexpr unsigned kSmThreads = 1024;  // what every SM holds, also in blocks of 64
#endif
constexpr unsigned kRowRegisters = 10 + sizeof(Accumulator) / 4;
constexpr unsigned kRegisters =
    kItems * kRowsInFlight * Vector::kWords + kRowsInFlight * kRowRegisters + 24 + (sizeof(Accumulator) == 8 ? 4 : 0);
constexpr unsigned kResidentThreads = 65536 / kRegisters < kSmThreads ? 65536 / kRegisters : kSmThreads;
constexpr unsigned kResidentBlocks = kResidentThreads < kBlock ? 1 : kResidentThreads / kBlock;
