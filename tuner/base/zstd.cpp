#include "tuner/base/zstd.hpp"

#include <fmt/core.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <new>

#include "attune/error.hpp"

namespace attune::base {
namespace {

constexpr int kMostWindowLog = 26;

[[noreturn]] void fail_unpacking(std::size_t stored, const std::string& why) {
  throw Error(fmt::format("failed decompressing {} bytes: {}", stored, why), ExitCode::Spec);
}

std::string why_not(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
    return "the zstd data needs a window of more than 64 MiB; compress it again without --long or --ultra";
  }
  return fmt::format("truncated or damaged zstd data ({})", ZSTD_getErrorName(code));
}

}  // namespace

std::string compress(std::string_view bytes, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) {
    throw Error(fmt::format("failed compressing {} bytes: ZSTD_compress2 returned {}", bytes.size(), ZSTD_getErrorName(size)));
  }
  frame.resize(size);
  return frame;
}

std::string decompress(std::string_view bytes, std::uint64_t most_bytes) {
  // Streaming, because a file that the zstd command wrote from a pipe does not say how long its contents are, and one that
  // does may lie.
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMostWindowLog);
  std::string contents;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t wanted = 1;  // 0: a frame has just ended
  for (;;) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    const std::size_t taken = in.pos;
    wanted = in.pos == in.size && wanted == 0 ? 0 : ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(wanted) != 0) fail_unpacking(bytes.size(), why_not(wanted));
    if (out.pos > most_bytes - contents.size()) {
      fail_unpacking(bytes.size(), fmt::format("they unpack to more than {} bytes, which is the limit for so small a file", most_bytes));
    }
    contents.append(chunk.data(), out.pos);
    if (in.pos == taken && out.pos == 0) break;
  }
  if (wanted != 0) fail_unpacking(bytes.size(), "truncated or damaged zstd data (it ends within a frame)");
  return contents;
}

}  // namespace attune::base
