#pragma once
#include <string>

namespace attune::report {

/// Text of a header: what the selector asks of problems and configurations, out of the comparisons of choices (" && a.T == b.T"), of sizes,
/// the squared distances (" + ..."), and the statements that make a configuration serve any size.
[[nodiscard]] std::string header_comparisons(const std::string& choices, const std::string& sizes, const std::string& distances,
                                             const std::string& general);
/// Text of a header: the selector, over kDevices and kEntries.
extern const char* const kHeaderSelector;

}  // namespace attune::report
