#pragma once
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/compile/compile_claims.hpp"

namespace attune::compile {

/// In which order jobs, named by their keys, are compiled: those that wait, then those that made way for them; none that another process
/// with the same cache compiles now, unless it takes its time.
class JobQueue {
 public:
  using Clock = std::chrono::steady_clock;
  enum class List { Waiting, Aside };
  struct Taken {
    std::string key;
    List from = List::Waiting;
  };

  /// `patience`: how long other processes may have a job, before it is compiled here all the same.
  JobQueue(const std::filesystem::path& cache, std::chrono::milliseconds patience) : claims_(cache), patience_(patience) {}

  void add(const std::string& key) { waiting_.push_back(key); }
  /// It makes way: for others here, and for another process that finds nothing else to do.
  void set_aside(const std::string& key);
  /// Takes the first that is to be compiled; nothing where none is. No other process takes it until it is put back, set aside or has
  /// `ended`.
  [[nodiscard]] std::optional<Taken> take(List list);
  /// Takes those that another process has ended with, well or not: to be looked for in the cache.
  [[nodiscard]] std::vector<Taken> take_freed();
  /// Before all others of the list that it was taken from.
  void put_back(const Taken& job);
  void ended(const std::string& key);
  /// Forgets all jobs, those that were taken too.
  void clear();

  [[nodiscard]] bool any_waiting() const noexcept { return !waiting_.empty(); }
  /// Those that made way, wherever they are compiled now.
  [[nodiscard]] std::vector<std::string> aside() const;
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size() + aside_.size() + elsewhere_.size(); }
  /// When `take_freed` may have something; never, where no other process has a job of ours.
  [[nodiscard]] Clock::time_point look_at() const noexcept { return elsewhere_.empty() ? Clock::time_point::max() : look_at_; }

 private:
  [[nodiscard]] std::deque<std::string>& keys(List list) { return list == List::Aside ? aside_ : waiting_; }
  /// False: another process has it, and not for too long.
  [[nodiscard]] bool claim(const std::string& key);
  void leave_elsewhere(Taken job);

  CompileClaims claims_;
  std::chrono::milliseconds patience_;
  std::deque<std::string> waiting_, aside_;
  std::vector<Taken> elsewhere_;
  std::unordered_map<std::string, Clock::time_point> since_;  ///< when a key was found elsewhere first
  Clock::time_point look_at_{};
};

}  // namespace attune::compile
