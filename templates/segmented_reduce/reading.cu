// How threads read a row and what they make of it.

// ---- one vector --------------------------------------------------------------------------------------------------------

// The extremes of four bytes each.
__device__ __forceinline__ unsigned extreme_of_bytes(unsigned a, unsigned b) {
  if constexpr (kSigned) return kMinimum ? __vmins4(a, b) : __vmaxs4(a, b);
  else return kMinimum ? __vminu4(a, b) : __vmaxu4(a, b);
}

__device__ __forceinline__ Accumulator sum_of_bytes(unsigned word, Accumulator x) {
  if constexpr (kSigned) return static_cast<Accumulator>(__dp4a(static_cast<int>(word), 0x01010101, static_cast<int>(x)));
  else return static_cast<Accumulator>(__dp4a(word, 0x01010101u, static_cast<unsigned>(x)));
}

// Combines a vector's elements with x: bytes four at a time, elements of 8 bytes one after the other (Op asks for a left
// operand that is no NaN, and two of them are no tree), the others as a tree, so that x waits for one operation only.
__device__ __forceinline__ Accumulator add_vector(Accumulator x, const Vector& v) {
  if constexpr (sizeof(Item) == 1 && kSum) {
#pragma unroll
    for (unsigned k = 0; k < Vector::kWords; ++k) x = sum_of_bytes(v.word[k], x);
    return x;
  } else if constexpr (sizeof(Item) == 1 && kExtreme && kVectorBytes > 4) {
    attune::Vector<4> bytes{v.word[0]};
#pragma unroll
    for (unsigned k = 1; k < Vector::kWords; ++k) bytes.word[0] = extreme_of_bytes(bytes.word[0], v.word[k]);
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) x = Op::combine(x, attune::element<Item>(bytes, k));
    return x;
  } else if constexpr (sizeof(Item) == 8) {
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) x = Op::combine(x, attune::element<Item>(v, k));
    return x;
  } else {
    Accumulator part[kWidth];
#pragma unroll
    for (unsigned k = 0; k < kWidth; ++k) part[k] = attune::element<Item>(v, k);
#pragma unroll
    for (unsigned half = kWidth / 2; half > 0; half /= 2)
#pragma unroll
      for (unsigned k = 0; k < half; ++k) part[k] = Op::combine(part[k], part[k + half]);
    return Op::combine(x, part[0]);
  }
}

// ---- rows by the lanes of a warp ---------------------------------------------------------------------------------------

// A row as one thread sees it: whole vectors from `at` on, and the elements before and after them ("edges"), of which
// there are none when all rows start and end between vectors.
struct Row {
  Address at;        // of this lane's first vector
  unsigned vectors;  // of the row
  const Item* begin;
  unsigned head;   // edges before the vectors
  unsigned edges;  // both sides
};

template <bool Aligned>
__device__ __forceinline__ Row find_row(const Item* begin, unsigned columns, unsigned lane) {
  Row row;
  row.begin = begin;
  unsigned head = 0;
  if constexpr (!Aligned) {
    head = attune::bytes_to_vector<kVectorBytes>(attune::address_of(begin)) / sizeof(Item);
    head = head < columns ? head : columns;
  }
  row.head = head;
  row.vectors = (columns - head) / kWidth;
  row.edges = Aligned ? 0 : columns - row.vectors * kWidth;
  row.at = attune::address_of(begin + head) + lane * kVectorBytes;
  return row;
}

__device__ __forceinline__ Accumulator load_edge(const Row& row, unsigned columns, unsigned edge) {
  return attune::load_element(row.begin + (edge < row.head ? edge : columns - row.edges + edge));
}

