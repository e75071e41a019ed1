#include "tuner/base/json_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <vector>

#include "tuner/base/json.hpp"

namespace attune::base {
namespace {

using nlohmann::json;

// What a value takes in memory: itself twice, as arrays grow by doubling, and its own allocation.
constexpr std::uint64_t kValueBytes = 2 * sizeof(json);
constexpr std::uint64_t kTextBytes = 48;
constexpr std::uint64_t kArrayBytes = 48;
constexpr std::uint64_t kObjectBytes = 64;
constexpr std::uint64_t kMemberBytes = 128;

/// The parser reads through this one, so that it is known how far it is.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// nlohmann's own words without its prefix, which repeats the position.
std::string words_of(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t cut = text.rfind(": ", std::min(text.find("; expected"), text.size()));
  return cut == std::string::npos ? text : text.substr(cut + 2);
}

/// Takes the events of the parser; false ends it.
class Checker : public json::json_sax_t {
 public:
  explicit Checker(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return take(0); }
  bool boolean(bool) override { return take(0); }
  bool number_integer(number_integer_t) override { return take(0); }
  bool number_unsigned(number_unsigned_t) override { return take(0); }
  bool number_float(number_float_t, const string_t&) override { return take(0); }
  bool string(string_t& value) override { return take(kTextBytes + value.size()); }
  bool binary(binary_t&) override { return take(0); }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return deeper() && take(kObjectBytes);
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) return fault(fmt::format("an object has the key '{}' twice", name.substr(0, 60)));
    return take(kMemberBytes + name.size());
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return deeper() && take(kArrayBytes); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const json::exception& error) override {
    if (dynamic_cast<const json::out_of_range*>(&error) != nullptr)
      return fault(fmt::format("the number {} is out of range", token.substr(0, 60)));
    syntax_position_ = position;
    return fault("malformed JSON: " + words_of(error));
  }

  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] std::optional<std::size_t> syntax_position() const { return syntax_position_; }

 private:
  bool fault(std::string what) {
    if (what_.empty()) what_ = std::move(what);
    return false;
  }
  bool deeper() { return ++depth_ <= limits_.depth || fault(fmt::format("its values are nested more than {} deep", limits_.depth)); }
  bool take(std::uint64_t bytes) {
    taken_ += kValueBytes + bytes;
    return taken_ <= limits_.value_bytes ||
           fault(fmt::format("its values would take more than {} MiB of memory, which is the limit for so small a file",
                             limits_.value_bytes >> 20));
  }

  const JsonLimits& limits_;
  std::vector<std::unordered_set<std::string>> keys_;  ///< of the objects that are open
  int depth_ = 0;
  std::uint64_t taken_ = 0;
  std::string what_;
  std::optional<std::size_t> syntax_position_;
};

void locate(std::string_view text, JsonFault& fault) {
  const std::string_view before = text.substr(0, fault.byte);
  const std::size_t line_break = before.rfind('\n');
  fault.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  fault.column = static_cast<int>(line_break == std::string_view::npos ? before.size() + 1 : before.size() - line_break);
}

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text, const JsonLimits& limits) {
  JsonFault fault;
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    fault = {"it holds a zero byte", zero};
    locate(text, fault);
    return fault;
  }
  const char* furthest = text.data();
  Checker checker(limits);
  const char* const end = text.data() + text.size();
  if (json::sax_parse(CountingIterator(text.data(), &furthest), CountingIterator(end, &furthest), &checker)) return std::nullopt;
  fault.what = checker.what();
  fault.byte = static_cast<std::size_t>(furthest - text.data());
  if (const auto position = checker.syntax_position()) {
    fault.at_end = *position > text.size();
    fault.byte = std::min(*position == 0 ? 0 : *position - 1, text.size());
  }
  locate(text, fault);
  return fault;
}

}  // namespace attune::base
