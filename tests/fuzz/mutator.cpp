#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attune::test {
namespace {

constexpr std::size_t kMostKept = 4096;
constexpr std::size_t kMostChanges = 8;

constexpr std::array<std::string_view, 24> kNumbers = {"0",
                                                       "-1",
                                                       "1",
                                                       "2",
                                                       "255",
                                                       "256",
                                                       "65535",
                                                       "65536",
                                                       "2147483647",
                                                       "2147483648",
                                                       "-2147483649",
                                                       "4294967295",
                                                       "4294967296",
                                                       "4294967428",
                                                       "9223372036854775807",
                                                       "9223372036854775808",
                                                       "-9223372036854775808",
                                                       "18446744073709551616",
                                                       "1e308",
                                                       "1e400",
                                                       "-1e400",
                                                       "1e-400",
                                                       "0.1",
                                                       "1e9"};

constexpr std::array<std::string_view, 5> kOpeners = {"[", "{\"a\":", "(", "{", "["};
constexpr std::array<std::string_view, 5> kClosers = {"]", "}", ")", "}", ","};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Mutator::Mutator(std::vector<std::string> corpus, std::vector<std::string> dictionary, std::uint64_t seed, std::size_t most_bytes,
                 FormatChanges of_format)
    : given_(std::move(corpus)),
      dictionary_(std::move(dictionary)),
      random_(seed),
      most_bytes_(most_bytes),
      of_format_(std::move(of_format)) {
  if (given_.empty()) given_.emplace_back();
}

std::string Mutator::next() {
  std::string input = any_entry();
  const std::size_t most = std::max(most_bytes_, input.size());
  // Mostly one or two changes: an input that is refused at its first line says nothing of what comes after.
  std::size_t changes = 1;
  while (changes < kMostChanges && one_in(2)) ++changes;
  for (; changes > 0; --changes) {
    if (of_format_.structural && one_in(2))
      of_format_.structural(input, random_);
    else
      change(input);
  }
  if (input.size() > most) input.resize(most);
  if (of_format_.last) of_format_.last(input, random_);
  return input;
}

void Mutator::keep(const std::string& input) {
  if (found_.size() < kMostKept) {
    found_.push_back(input);
  } else {
    found_[below(found_.size())] = input;
  }
}

std::size_t Mutator::below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

const std::string& Mutator::any_entry() {
  return found_.empty() || one_in(2) ? given_[below(given_.size())] : found_[below(found_.size())];
}

std::string Mutator::any_piece() {
  if (!dictionary_.empty() && !one_in(3)) return dictionary_[below(dictionary_.size())];
  if (one_in(2)) return std::string(kNumbers[below(kNumbers.size())]);
  const std::string& entry = any_entry();
  return entry.substr(below(entry.size()), 1 + below(64));
}

void Mutator::change(std::string& input) {
  switch (below(14)) {
    case 0:
    case 1:
    case 2:
      return change_bytes(input);
    case 3:
    case 4:
      return change_number(input);
    case 5:
    case 6:
      input.insert(below(input.size() + 1), any_piece());
      return;
    case 7: {  // a piece in the place of something
      const std::size_t at = below(input.size());
      if (!input.empty()) input.replace(at, 1 + below(std::min<std::size_t>(input.size() - at, 16)), any_piece());
      return;
    }
    case 8:
      return input.resize(below(input.size() + 1));
    case 9: {  // a block is gone
      const std::size_t at = below(input.size());
      if (!input.empty()) input.erase(at, 1 + below(std::min<std::size_t>(input.size() - at, 1024)));
      return;
    }
    case 10: {  // the beginning of one, the end of another
      const std::string& other = any_entry();
      const std::string tail = other.substr(below(other.size() + 1));
      input.resize(below(input.size() + 1));
      input += tail;
      return;
    }
    case 11:
      return move_block(input);
    case 12:
      return repeat(input);
    default:
      return nest(input);
  }
}

void Mutator::change_bytes(std::string& input) {
  if (input.empty()) return;
  for (std::size_t count = 1 + below(4); count > 0; --count) {
    char& byte = input[below(input.size())];
    byte = one_in(2) ? static_cast<char>(byte ^ (1 << below(8))) : static_cast<char>(below(256));
  }
}

void Mutator::change_number(std::string& input) {
  const std::size_t from = below(input.size());
  const auto first = std::find_if(input.begin() + static_cast<std::ptrdiff_t>(from), input.end(), is_digit);
  if (first == input.end()) return;
  const auto last = std::find_if_not(first, input.end(), is_digit);
  const std::string number =
      one_in(3) ? std::to_string(static_cast<std::int64_t>(random_())) : std::string(kNumbers[below(kNumbers.size())]);
  input.replace(first, last, number);
}

void Mutator::move_block(std::string& input) {
  if (input.empty()) return;
  const std::size_t at = below(input.size());
  const std::string block = input.substr(at, 1 + below(256));
  if (one_in(2)) input.erase(at, block.size());  // else it stands twice
  input.insert(below(input.size() + 1), block);
}

void Mutator::repeat(std::string& input) {
  const std::size_t at = below(input.size() + 1);
  const std::string piece = one_in(2) ? any_piece() : input.substr(std::min(at, input.size()), 1 + below(16));
  if (piece.empty() || input.size() >= most_bytes_) return;
  const std::size_t room = (most_bytes_ - input.size()) / piece.size();
  // Mostly a few, so that the whole stays fast; at times as many as fit.
  const std::size_t times = one_in(16) ? room : std::min(room, std::size_t{1} << below(9));
  std::string block;
  block.reserve(times * piece.size());
  for (std::size_t i = 0; i < times; ++i) block += piece;
  input.insert(at, block);
}

void Mutator::nest(std::string& input) {
  const std::size_t kind = below(kOpeners.size());
  const std::size_t each = kOpeners[kind].size() + kClosers[kind].size();
  if (input.size() >= most_bytes_) return;
  const std::size_t room = (most_bytes_ - input.size()) / each;
  const std::size_t times = one_in(16) ? room : std::min(room, std::size_t{1} << below(9));
  std::string open, close;
  for (std::size_t i = 0; i < times; ++i) {
    open += kOpeners[kind];
    close += kClosers[kind];
  }
  const std::size_t at = below(input.size() + 1);
  const std::size_t end = one_in(2) ? at : at + below(input.size() - at + 1);
  if (!one_in(4)) input.insert(end, close);
  input.insert(at, open);
}

}  // namespace attune::test
