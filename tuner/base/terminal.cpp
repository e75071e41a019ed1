#include "tuner/base/terminal.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/new_file.hpp"

namespace attune::base {
namespace {

constexpr int kLongestWaitToTellMs = 1000;

[[noreturn]] void fail_standard_output(int error) {
  throw EnvironmentError(fmt::format("failed writing standard output: {}{}", errno_text("write", error), errno_remedy(error)));
}

}  // namespace

void write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_standard_output(errno);
}

void flush_standard_output() {
  if (std::fflush(stdout) != 0) fail_standard_output(errno);
  // An earlier one failed, and somebody went on.
  if (std::ferror(stdout) != 0) fail_standard_output(EIO);
}

void write_standard_error(std::string_view text) noexcept {
  while (!write_all(STDERR_FILENO, text)) {
    if (errno != EAGAIN) return;
    pollfd wanted{STDERR_FILENO, POLLOUT, 0};  // another program made the terminal so
    if (::poll(&wanted, 1, kLongestWaitToTellMs) <= 0) return;
  }
}

void tell_message(std::string_view message) noexcept {
  try {
    std::string text = "attune: ";
    for (const char c : escape_lines(message)) text.append(1, c).append(c == '\n' ? "  " : "");
    text.erase(text.find_last_not_of(" \n") + 1);
    write_standard_error(text + "\n");
  } catch (...) {  // no memory for it
    write_standard_error("attune: failed saying why: out of memory\n");
  }
}

}  // namespace attune::base
