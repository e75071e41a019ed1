#include "tuner/base/line_file.hpp"

#include <fmt/core.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/output_file.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLineChunk = std::size_t{1} << 17;

[[noreturn]] void fail(const char* verb, const fs::path& path, const std::string& why) {
  throw EnvironmentError(fmt::format("failed {} {}: {}", verb, path.string(), why));
}

[[noreturn]] void malformed(const fs::path& path, int line, const std::string& why) { throw SpecError(path.string(), line, 1, why); }

bool is_compressed(const fs::path& path) { return path.extension() == ".zst"; }

using Decompressor = std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>;
using Compressor = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;

}  // namespace

struct LineReader::Input {
  Input(fs::path file, const OnWait& on_wait)
      : path(std::move(file)), whole(open_whole(path, on_wait)), decompressor(nullptr, &ZSTD_freeDCtx) {
    if (!is_compressed(path)) return;
    decompressor.reset(ZSTD_createDCtx());
    if (decompressor == nullptr) throw std::bad_alloc();
  }

  /// Appends some bytes of the text, of which `line` is being read, to `out`; false at its end.
  bool read(std::string& out, int line) {
    if (decompressor == nullptr) return read_raw(out) > 0;
    for (;;) {
      if (taken == raw.size()) {
        raw.clear();
        taken = 0;
        if (read_raw(raw) == 0) {
          if (unfinished) malformed(path, line, "truncated or damaged zstd data (it ends within a frame)");
          return false;
        }
      }
      const std::size_t before = out.size();
      out.resize(before + kLineChunk);
      ZSTD_inBuffer in{raw.data(), raw.size(), taken};
      ZSTD_outBuffer target{out.data() + before, kLineChunk, 0};
      const std::size_t wanted = ZSTD_decompressStream(decompressor.get(), &target, &in);
      if (ZSTD_isError(wanted) != 0) {
        malformed(path, line, fmt::format("truncated or damaged zstd data ({})", ZSTD_getErrorName(wanted)));
      }
      taken = in.pos;
      unfinished = wanted != 0;
      out.resize(before + target.pos);
      unpacked += target.pos;
      if (unpacked > most_unpacked(whole.bytes)) {
        malformed(
            path, line,
            fmt::format(
                "its {} bytes unpack to more than {}, which is the limit for so small a file; if you trust it, unpack it (zstd -d) and name "
                "what comes out",
                whole.bytes, most_unpacked(whole.bytes)));
      }
      if (target.pos > 0) return true;
    }
  }

  std::size_t read_raw(std::string& out) {
    const std::size_t before = out.size();
    out.resize(before + kLineChunk);
    ssize_t got = 0;
    do {
      got = ::read(whole.file.get(), out.data() + before, kLineChunk);
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail("reading", path, errno_text("read", errno));
    out.resize(before + static_cast<std::size_t>(got));
    return static_cast<std::size_t>(got);
  }

  fs::path path;
  WholeInput whole;
  Decompressor decompressor;
  std::string raw;
  std::size_t taken = 0;
  bool unfinished = false;
  std::uint64_t unpacked = 0;
};

LineReader::LineReader(const fs::path& path, const OnWait& on_wait) : input_(std::make_unique<Input>(path, on_wait)) {}
LineReader::~LineReader() = default;

std::optional<std::string_view> LineReader::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', begin_ + scanned_);
    if (end != std::string::npos) {
      const std::string_view line(buffer_.data() + begin_, end - begin_);
      begin_ = end + 1;
      scanned_ = 0;
      ++line_number_;
      return line;
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    scanned_ = buffer_.size();
    const int line = line_number_ + 1;
    if (buffer_.size() > kMaximumLine) malformed(input_->path, line, fmt::format("the line is longer than {} bytes", kMaximumLine));
    if (input_->read(buffer_, line)) continue;
    if (buffer_.empty()) return std::nullopt;
    malformed(input_->path, line, "the line does not end: the file was cut");
  }
}

struct LineWriter::Output {
  Output(const fs::path& name, const OnWait& on_wait) : path(name), file(name, on_wait), compressor(nullptr, &ZSTD_freeCCtx) {
    if (!is_compressed(path)) return;
    compressor.reset(ZSTD_createCCtx());
    if (compressor == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_checksumFlag, 1);
  }

  void flush(ZSTD_EndDirective directive) {
    if (compressor == nullptr) {
      file.write(pending);
      pending.clear();
      return;
    }
    unpacked += pending.size();
    ZSTD_inBuffer in{pending.data(), pending.size(), 0};
    std::string chunk(kLineChunk, '\0');
    for (bool more = true; more;) {
      ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
      const std::size_t left = ZSTD_compressStream2(compressor.get(), &out, &in, directive);
      if (ZSTD_isError(left) != 0) fail("writing", path, fmt::format("ZSTD_compressStream2 returned {}", ZSTD_getErrorName(left)));
      file.write({chunk.data(), out.pos});
      stored += out.pos;
      more = directive == ZSTD_e_end ? left != 0 : in.pos < in.size;
    }
    pending.clear();
  }

  /// A frame that readers skip makes a file that packs too well long enough for LineReader: a thousandth of its text at most.
  void pad() {
    if (compressor == nullptr || unpacked <= LineReader::most_unpacked(stored)) return;
    constexpr std::size_t kHead = 8;
    std::uint64_t wanted = (unpacked - LineReader::most_unpacked(stored)) / LineReader::kMostUnpackedRatio + 1;
    for (; wanted > 0; wanted -= std::min<std::uint64_t>(wanted, kLineChunk)) {
      std::string frame(kHead + std::min<std::uint64_t>(wanted, kLineChunk), '\0');
      const std::uint32_t head[] = {ZSTD_MAGIC_SKIPPABLE_START, static_cast<std::uint32_t>(frame.size() - kHead)};
      for (std::size_t i = 0; i < kHead; ++i) frame[i] = static_cast<char>(head[i / 4] >> (8 * (i % 4)));  // little-endian
      file.write(frame);
    }
  }

  fs::path path;
  OutputFile file;
  Compressor compressor;
  std::string pending;
  std::uint64_t stored = 0, unpacked = 0;  ///< bytes, when compressed
};

LineWriter::LineWriter(const fs::path& path, const OnWait& on_wait) : output_(std::make_unique<Output>(path, on_wait)) {}
LineWriter::~LineWriter() = default;

void LineWriter::write(std::string_view line) {
  output_->pending.append(line).push_back('\n');
  if (output_->pending.size() >= kLineChunk) output_->flush(ZSTD_e_continue);
}

void LineWriter::commit() {
  output_->flush(ZSTD_e_end);
  output_->pad();
  output_->file.commit();
}

}  // namespace attune::base
