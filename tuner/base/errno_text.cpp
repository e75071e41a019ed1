#include "tuner/base/errno_text.hpp"

#include <fmt/core.h>

#include <cstring>

namespace attune::base {

std::string errno_text(const char* call, int error_number) {
  const char* const name = strerrorname_np(error_number);
  const char* const meaning = strerrordesc_np(error_number);
  if (name == nullptr || meaning == nullptr) return fmt::format("{} returned errno {}", call, error_number);
  return fmt::format("{} returned {} ({})", call, name, meaning);
}

}  // namespace attune::base
