#pragma once
#include <string>
#include <string_view>

namespace attune::base {

/// A hidden name, which ends in ".new", for a file that gets its own when it is whole. No other writer picks it, in this process, in
/// another one or on another host of a shared file system; O_EXCL decides in the last resort. Not made of the file's own name: that
/// may be as long as names can be.
[[nodiscard]] std::string temporary_name();

/// Writes all of `bytes`; a signal that interrupts it is no failure. False with errno; `bytes` is then what was not written.
[[nodiscard]] bool write_all(int fd, std::string_view& bytes) noexcept;

}  // namespace attune::base
