#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace attune::simulate {

/// The contents of a gzip file, which may have several members. A kilobyte may claim to be a megabyte: what would unpack to more than
/// `most_bytes` is refused before it takes that memory. Here and not in tuner/base: programs that dispatch need no zlib.
/// Throws: Error("... truncated or damaged ..."), Error naming the limit; exit code Spec.
[[nodiscard]] std::string gunzip(std::string_view bytes, std::uint64_t most_bytes);

}  // namespace attune::simulate
