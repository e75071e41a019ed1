#include "tuner/base/hash.hpp"

// Inlined, so that no xxhash library is linked; its version cannot change the digests (XXH3 is a fixed specification).
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <new>

namespace attune::base {
namespace {

std::string hex(XXH128_hash_t digest) {
  XXH128_canonical_t canonical;  // big-endian bytes: the same text on every machine
  XXH128_canonicalFromHash(&canonical, digest);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(2 * sizeof(canonical.digest), '\0');
  for (std::size_t i = 0; i < sizeof(canonical.digest); ++i) {
    text[2 * i] = kDigits[canonical.digest[i] >> 4];
    text[2 * i + 1] = kDigits[canonical.digest[i] & 15];
  }
  return text;
}

static_assert(sizeof(XXH3_state_t) <= 576 && alignof(XXH3_state_t) <= 64, "as tuner/base/hash.hpp has room for");
XXH3_state_t* state_in(std::array<std::byte, 576>& bytes) { return reinterpret_cast<XXH3_state_t*>(bytes.data()); }

}  // namespace

std::string content_key(std::string_view bytes) { return hex(XXH3_128bits(bytes.data(), bytes.size())); }

ContentHasher::ContentHasher() {
  XXH3_state_t* const state = new (state_.data()) XXH3_state_t;
  XXH3_INITSTATE(state);
  XXH3_128bits_reset(state);
}

ContentHasher& ContentHasher::add(std::string_view part) {
  std::array<unsigned char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(part.size()) >> (8 * i));
  }
  XXH3_128bits_update(state_in(state_), length.data(), length.size());
  return add_piece(part);
}

ContentHasher& ContentHasher::add_piece(std::string_view piece) {
  XXH3_128bits_update(state_in(state_), piece.data(), piece.size());
  return *this;
}

std::string ContentHasher::key() const { return hex(XXH3_128bits_digest(reinterpret_cast<const XXH3_state_t*>(state_.data()))); }

}  // namespace attune::base