// What this lane makes of its share of kRowsInFlight rows. All loads of a step are issued before the first is used, and
// the first edge of every row before those.
template <bool Aligned>
__device__ __forceinline__ void read_rows(Row (&row)[kRowsInFlight], Accumulator (&x)[kRowsInFlight],
                                          const unsigned (&columns)[kRowsInFlight], unsigned lane, unsigned lanes) {
  unsigned most = 0;
#pragma unroll
  for (unsigned j = 0; j < kRowsInFlight; ++j) {
    x[j] = Op::identity();
    if constexpr (!Aligned)
      if (lane < row[j].edges) x[j] = Op::combine(x[j], load_edge(row[j], columns[j], lane));
    most = row[j].vectors > most ? row[j].vectors : most;
  }
#pragma unroll 1
  for (unsigned first = lane; first < most; first += kItems * lanes) {
    Vector v[kRowsInFlight][kItems];
#pragma unroll
    for (unsigned j = 0; j < kRowsInFlight; ++j)
#pragma unroll
      for (unsigned k = 0; k < kItems; ++k)
        if (first + k * lanes < row[j].vectors)
          v[j][k] = attune::load_vector<kVectorBytes>(row[j].at + k * lanes * kVectorBytes);
#pragma unroll
    for (unsigned j = 0; j < kRowsInFlight; ++j) {
#pragma unroll
      for (unsigned k = 0; k < kItems; ++k)
        if (first + k * lanes < row[j].vectors) x[j] = add_vector(x[j], v[j][k]);
      row[j].at += kItems * lanes * kVectorBytes;
    }
  }
  if constexpr (!Aligned) {
#pragma unroll
    for (unsigned j = 0; j < kRowsInFlight; ++j)
#pragma unroll 1
      for (unsigned edge = lane + lanes; edge < row[j].edges; edge += lanes)
        x[j] = Op::combine(x[j], load_edge(row[j], columns[j], edge));
  }
}

// ---- a row, or a part of one, by a block -------------------------------------------------------------------------------

__device__ __forceinline__ void load_tile(Vector (&v)[kItems], Address at) {
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) v[k] = attune::load_vector<kVectorBytes>(at + k * (kBlock * kVectorBytes));
}

// What this thread makes of its share of `count` elements, of which a row's blocks, `parts` of them, take tiles in turn.
// What does not fill a tile goes to the block whose turn it is then, by whole vectors and single elements; the elements
// before the first aligned address go to the last block, which never has more tiles than another. `meanwhile` runs once,
// when the first loads are on their way.
//
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers. `end` less a tile may lie below 0; this thread's
// place in a tile is part of both `at` and `end`.
template <class Meanwhile>
__device__ __forceinline__ Accumulator read_part(const Item* __restrict__ in, Index count, unsigned part, unsigned parts,
                                                 Meanwhile meanwhile) {
  const Address place = threadIdx.x * kVectorBytes;
  const unsigned head = attune::bytes_to_vector<kVectorBytes>(attune::address_of(in));
  const Address end = attune::address_of(in) + static_cast<Address>(count * sizeof(Item)) + place;
  Address at = attune::address_of(in) + head + part * kTileBytes + place;

  Accumulator x = Op::identity();
  if (kWidth > 1 && head != 0 && part == parts - 1)
    if (threadIdx.x * sizeof(Item) < head && threadIdx.x < count) x = Op::combine(x, attune::load_element(in + threadIdx.x));

  Vector v[kItems];
  bool more = at <= end - kTileBytes;
  if (more) load_tile(v, at);
  meanwhile();
#pragma unroll 1
  while (more) {
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) x = add_vector(x, v[k]);
    at += parts * kTileBytes;
    more = at <= end - kTileBytes;
    if (more) load_tile(v, at);
  }
  if (at >= end) return x;
  const unsigned rest = static_cast<unsigned>(end - at);
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k)
    if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest)
      v[k] = attune::load_vector<kVectorBytes>(at + k * (kBlock * kVectorBytes));
  Accumulator last = Op::identity();
  if constexpr (kWidth > 1) {
    const unsigned tail = rest % kVectorBytes;
    if (threadIdx.x * sizeof(Item) < tail)
      last = Op::combine(last, attune::load_element(in + (count - tail / sizeof(Item) + threadIdx.x)));
  }
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k)
    if ((k * kBlock + threadIdx.x + 1) * kVectorBytes <= rest) x = add_vector(x, v[k]);
  return Op::combine(x, last);
}
