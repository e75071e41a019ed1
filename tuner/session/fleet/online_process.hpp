#pragma once
#include "tuner/session/fleet/device_process.hpp"

namespace attune::session {

/// Main of `attune worker-online`, which tunes one problem for a running program (spec::TuningRequest) and ends. It
/// writes into the database that the program names; when that cannot be written, now or in the midst, it tunes in
/// memory and hands the result over.
/// From the program, by "type": tune (once), stop. To it, by "event": progress, notice, unpersisted (`why`; the result will come in
/// `tuned`), finished (`measured`, `reused`, `tuned`: db::TunedProblem or null, `why_none`), interrupted, error (`what`).
/// Ends when the program does.
int online_process_main(const DeviceHooks& hooks);

}  // namespace attune::session
