#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/base/whole_input.hpp"

namespace attune::base {

/// Reads a text line by line, however long the file is; a name that ends in .zst is decompressed on the way, "-" is
/// standard input. Memory: one line, which may not exceed kMaximumLine. What a pipe or device gives is read to its end at
/// once (base::open_whole): `next` never waits.
class LineReader {
 public:
  static constexpr std::size_t kMaximumLine = std::size_t{64} << 20;
  /// What a compressed file of so many bytes may unpack to: some kilobytes may claim to be gigabytes. Whatever a row repeats of others, its
  /// checksum and times are its own, 50 bytes and more of a packed file, so rows of 50 kB each come near the ratio: compiler
  /// logs, again and again. The free bytes are for a template with one long text: the longest line, twice. LineWriter keeps to it.
  static constexpr std::uint64_t most_unpacked(std::uint64_t stored_bytes) { return 2 * kMaximumLine + kMostUnpackedRatio * stored_bytes; }
  static constexpr std::uint64_t kMostUnpackedRatio = 1000;

  /// Throws: UsageError when there is no such file or it is a folder, EnvironmentError naming the path and errno, what
  /// `on_wait` throws.
  explicit LineReader(const std::filesystem::path& path, const OnWait& on_wait = {});
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end, valid until the next call; nothing at the end of the file.
  /// Throws: SpecError naming file and line: damaged compression, a line that is too long or does not end, more than most_unpacked;
  /// EnvironmentError: unreadable.
  [[nodiscard]] std::optional<std::string_view> next();
  /// The number of the line that `next` returned last, from 1.
  [[nodiscard]] int line_number() const noexcept { return line_number_; }

 private:
  struct Input;
  std::unique_ptr<Input> input_;
  std::string buffer_;
  std::size_t begin_ = 0;    ///< of the next line in the buffer
  std::size_t scanned_ = 0;  ///< bytes from begin_ on known to hold no line end
  int line_number_ = 0;
};

/// Writes a text line by line, as an OutputFile: a file appears whole when `commit` is called. Compressed when the name ends in .zst.
class LineWriter {
 public:
  /// Throws: as OutputFile.
  explicit LineWriter(const std::filesystem::path& path, const OnWait& on_wait = {});
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Throws: EnvironmentError when it cannot be written (full disk).
  void write(std::string_view line);
  void commit();

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

}  // namespace attune::base
