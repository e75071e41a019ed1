#pragma once
#include "tuner/importing/kernel_usage.hpp"

namespace attune::importing {

[[nodiscard]] PointerUse pointer_use(const Tokens& body, const std::string& name);

/// Those that `declared` declares. `body`: what uses them. `depends`: variables and the words that they are computed of.
[[nodiscard]] std::vector<SharedArray> shared_arrays(const Tokens& declared, const Tokens& body,
                                                     const std::map<std::string, std::set<std::string>>& depends);

}  // namespace attune::importing
