#pragma once

namespace attune::report {

/// Text of a header: what the selector asks of problems and configurations. A format with the comparisons of choices (" && a.T == b.T"), of
/// sizes, the sum of the squared distances, and the statements that make a configuration serve any size.
extern const char* const kHeaderComparisons;
/// Text of a header: the selector, over kDevices and kEntries.
extern const char* const kHeaderSelector;

}  // namespace attune::report
