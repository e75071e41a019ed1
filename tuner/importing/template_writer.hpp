#pragma once
#include <string>
#include <vector>

#include "tuner/importing/imported_kernel.hpp"

namespace attune::importing {

/// The template.json of an import, to be read and changed by people: what they have to decide is in comments at its head.
[[nodiscard]] std::string template_json(const ImportedKernel& kernel, const std::vector<std::string>& sources);

}  // namespace attune::importing
