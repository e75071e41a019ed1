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

__device__ __forceinline__ const Item* edge_at(const Row& row, unsigned columns, unsigned edge) {
  return row.begin + (edge < row.head ? edge : columns - row.edges + edge);
}

// What this lane makes of its share of kRowsInFlight rows. All loads of a step are issued before the first is used, and
// the first edge of every row before those; it is looked at last, so that nothing waits for it before the vectors are on their way.
template <bool Aligned>
__device__ __forceinline__ void read_rows(Row (&row)[kRowsInFlight], Accumulator (&x)[kRowsInFlight],
                                          const unsigned (&columns)[kRowsInFlight], unsigned lane, unsigned lanes) {
  unsigned most = 0;
  attune::Single<Item> edge[kRowsInFlight];
#pragma unroll
  for (unsigned j = 0; j < kRowsInFlight; ++j) {
    x[j] = Op::identity();
    if constexpr (!Aligned) {
      edge[j] = attune::filled<Item, sizeof(Item)>(Op::neutral());
      attune::load_vector_if(lane < row[j].edges, attune::address_of(edge_at(row[j], columns[j], lane)), edge[j]);
    }
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
    for (unsigned j = 0; j < kRowsInFlight; ++j) {
      attune::keep_here(edge[j]);
      x[j] = Op::combine(x[j], attune::element<Item>(edge[j], 0));
#pragma unroll 1
      for (unsigned e = lane + lanes; e < row[j].edges; e += lanes) x[j] = Op::combine(x[j], attune::load_element(edge_at(row[j], columns[j], e)));
    }
  }
}

// ---- a row, or a part of one, by a block -------------------------------------------------------------------------------

// What this thread makes of its share of `count` elements, of which a row's blocks, `parts` of them, take tiles in turn. The last
// tile may be ragged: the same instructions read it, with what changes nothing in place of the vectors that it lacks. The elements that no vector holds,
// before the first aligned address and behind the last whole vector, go to the last block, which never has more tiles than
// another. `meanwhile` runs once, when the first loads are on their way.
//
// The loop is turned so that a tile's loads end an iteration and their use begins the next: the assembler cannot move
// the use between them then, as it does otherwise to save registers.
template <class Meanwhile>
__device__ __forceinline__ Accumulator read_part(const Item* __restrict__ in, Index count, unsigned part, unsigned parts,
                                                 Meanwhile meanwhile) {
  const Address start = attune::address_of(in), end = start + static_cast<Address>(count * sizeof(Item));
  const Address begin = start + attune::bytes_to_vector<kVectorBytes>(start);
  Address at = begin + part * Tile::kBytes;
  const Address last = end - kVectorBytes;  // where a whole vector may still begin

  Vector v[kItems];
  int bytes = Tile::bytes_before(at, end);
  Tile::load<Item>(v, at, bytes, Op::neutral());
  meanwhile();
  auto edge = attune::filled<Item, sizeof(Item)>(Op::neutral());
  if (kWidth > 1 && part == parts - 1) {
    const auto loose = attune::Loose::of<Item, kVectorBytes>(start, begin, end, count);
    attune::load_vector_if(loose.there(threadIdx.x), attune::address_of(in + loose.index(threadIdx.x, count)), edge);
  }
  Accumulator x = Op::identity();
#pragma unroll 1
  while (at <= last) {
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) x = add_vector(x, v[k]);
    at += parts * Tile::kBytes;
    bytes = Tile::bytes_before(at, end);
    if (at <= last) Tile::load<Item>(v, at, bytes, Op::neutral());
  }
  if constexpr (kWidth == 1) return x;
  attune::keep_here(edge);
  return Op::combine(x, attune::element<Item>(edge, 0));
}
