#include "tuner/spec/buffer_fill.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/spec/element.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::spec {
namespace {

constexpr std::int64_t kMostDivided = std::int64_t{1} << 48;  ///< elements, as of every buffer

/// The fill of one buffer at one problem.
class FillCheck {
 public:
  FillCheck(const BufferSpec& declared, const ResolvedBuffer& buffer, const Problem& problem, const Scope& scope)
      : declared_(declared), buffer_(buffer), problem_(problem), scope_(scope) {}

  [[nodiscard]] std::vector<Value> run() const {
    switch (declared_.fill) {
      case Fill::Constant:
        return {held(0, value(0))};
      case Fill::Range:
        return is_floating(buffer_.type) ? real_range() : whole_range();
      case Fill::Offsets:
        return {offsets()};
      case Fill::Index:
      case Fill::Permutation:
        require_exact(buffer_.count - 1, declared_.fill_position);
        return {};
      default:
        return {};
    }
  }

 private:
  [[nodiscard]] Value value(std::size_t bound) const { return declared_.fill_bounds[bound].evaluate(scope_); }

  [[nodiscard]] std::string where() const { return fmt::format("the fill of the buffer '{}' for {}", buffer_.name, to_text(problem_)); }

  [[noreturn]] void refuse(std::size_t bound, const Value& value) const {
    const Expression& expression = declared_.fill_bounds[bound];
    fail(expression.position(),
         fmt::format("{} has {}, which is no {} (\"{}\"); give a number that this type holds, or the buffer another type", where(),
                     to_text(value), name(buffer_.type), expression.text()));
  }

  /// The value itself; as a whole number where the type has no others.
  [[nodiscard]] Value held(std::size_t bound, const Value& value) const {
    const auto* const real = std::get_if<double>(&value);
    if (!scalar_bits(value, buffer_.type) || (real != nullptr && !std::isfinite(*real))) refuse(bound, value);
    return is_floating(buffer_.type) ? value : Value(whole_number(value).value());
  }

  [[noreturn]] void refuse_range(const Value& low, const Value& high) const {
    fail(declared_.fill_position,
         fmt::format("{} is a range from {} to below {}, which no number is in; give it a second bound above the first", where(),
                     to_text(low), to_text(high)));
  }

  /// The second bound need not be of the type: 256 of u8.
  [[nodiscard]] std::vector<Value> whole_range() const {
    const Value low = value(0), high = value(1);
    const std::int64_t from = std::get<std::int64_t>(held(0, low));
    const auto below = whole_number(high);
    if (!below) refuse(1, high);
    if (*below <= from) refuse_range(low, high);
    if (!scalar_bits(Value(*below - 1), buffer_.type)) refuse(1, Value(*below - 1));
    return {Value(from), Value(*below)};
  }

  [[nodiscard]] std::vector<Value> real_range() const {
    const auto number = [&](std::size_t bound) {
      const Value held_value = held(bound, value(bound));
      const auto* const real = std::get_if<double>(&held_value);
      return real != nullptr ? *real : static_cast<double>(whole_number(held_value).value());
    };
    const double low = number(0), high = number(1);
    if (!(low < high)) refuse_range(low, high);
    return {Value(low), Value(high)};
  }

  [[nodiscard]] Value offsets() const {
    const Value total = value(0);
    const auto whole = whole_number(total);
    const SourcePosition& place = declared_.fill_bounds[0].position();
    if (!whole || *whole < 0 || *whole > kMostDivided) {
      fail(place, fmt::format("{} divides {} elements among rows (\"{}\"); give a whole number from 0 to 2^48", where(), to_text(total),
                              declared_.fill_bounds[0].text()));
    }
    require_exact(*whole, place);
    return *whole;
  }

  /// Rounding would give two elements one place, and leave others out.
  void require_exact(std::int64_t highest, const SourcePosition& place) const {
    const std::int64_t most = highest_exact_whole(buffer_.type);
    if (highest <= most) return;
    fail(place,
         fmt::format("{} goes up to {}, and {} has whole numbers without gaps up to {} only; give the buffer a wider type, or choose a "
                     "smaller problem or another fill",
                     where(), highest, name(buffer_.type), most));
  }

  const BufferSpec& declared_;
  const ResolvedBuffer& buffer_;
  const Problem& problem_;
  const Scope& scope_;
};

}  // namespace

std::vector<Value> resolve_fill(const BufferSpec& declared, const ResolvedBuffer& buffer, const Problem& problem, const Scope& scope) {
  if (buffer.count == 0) return {};
  return FillCheck(declared, buffer, problem, scope).run();
}

}  // namespace attune::spec
