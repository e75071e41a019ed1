#pragma once
#include <cstdint>

namespace attune::base {

/// Opens descriptors 0, 1 and 2 where the caller of this program left them closed, so that no file opened later gets one of
/// these numbers and with it what is printed. What is put there refuses every read and write (EBADF), as the closed one did:
/// output that goes nowhere must not look like success. The first thing in every main of ours.
void occupy_standard_descriptors() noexcept;

/// `fd`, or a duplicate of it above 2 in its place (close-on-exec) when it is one of the first three, as in a host program that
/// closed them. -1 with errno when it is negative or cannot be duplicated; it is closed then.
[[nodiscard]] int above_standard_descriptors(int fd) noexcept;

/// Whether this process may have `count` files open at once; its limit is raised for it as far as the system allows.
[[nodiscard]] bool may_open(std::uint64_t count) noexcept;

/// Whether an open that failed just now, with an error that does not say why (SQLITE_CANTOPEN), may have failed because this
/// process or the system has too many files open: fewer than a database needs can still be opened.
[[nodiscard]] bool few_descriptors_left() noexcept;

}  // namespace attune::base
