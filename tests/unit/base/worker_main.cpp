// A worker for the tests: what it does is its first argument.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/process.hpp"

namespace {

using namespace attune;
using nlohmann::json;

json open_descriptors() {
  json list = json::object();
  for (int fd = 0; fd < 64; ++fd) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
    if (!error) list[std::to_string(fd)] = target.string();
  }
  return list;
}

int work(const std::string& what, base::Channel& channel) {
  if (what == "echo") {
    for (;;) channel.send(channel.receive(std::chrono::milliseconds(-1)).value());
  }
  if (what == "exit") return 3;
  if (what == "linger" || what == "cling") {
    channel.close();
    ::usleep(what == "linger" ? 20'000 : 30'000'000);
    return 5;
  }
  if (what == "crash") {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit
    ::raise(SIGSEGV);
  }
  if (what == "descriptors") channel.send(open_descriptors());
  if (what == "allocate") {  // answers how each request for so many bytes went
    for (;;) {
      const auto bytes = channel.receive(std::chrono::milliseconds(-1)).value().get<std::size_t>();
      void* const memory = std::malloc(bytes);
      channel.send(memory == nullptr ? "refused" : "granted");
      std::free(memory);
    }
  }
  if (what == "print") {
    fmt::print("{}first", std::string(5000, '.'));
    std::fflush(stdout);
    fmt::print(stderr, " last\n");
    return 6;
  }
  if (what == "parent") {
    const base::WorkerProcess child(base::own_executable(), {"sleep"});
    channel.send(child.pid());
    ::pause();
  }
  if (what == "sleep") {
    channel.send("asleep");
    for (;;) ::pause();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    base::Channel channel = base::enter_worker();
    return work(argc > 1 ? argv[1] : "", channel);
  } catch (const base::ChannelClosed&) {
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
