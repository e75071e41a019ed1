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
  std::string text;
  text.reserve(2 * sizeof(canonical.digest));
  for (const unsigned char byte : canonical.digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace

std::string content_key(std::string_view bytes) { return hex(XXH3_128bits(bytes.data(), bytes.size())); }

ContentHasher::ContentHasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}

ContentHasher::~ContentHasher() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

ContentHasher& ContentHasher::add(std::string_view part) {
  std::array<unsigned char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(part.size()) >> (8 * i));
  }
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), length.data(), length.size());
  return add_piece(part);
}

ContentHasher& ContentHasher::add_piece(std::string_view piece) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), piece.data(), piece.size());
  return *this;
}

std::string ContentHasher::key() const { return hex(XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_))); }

}  // namespace attune::base
