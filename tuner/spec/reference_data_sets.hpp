#pragma once
#include <string>
#include <vector>

#include "tuner/spec/json_document.hpp"
#include "tuner/spec/reference_definition.hpp"

namespace attune::spec {

/// "data_sets" of a reference.json without their conditions; null: the two that every reference has. Throws: SpecError.
[[nodiscard]] std::vector<DataSetSpec> read_data_sets(const JsonNode* node);
/// Throws: SpecError at `position` when there is none of that name.
[[nodiscard]] const DataSetSpec& find_data_set(const std::vector<DataSetSpec>& sets, const std::string& name,
                                               const SourcePosition& position);
/// Checks that every data set that alters another alters one that is filled, and that there is a kernel "alter" exactly if one does.
/// `node`: what the sets were read from; `alter`: the kernel; null: there are none. Throws: SpecError.
void check_alterations(const ReferenceDefinition& reference, const JsonNode* node, const JsonNode* alter);

}  // namespace attune::spec
