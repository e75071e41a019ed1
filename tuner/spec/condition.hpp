#pragma once
#include <string_view>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// A condition on a template's configurations that stands outside of its template.json: it may use what constraints may
/// (axes, aliases, parameters, device.*). `position` is where `text` begins.
/// Throws: SpecError with the place of the offending token: malformed, a name that the template does not have (with a
/// suggestion), one that conditions cannot use.
[[nodiscard]] Constraint parse_condition(const KernelTemplate& kernel, std::string_view text, const SourcePosition& position);

/// The values of the parameters that the conditions name: "block_stage: shuffle, shared_tree; items: 1, 2, 4". For whoever has
/// to say that nothing satisfies them. Empty when they name none.
[[nodiscard]] std::string values_of_named_parameters(const KernelTemplate& kernel, const std::vector<Constraint>& conditions);

}  // namespace attune::spec
