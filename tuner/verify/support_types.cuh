#pragma once
// What the kernels of support.cu are called with beside attune/reference_types.cuh: read by device and host code alike.

namespace attune::reference {

/// One guard zone: elements alternate between two patterns.
struct Region {
  void* start;
  u64 count;
  u64 even;
  u64 odd;
  int type;
};

constexpr int kMostRegions = 32;

constexpr u64 kUnsaid = 0xFDFDFDFDFDFDFDFDull;  // what expectations are before they are computed: no interval has both ends there
constexpr u64 kUnsaidAgain = ~kUnsaid;           // what values are before they are computed again: a value may be either, not both
constexpr u64 kMarksPerWord = 32;

/// As many zones as one launch takes; one row of blocks each.
struct Regions {
  Region regions[kMostRegions];
};

/// What an output is compared with.
struct Wanted {
  const void* start;  // values of the output's type, or Expected
  int intervals;
  double relative;  // of values: how far off they may be, times |wanted| + scale
  double scale;
  double absolute = 0;  // besides. Where both are 0, the same bits
};

/// Where what is expected of each output stands; and what is poisoned before the next call.
struct Outputs {
  Expected* wanted[4];
  unsigned char* poisoned[4];
  unsigned bytes[4];  // of `poisoned`; 0: none
  unsigned char poison[4];
};

}  // namespace attune::reference
