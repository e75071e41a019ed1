#pragma once

namespace attune::test {

/// Whether this is built with a sanitizer that slows everything down several times and reserves more address space than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace attune::test
