#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tuner/base/hash.hpp"

namespace test_hash {

using attune::base::content_key;
using attune::base::ContentHasher;

TEST_CASE("content_key is XXH3-128 in its canonical form") {
  // The digest of nothing with seed 0, as the xxHash project publishes it.
  CHECK(content_key("") == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("one changed bit changes the key") {
  std::string bytes(300, 'a');
  std::set<std::string> keys{content_key(bytes)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    keys.insert(content_key(bytes));
    bytes[i] ^= 1;
  }
  CHECK(keys.size() == 301);
  CHECK(content_key(bytes).size() == 32);
}

TEST_CASE("where one part ends and the next begins counts") {
  const std::string together = ContentHasher().add("ab").add("c").key();
  CHECK(together != ContentHasher().add("a").add("bc").key());
  CHECK(together != ContentHasher().add("abc").key());
  CHECK(together != ContentHasher().add("ab").add("c").add("").key());
  CHECK(together == ContentHasher().add("ab").add("c").key());
}

TEST_CASE("bytes that are added in pieces have the key of all of them") {
  const std::string bytes(1000, 'x');
  ContentHasher hasher;
  for (std::size_t at = 0; at < bytes.size(); at += 300) hasher.add_piece(std::string_view(bytes).substr(at, 300));
  CHECK(hasher.key() == content_key(bytes));
  CHECK(ContentHasher().key() == content_key(""));
}

TEST_CASE("asking for the key does not end the hashing") {
  ContentHasher hasher;
  const std::string before = hasher.add("a").key();
  CHECK(hasher.key() == before);
  CHECK(hasher.add("b").key() == ContentHasher().add("a").add("b").key());
}

}  // namespace test_hash
