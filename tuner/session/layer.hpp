#pragma once
#include <string>
#include <vector>

#include "db/records.hpp"
#include "tuner/session/recording.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// The best row of each recorded problem, decided from the recorded run-off exactly as tuning decides, and dated with
/// the recording's date. What a read-only database layer is made of.
/// Throws: UsageError (the recording is of another version of the template), Error (a problem without a run-off).
[[nodiscard]] std::vector<db::BestRow> best_rows_of(const Recording& recording, const std::string& path,
                                                    const spec::KernelTemplate& kernel);

}  // namespace attune::session
