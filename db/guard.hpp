#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace attune::db {

/// Asked now and then by whatever may take long; false ends the work.
using KeepGoing = std::function<bool()>;

/// Switches off what no database of ours needs and what a forged file could use: triggers, views, functions in the schema,
/// writing to the schema; limits lengths and nesting to what a schema of ours needs; checks cells as pages are read;
/// overwrites what is deleted.
/// Requires: nothing has been read from `sqlite` yet.
void harden(SQLite::Database& sqlite);
/// In bytes: longer than any text that db/row_check.hpp takes.
inline constexpr int kLongestValue = 256 << 20;
/// Once the schema is known to be ours: values may be as long as any of ours.
void take_long_values(SQLite::Database& sqlite);

/// How long a lock is waited for before that is an error.
inline constexpr int kBusyTimeoutMs = 30000;

/// Ends statements of one connection that go on for too long, or that somebody wants to stop. A forged file of a few pages
/// can hold a tree of 10^20 rows (SQLite finds that in a check of the whole file alone), so every piece of work has a bound
/// in processor time that grows with the file. Waiting for locks does not count, nor does being stopped.
class Guard {
 public:
  /// ByFile: processor time is bounded, by the size of `path`. None: it is not, in a database that this process has made itself, where
  /// nothing can be forged.
  enum class Limit { ByFile, None };
  Guard(SQLite::Database& sqlite, std::filesystem::path path, KeepGoing keep_going, Limit limit = Limit::ByFile);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// Whether nobody wants to stop; what ends because of it is explained as an interruption.
  [[nodiscard]] bool keeps_going() {
    stopped_ = keep_going_ && !keep_going_();
    return !stopped_;
  }
  /// A new piece of work has its time from here on. Ends it before it begins when somebody wants to stop.
  void begin(const char* doing);
  /// The time alone: of what has to be ended well once it has begun.
  void begin_ending();
  /// Throws what ended the statement that SQLite says was interrupted; nothing when neither has. `doing` reads "reading".
  /// Throws: Error (ExitCode::Interrupted), DatabaseError naming the time.
  void explain_interruption(const std::string& doing) const;
  /// Runs `work`; what ended a statement of it is explained. Throws: what `work` throws, and as explain_interruption.
  template <class Work>
  auto watch(const char* doing, Work&& work) {
    begin(doing);
    try {
      return work();
    } catch (const SQLite::Exception&) {
      explain_interruption(doing);  // when it was one
      throw;
    }
  }
  /// Until it is destroyed, this is asked instead, and time does not count.
  class Without {
   public:
    Without(Guard& guard, KeepGoing keep_going);
    Without(const Without&) = delete;
    Without& operator=(const Without&) = delete;
    ~Without();

   private:
    Guard& guard_;
    KeepGoing before_;
    bool timed_before_;
  };

 private:
  /// The clock of a thread takes a system call: a piece of work of which nothing has been asked yet, as nearly all are too short for, has
  /// its time from the first question on.
  static constexpr double kNotAsked = -1;
  static int ask(void* guard);
  [[nodiscard]] double allowed_s() const;

  SQLite::Database& sqlite_;
  std::filesystem::path path_;
  KeepGoing keep_going_;
  double begun_s_ = kNotAsked;
  double allowed_s_ = 0;
  bool timed_ = true;
  bool stopped_ = false;
  bool late_ = false;
};

/// Takes the place of SQLite's own waiting for locks, until `guard` is gone: looks often, and ends when somebody wants to stop.
void wait_often(SQLite::Database& sqlite, Guard& guard);
/// The same with pauses that a file server can bear.
void wait_seldom(SQLite::Database& sqlite, Guard& guard);

}  // namespace attune::db
