#include "tuner/base/channel.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>

#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kHeaderBytes = 4;

void put_length(std::string& frame, std::uint32_t length) {
  for (std::size_t i = 0; i < kHeaderBytes; ++i) frame[i] = static_cast<char>(length >> (8 * i));
}

std::size_t get_length(const std::string& buffer) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(buffer[i])) << (8 * i);
  }
  return length;
}

/// The first complete message of the buffer, taken out of it.
std::optional<nlohmann::json> take_message(std::string& buffer) {
  if (buffer.size() < kHeaderBytes) return std::nullopt;
  const std::size_t length = get_length(buffer);
  if (buffer.size() - kHeaderBytes < length) return std::nullopt;
  const auto begin = buffer.begin() + kHeaderBytes;
  const auto end = begin + static_cast<std::ptrdiff_t>(length);
  nlohmann::json message = nlohmann::json::from_cbor(begin, end, true, false);
  buffer.erase(buffer.begin(), end);
  if (message.is_discarded()) {
    throw Error(fmt::format("failed receiving a message: {} bytes are no CBOR value; both ends must be of one build", length));
  }
  return message;
}

/// Waits until `fd` is readable; false when `deadline` passed (none: waits for ever).
bool wait_readable(int fd, std::optional<Clock::time_point> deadline) {
  for (;;) {
    int timeout_ms = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
    }
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, timeout_ms);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) throw Error("failed receiving a message: " + errno_text("poll", errno));
  }
}

/// A program that runs with standard error closed would get it as a channel, and every message to a person would break
/// the protocol.
Channel above_standard(Channel end) {
  if (end.fd() > STDERR_FILENO) return end;
  const int fd = ::fcntl(end.fd(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd < 0) throw EnvironmentError("failed creating a worker's channel: " + errno_text("fcntl(F_DUPFD_CLOEXEC)", errno));
  return Channel(fd);
}

}  // namespace

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

Channel::~Channel() { close(); }

void Channel::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  buffer_.clear();
}

std::pair<Channel, Channel> Channel::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw EnvironmentError("failed creating a worker's channel: " + errno_text("socketpair", errno));
  }
  return {above_standard(Channel(ends[0])), above_standard(Channel(ends[1]))};
}

void Channel::send(const nlohmann::json& message) {
  std::string frame(kHeaderBytes, '\0');
  nlohmann::json::to_cbor(message, frame);
  const std::size_t length = frame.size() - kHeaderBytes;
  if (length > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(fmt::format("failed sending a message: it has {} bytes, a channel carries up to 4 GiB", length));
  }
  put_length(frame, static_cast<std::uint32_t>(length));
  std::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      throw ChannelClosed("failed sending a message: the other end of the channel is closed");
    } else if (errno != EINTR) {
      throw Error("failed sending a message: " + errno_text("send", errno));
    }
  }
}

std::optional<nlohmann::json> Channel::receive(std::chrono::milliseconds timeout) {
  std::optional<Clock::time_point> deadline;
  if (timeout.count() >= 0) deadline = Clock::now() + timeout;
  char chunk[65536];
  for (;;) {
    if (std::optional<nlohmann::json> message = take_message(buffer_)) return message;
    const ssize_t got = ::recv(fd_, chunk, sizeof(chunk), MSG_DONTWAIT);
    if (got > 0) {
      buffer_.append(chunk, static_cast<std::size_t>(got));
    } else if (got == 0 || errno == ECONNRESET) {
      throw ChannelClosed("failed receiving a message: the other end of the channel is closed");
    } else if (errno == EAGAIN) {
      if (!wait_readable(fd_, deadline)) return std::nullopt;
    } else if (errno != EINTR) {
      throw Error("failed receiving a message: " + errno_text("recv", errno));
    }
  }
}

}  // namespace attune::base
