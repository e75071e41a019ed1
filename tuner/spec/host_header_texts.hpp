#pragma once
#include <string>
#include <string_view>

namespace attune::spec {

/// What NVRTC reads in place of `#include <header>`: whole lines, which may be read any number of times. Null for a header that has no
/// such text. Requires: the brackets, "<math.h>".
[[nodiscard]] const std::string* host_header_text(std::string_view header);

}  // namespace attune::spec
