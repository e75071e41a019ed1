#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace attune::base {

/// 128-bit XXH3 digest as 32 lower-case hex digits: the content key of cubins, templates, devices and problems.
/// Not cryptographic: a store is trusted for its owner (docs/database.md), the digest finds accidents.
[[nodiscard]] std::string content_key(std::string_view bytes);

/// Incremental form; parts that are added are length-prefixed, so ("ab","c") and ("a","bc") differ.
class ContentHasher {
 public:
  ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;
  ContentHasher& add(std::string_view part);
  /// Without a length: of bytes that were added by this alone, in whatever pieces, the key is content_key.
  ContentHasher& add_piece(std::string_view piece);
  [[nodiscard]] std::string key() const;

 private:
  /// XXH3_state_t, in place: a merge of databases hashes each of its millions of rows.
  alignas(64) std::array<std::byte, 576> state_;
};

}  // namespace attune::base
