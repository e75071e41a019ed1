#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace attune {

/// What a launch does on a miss: nothing usable was tuned on this device within a factor Options::reach of its sizes.
/// docs/dispatch.md, "On a miss".
enum class OnMiss {
  Default,           ///< launches with what the lookup gives; nothing is tuned
  Error,             ///< throws NotTunedError, which names the command that tunes these sizes
  TuneInBackground,  ///< launches with what the lookup gives; later calls use what was tuned meanwhile
  TuneNow,           ///< tunes, then launches with the result
};

/// An all-gather of texts across the ranks of a job: given this rank's text, returns the text of every rank in the order of the ranks, this
/// one's among them. A few lines over MPI_Allgatherv, torch.distributed or files that all see: docs/fleet.md, "Agreement between ranks".
/// Texts may differ in length, and are up to 1 MiB. It must not use the Runtime that calls it. What it throws passes through.
using AllGather = std::function<std::vector<std::string>(const std::string& text)>;

struct Options {
  /// Database layers in order. Empty: the user's file ($ATTUNE_DB, else attune/attune.db in the XDG data folder), then
  /// the shipped one ($ATTUNE_SHIPPED_DB, else the installed file). Naming a file also says that its stored cubins may
  /// be loaded; those of default layers are loaded only from files that this user owns.
  std::vector<std::filesystem::path> databases;
  /// Folders searched for templates before the built-in ones.
  std::vector<std::filesystem::path> templates;
  /// Objective policy to dispatch for: "cold/graph", "cold/stream", "hot/graph" or "hot/stream".
  std::string policy = "cold/graph";

  /// Whether results of templates without a reference, of which nothing is verified, are dispatched too. Of a template with a reference
  /// nothing unverified ever is.
  bool unverified = false;

  OnMiss on_miss = OnMiss::Default;
  /// Sizes up to this factor away, each, count as tuned. At least 1.
  double reach = 4;
  /// The `attune` executable, which tunes in a process of its own. Empty: $ATTUNE_WORKER, else the one beside the
  /// running program, the one of the prefix that attune was found in, the installed one, the build tree's.
  std::filesystem::path worker;
  /// Seconds that the search for one problem may take; starting the process and the final comparison come on top.
  double tuning_budget_s = 10;
  /// Background tuning rests until all of it so far is at most this share of the time since the Runtime was made; the
  /// first problem need not wait. Between 0 and 1. Tuning now is counted, and never waits.
  double tuning_share = 0.1;

  /// Where set, all ranks of a job dispatch every problem with one configuration. It is called when the Runtime is made and by the first
  /// launch, plan or prepare of every problem, both of which are collective then: all ranks make the Runtime, and come to new problems in
  /// the same order (from one thread, or in an order that the threads keep). Where ranks would have chosen differently, each of them takes
  /// what one rule finds in what they told each other, and those that would have taken another say so in Runtime::notices(). It is never
  /// called by launches of known sizes, and no lock is held that those need. Tuning on a miss would let ranks diverge: UsageError.
  AllGather agree = {};
};

}  // namespace attune
