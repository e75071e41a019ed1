#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "attune/error.hpp"

namespace attune::base {

/// The other end of a channel is gone (EOF or EPIPE). What a dead worker looks like.
class ChannelClosed : public Error {
 public:
  using Error::Error;
};

/// One end of a socket pair that carries length-prefixed CBOR messages (JSON values; byte strings as
/// json::binary). Move-only; closes its descriptor.
class Channel {
 public:
  Channel() = default;
  explicit Channel(int fd) : fd_(fd) {}
  Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  /// Both ends of a new socket pair, close-on-exec.
  [[nodiscard]] static std::pair<Channel, Channel> pair();

  /// Blocks until the whole message is written. Never raises SIGPIPE. Throws: ChannelClosed.
  void send(const nlohmann::json& message);

  /// Next whole message; nullopt when none is complete within `timeout` (zero: what is there now; partial input is
  /// kept). Negative: waits for ever. Throws: ChannelClosed at EOF, Error on a malformed frame or one over 4 GiB.
  [[nodiscard]] std::optional<nlohmann::json> receive(std::chrono::milliseconds timeout);

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }
  void close() noexcept;

 private:
  int fd_ = -1;
  std::string buffer_;
};

}  // namespace attune::base
