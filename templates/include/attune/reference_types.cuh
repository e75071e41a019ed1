#pragma once
// What the kernels of a reference and attune itself hand each other (reference.cuh): read by device and host code alike.

namespace attune::reference {

typedef unsigned long long u64;
typedef unsigned int u32;

/// One check's verdict; all bytes zero before the check.
struct Slot {
  u64 count;          // elements that failed
  u64 first_inverse;  // ~index of the first of them
  u64 got;            // raw bits of that element
  u64 wanted[2];      // and what was expected of it
};

/// The first argument of a kernel that fills an input.
struct Filling {
  void* start;
  u64 count;  // elements
  u64 seed;
  int type;
  int data;    // ATTUNE_DATA_<NAME>: the data set
  int group;   // of windows, for a problem that is timed on several kinds of data
  Slot* slot;  // null: fill; else compare with what filling put there
};

/// What an element of an output must be: a number of an interval, or an integer. reference.cuh has functions that make one.
struct Expected {
  u64 low;
  u64 high;
};

constexpr u64 kExactMark = 0x7ff8a77e7e7e0001ull;  // no interval ends in this NaN

constexpr int kMostChanges = 2;

/// An element that is replaced for one call, as a kernel that plants gets it and returns it.
struct Plant {
  u64 position;  // of the element in the buffer
  u64 before;    // its raw bits
  u64 bits;      // what takes its place; as `before`, as it is at first: nothing, the position is left out
  u64 changes;   // how many expectations are others then
  u64 output[kMostChanges];   // which output
  u64 element[kMostChanges];  // which of its elements
  Expected expected[kMostChanges];
};

constexpr int kMostAltered = 4;

/// The elements in which a data set differs from the one that it alters.
struct Alteration {
  u64 count;  // none, as at first: the data set does not exist for this problem
  u64 position[kMostAltered];
  u64 bits[kMostAltered];
};

}  // namespace attune::reference
