#pragma once
#include <string>
#include <string_view>

namespace attune::simulate {

/// One member of a gzip file, the same for the same bytes: it tells neither name nor time. Throws: Error where there is no memory.
[[nodiscard]] std::string gzip(std::string_view bytes);

}  // namespace attune::simulate
