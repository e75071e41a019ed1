#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune::spec {

// Headers for device code that templates/include/attune holds and every template may include as <attune/NAME.cuh>.
// With their brackets they are named as no file of a template's folder is.

/// Whether a name, "<attune/vector.cuh>" with its brackets, lies where attune's own headers do.
[[nodiscard]] bool is_device_header(std::string_view name);

/// "attune/vector.cuh" of "<attune/vector.cuh>". Requires: is_device_header.
[[nodiscard]] std::string without_brackets(std::string_view name);

/// The text of a header as it was when attune was built; nothing for a name that is unknown.
[[nodiscard]] std::optional<std::string_view> device_header(std::string_view name);

/// "<attune/arithmetic.cuh>", "<attune/vector.cuh>", ..., sorted.
[[nodiscard]] std::vector<std::string> device_header_names();

}  // namespace attune::spec
