#pragma once

namespace attune::base {

/// Opens descriptors 0, 1 and 2 where the caller of this program left them closed, so that no file opened later gets one of
/// these numbers and with it what is printed. What is put there refuses every read and write (EBADF), as the closed one did:
/// output that goes nowhere must not look like success. The first thing in every main of ours.
void occupy_standard_descriptors() noexcept;

/// `fd`, or a duplicate of it above 2 in its place (close-on-exec) when it is one of the first three, as in a host program that
/// closed them. -1 with errno when it is negative or cannot be duplicated; it is closed then.
[[nodiscard]] int above_standard_descriptors(int fd) noexcept;

}  // namespace attune::base
