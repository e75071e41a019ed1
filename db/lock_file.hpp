#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace attune::db {

/// The file "<database>.lock" beside a database, and what its holder has locked in it. It guards what SQLite's own
/// locks do not: switching to WAL (which ignores the busy timeout), migrating, and setting a damaged file aside. It
/// stays behind when released: removing it would let two processes lock two different files.
/// The locks belong to the open file description (F_OFD_SETLK): two instances in one process exclude each other too,
/// and the kernel releases them when a process dies, however it does.
class LockFile {
 public:
  enum class Part {
    Opening = 0,  ///< held while a writer opens
    InUse = 1,    ///< held shared by every writer while it lives; alone while a file is set aside
  };
  enum class Share { Shared, Alone };

  LockFile() = default;
  /// Throws: DatabaseError naming the path, errno and remedy when the lock file cannot be created.
  explicit LockFile(const std::filesystem::path& database);
  LockFile(LockFile&& other) noexcept : database_(std::move(other.database_)), fd_(std::exchange(other.fd_, -1)) {}
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

  /// Throws: DatabaseError when `timeout` has passed since the part was last taken, or since the wait began; Error
  /// (ExitCode::Interrupted) when `keep_going` says false.
  void lock(Part part, Share share, std::chrono::milliseconds timeout, const std::function<bool()>& keep_going = {});
  /// False when another holder is in the way. Throws: DatabaseError when the file system knows no locks.
  [[nodiscard]] bool try_lock(Part part, Share share);
  void unlock(Part part);
  /// Tells those who wait for a part that this holds alone that it is not stuck: they wait on.
  void tell_at_work() const;
  /// A line that outlives its writer, for the next holder of the opening lock; empty without one, and where it cannot be read.
  [[nodiscard]] std::string note() const;
  /// On the disk when it returns; whatever ends the process, the old line or the new one is there. Throws: DatabaseError.
  void write_note(const std::string& line);
  /// What a lock file of ours holds: nothing, or one line that begins so.
  static constexpr std::string_view kNoteBegin = "attune ";
  static constexpr std::size_t kMostNoteBytes = 512;

 private:
  std::filesystem::path database_;
  int fd_ = -1;
};

}  // namespace attune::db
