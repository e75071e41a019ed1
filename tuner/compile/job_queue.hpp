#pragma once
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tuner/compile/compile_claims.hpp"

namespace attune::compile {

/// In which order jobs, named by their keys, are compiled: those that wait, then those that made way for them; none that another process
/// with the same cache compiles now.
class JobQueue {
 public:
  using Clock = std::chrono::steady_clock;

  /// `patience`: how long another process may take for a job, before it is compiled here too.
  JobQueue(const std::filesystem::path& cache, std::chrono::milliseconds patience) : claims_(cache), patience_(patience) {}

  void add(const std::string& key) { waiting_.push_back(key); }
  /// One that was taken, before all others.
  void put_back(const std::string& key);
  /// It makes way: for others here, and for another process that finds nothing else to do.
  void set_aside(const std::string& key);
  /// Takes the next that is to be compiled; nothing where none is. It is claimed until it is put back, set aside or has `ended`.
  /// `also_aside`: also one that made way.
  [[nodiscard]] std::optional<std::string> next(bool also_aside);
  /// Takes those that another process has ended with, well or not: claimed, to be looked for in the cache.
  [[nodiscard]] std::vector<std::string> take_freed();
  void ended(const std::string& key);
  /// Forgets all jobs, those that were taken too.
  void clear();

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] const std::deque<std::string>& aside() const noexcept { return aside_; }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size() + aside_.size() + elsewhere_.size(); }
  /// When `take_freed` may have something; never, where no other process has a job of ours.
  [[nodiscard]] Clock::time_point look_at() const noexcept { return elsewhere_.empty() ? Clock::time_point::max() : look_at_; }

 private:
  struct Elsewhere {
    std::string key;
    Clock::time_point since;
  };
  /// The first that is free; those before it are another process's.
  [[nodiscard]] std::optional<std::string> first_free(std::deque<std::string>& keys);

  CompileClaims claims_;
  std::chrono::milliseconds patience_;
  std::deque<std::string> waiting_, aside_;
  std::vector<Elsewhere> elsewhere_;
  std::unordered_set<std::string> unclaimed_;  ///< compiled here whoever else does: who is stopped midway keeps nobody waiting for ever
  Clock::time_point look_at_{};
};

}  // namespace attune::compile
