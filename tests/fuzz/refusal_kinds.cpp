// Tells refusals apart by the words that are their own.
#include "tests/fuzz/refusal_kinds.hpp"

#include <algorithm>

namespace attune::test {
namespace {

/// Calls `use(word)` for every run of at least two letters.
template <class Use>
void for_each_word(std::string_view text, Use&& use) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ' ';
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) continue;
    if (at > begin + 1) use(std::string(text.substr(begin, at - begin)));
    begin = at + 1;
  }
}

/// What a refusal says without what it quotes: the words of its beginning and its end that neither the input holds nor `quotable`,
/// the words that inputs are made of.
std::string kind_of_refusal(std::string_view message, const std::string& input, const std::set<std::string>& quotable) {
  constexpr std::size_t kHead = 60, kTail = 120;
  std::string shortened(message.substr(0, kHead));
  if (message.size() > kHead)
    shortened.append(" ").append(message.substr(std::max(kHead, message.size() - std::min(message.size(), kTail))));
  // A word beside a digit or a quote belongs to something quoted, and may have lost the underscores that the input has.
  for (std::size_t at = 0; at < shortened.size(); ++at) {
    const char c = shortened[at];
    const bool quotes = c == '\'' || c == '"' || c == '_' || (c >= '0' && c <= '9');
    for (std::size_t next = at + 1; quotes && next < shortened.size() && shortened[next] != ' '; ++next) shortened[next] = ' ';
  }
  std::string kind;
  for_each_word(shortened, [&](const std::string& word) {
    if (!quotable.contains(word) && input.find(word) == std::string::npos) kind += word + " ";
  });
  return kind;
}

}  // namespace

void RefusalKinds::add_quotable(std::string_view text) {
  for_each_word(text, [this](const std::string& word) { quotable_.insert(word); });
}

bool RefusalKinds::meet(std::string_view message, const std::string& input) {
  return kinds_.insert(kind_of_refusal(message, input, quotable_)).second;
}

}  // namespace attune::test
