// Words of several elements: read and written at any alignment, and a square of elements exchanged in registers.

constexpr unsigned kWord = ATTUNE_WORD_BYTES;
constexpr unsigned kPer = kWord / kElement;                                  // elements of a word
constexpr unsigned kPart = kWord < 4 ? kWord : kElement > 4 ? kElement : 4;  // what a word is made of
constexpr unsigned kParts = kWord / kPart;
constexpr unsigned kOfPart = kPart / kElement;  // elements of a part

using Part = Bits<kPart>::Type;
struct alignas(kWord) Word {
  Part part[kParts];
};

/// Elements [0, there) of a word.
__device__ __forceinline__ Word gather(const Element* from, unsigned there) {
  Word word{};
#pragma unroll
  for (unsigned i = 0; i < kPer; ++i) {
    if (i < there) word.part[i / kOfPart] |= static_cast<Part>(from[i]) << (i % kOfPart * kElement * 8);
  }
  return word;
}

/// How the words of a tile lie: on their boundaries and whole, whole, or neither of all.
enum class Lie { Aligned, Whole, Ragged };

/// The word at `from`, all of whose elements are there, as well as what stands up to a part in front of it and behind it.
__device__ __forceinline__ Word load_shifted(const Element* from) {
  Word word;
  if constexpr (kElement >= kPart) {
#pragma unroll
    for (unsigned p = 0; p < kParts; ++p) word.part[p] = reinterpret_cast<const Part*>(from)[p];
  } else {
    const unsigned shift = behind(from, kPart);
    const Part* const aligned = reinterpret_cast<const Part*>(from - shift / kElement);
    Part parts[kParts + 1];
#pragma unroll
    for (unsigned p = 0; p < kParts; ++p) parts[p] = aligned[p];
    parts[kParts] = shift == 0 ? 0 : aligned[kParts];
#pragma unroll
    for (unsigned p = 0; p < kParts; ++p) word.part[p] = __funnelshift_r(parts[p], parts[p + 1], 8 * shift);
  }
  return word;
}

/// The word at `from`, of which `there` elements are of the row. [begin, end): the whole input, beyond which nothing is read.
template <Lie lie>
__device__ __forceinline__ Word load_word(const Element* from, unsigned there, const Element* begin, const Element* end) {
  if constexpr (lie == Lie::Aligned) return *reinterpret_cast<const Word*>(from);
  if constexpr (lie == Lie::Whole) return load_shifted(from);
  constexpr unsigned kBeyond = kElement < kPart ? kOfPart : 0;
  if (there < kPer || from - kBeyond < begin || from + kPer + kBeyond > end) return gather(from, there);
  return load_shifted(from);
}

/// Rows of four bytes to columns.
__device__ __forceinline__ void exchange_square(unsigned (&x)[4]) {
  const unsigned low01 = __byte_perm(x[0], x[1], 0x5140), high01 = __byte_perm(x[0], x[1], 0x7362);
  const unsigned low23 = __byte_perm(x[2], x[3], 0x5140), high23 = __byte_perm(x[2], x[3], 0x7362);
  x[0] = __byte_perm(low01, low23, 0x5410);
  x[1] = __byte_perm(low01, low23, 0x7632);
  x[2] = __byte_perm(high01, high23, 0x5410);
  x[3] = __byte_perm(high01, high23, 0x7632);
}
/// Rows of two halves to columns.
__device__ __forceinline__ void exchange_square(unsigned (&x)[2]) {
  const unsigned first = __byte_perm(x[0], x[1], 0x5410);
  x[1] = __byte_perm(x[0], x[1], 0x7632);
  x[0] = first;
}

__device__ __forceinline__ void exchange_square(Part (&)[1]) {}

/// kPer words, each of a row, to words of columns: squares of parts change places, and within them elements.
__device__ __forceinline__ void exchange(Word (&words)[kPer]) {
  if constexpr (kPer > 1) {
    Word turned[kPer];
#pragma unroll
    for (unsigned down = 0; down < kParts; ++down) {
#pragma unroll
      for (unsigned across = 0; across < kParts; ++across) {
        Part square[kOfPart];
#pragma unroll
        for (unsigned i = 0; i < kOfPart; ++i) square[i] = words[down * kOfPart + i].part[across];
        exchange_square(square);
#pragma unroll
        for (unsigned i = 0; i < kOfPart; ++i) turned[across * kOfPart + i].part[down] = square[i];
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kPer; ++i) words[i] = turned[i];
  }
}
