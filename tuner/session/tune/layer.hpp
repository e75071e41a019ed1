#pragma once
#include <string>
#include <vector>

#include "db/records.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// A recording with the template that it is of.
struct LayerSource {
  Recording recording;
  std::string path;  ///< for messages, and named as the rows' origin
  spec::KernelTemplate kernel;
};

/// What a read-only database layer is made of.
struct LayerRows {
  std::vector<std::vector<db::BestRow>> best;  ///< by source; of each recorded problem
  /// How the winner of every problem, and the default, did at the other problems of its types and choices: what dispatch between
  /// tuned sizes goes by. The other measurements stay in the recordings.
  std::vector<db::RecordRow> records;
};

/// Best rows are decided from the recorded run-offs exactly as tuning decides, and dated with the recording's date.
/// Throws: UsageError (a recording is of another version of its template), SpecError naming the file (a problem without a run-off,
///         of other axes than the template's, a configuration outside of its space, a finalist that was not found right).
[[nodiscard]] LayerRows layer_rows(const std::vector<LayerSource>& sources);

}  // namespace attune::session
