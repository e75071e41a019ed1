#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace attune::test {

/// Changes an input. Its random numbers come from the second argument alone.
using Change = std::function<void(std::string& input, std::mt19937_64& random)>;

/// What only its format knows; both may be empty.
struct FormatChanges {
  Change structural;  ///< in the place of every other change: of a page, a row, whatever the format is made of
  Change last;        ///< after all others: makes checksums match, without which nothing behind them would be reached
};

/// Makes new inputs out of known ones. The same seed and the same corpus give the same inputs.
/// Small changes (bits, bytes, numbers, words of the dictionary) keep most of an input's meaning; splices, cuts and moved blocks
/// break its structure; repetition finds what takes more than linear time, stack or memory.
class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, std::vector<std::string> dictionary, std::uint64_t seed, std::size_t most_bytes,
          FormatChanges of_format = {});

  /// Bytes: at most `most_bytes`, except for a corpus entry that is larger itself.
  [[nodiscard]] std::string next();
  /// Keeps an input that did something new: later inputs are made from it too. Beyond 4,096 it takes the place of another one.
  void keep(const std::string& input);

 private:
  [[nodiscard]] std::size_t below(std::size_t bound);  ///< 0 where bound is 0
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  [[nodiscard]] const std::string& any_entry();
  /// A word of the dictionary, a block of an entry, or an interesting number.
  [[nodiscard]] std::string any_piece();
  void change(std::string& input);
  void change_bytes(std::string& input);
  void change_number(std::string& input);
  void move_block(std::string& input);
  void repeat(std::string& input);
  void nest(std::string& input);

  std::vector<std::string> given_;
  std::vector<std::string> found_;
  std::vector<std::string> dictionary_;
  std::mt19937_64 random_;
  std::size_t most_bytes_;
  FormatChanges of_format_;
};

}  // namespace attune::test
