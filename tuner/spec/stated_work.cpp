#include "tuner/spec/stated_work.hpp"

#include <cmath>
#include <variant>

namespace attune::spec {
namespace {

std::int64_t rounded(const std::optional<Expression>& expression, const Scope& scope) {
  if (!expression) return 0;
  const Value value = expression->evaluate(scope);
  const double* real = std::get_if<double>(&value);
  if (real == nullptr || !(std::fabs(*real) < 9e18)) return expression->integer(scope);
  return std::llround(*real);
}

}  // namespace

StatedWork stated_work(const KernelTemplate& kernel, const Scope& scope) {
  return {rounded(kernel.work.bytes, scope), rounded(kernel.work.operations, scope)};
}

}  // namespace attune::spec
