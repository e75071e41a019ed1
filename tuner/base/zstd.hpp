#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace attune::base {

/// One zstd frame with a checksum.
[[nodiscard]] std::string compress(std::string_view bytes, int level = 19);

/// The contents of one frame or several. A few hundred bytes may claim to be gigabytes: what would unpack to more than
/// `most_bytes`, or needs a window of more than 64 MiB (`zstd --ultra -22`, `--long`), is refused before it takes that memory.
/// Throws: Error("... truncated or damaged ...") on a bad frame, Error naming the limit; exit code Spec.
[[nodiscard]] std::string decompress(std::string_view bytes, std::uint64_t most_bytes);

}  // namespace attune::base
