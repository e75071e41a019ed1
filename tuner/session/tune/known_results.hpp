#pragma once
#include <string>
#include <unordered_set>

#include "tuner/session/tune/problem_context.hpp"
#include "tuner/session/tune/search_memory.hpp"

namespace attune::session {

/// What is known of a problem's configurations, from earlier runs and from this one: the rows of the database, and of each what a search
/// asks for, by ordinal of the whole space.
class KnownResults {
 public:
  explicit KnownResults(ProblemContext& context) : context_(context) {}
  KnownResults(const KnownResults&) = delete;
  KnownResults& operator=(const KnownResults&) = delete;

  /// Reads the rows that answer here; what does not is told. The others are measured again and replaced.
  void load();
  [[nodiscard]] const Known& operator[](space::Ordinal ordinal) const { return memory_[ordinal]; }
  [[nodiscard]] const SearchMemory& memory() const noexcept { return memory_; }
  /// Stores a fresh measurement, before anything else learns of it.
  void keep(space::Ordinal ordinal, const measure::Measurement& measurement);
  /// Turns a configuration that worked into a failed one, under every name that its launches have: they would fail again.
  void keep_failure(space::Ordinal ordinal, measure::Outcome outcome, const std::string& detail);
  /// Sets the stage of a finalist's record: it has run off.
  void mark_run_off(const std::string& configuration);
  /// The record of a configuration. Throws: Error when it is gone.
  [[nodiscard]] measure::Measurement stored(const std::string& configuration) const { return to_measurement(stored_row(configuration)); }
  /// By which name the default is known: its own, unless only another one of its launches was measured, as before the table of defaults
  /// changed. Works out launches of the context, so that it is not for several threads.
  [[nodiscard]] std::string default_name() const;

 private:
  [[nodiscard]] bool answers_here(const db::RecordRow& row, std::uint64_t& foreign, std::uint64_t& of_other_memory) const;
  void remember(space::Ordinal ordinal, const measure::Measurement& measurement);
  [[nodiscard]] db::RecordRow stored_row(const std::string& configuration) const;

  ProblemContext& context_;
  SearchMemory memory_;
  bool told_of_no_cost_ = false;
  std::unordered_set<std::string> to_replace_;  ///< configurations whose stored records this run has seen and measures again
};

}  // namespace attune::session
