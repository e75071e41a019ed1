#include "tuner/base/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] posix_spawn_file_actions_t* get() noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class SpawnAttributes {
 public:
  /// Default signal dispositions, whatever the host program did; SIGINT stays blocked until enter_worker() ignores it,
  /// so that a Ctrl-C cannot kill a worker that is only starting.
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// Standard input from nowhere, both outputs to `output_fd` or our standard error, the channel on kWorkerDescriptor,
/// nothing else.
void plan_descriptors(posix_spawn_file_actions_t* actions, int channel_fd, int output_fd) {
  if (output_fd >= 0) {
    posix_spawn_file_actions_adddup2(actions, output_fd, STDERR_FILENO);
  } else if (::fcntl(STDERR_FILENO, F_GETFD) < 0) {  // a daemon closed it
    posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // Also right when channel_fd is that descriptor already: the action then clears close-on-exec.
  posix_spawn_file_actions_adddup2(actions, channel_fd, WorkerProcess::kWorkerDescriptor);
  // Ours are close-on-exec; the host program's may not be, and a worker must not keep its files or sockets open.
  posix_spawn_file_actions_addclosefrom_np(actions, WorkerProcess::kWorkerDescriptor + 1);
}

/// A descriptor above those that a worker starts with, so that planning them does not overwrite it.
FileDescriptor make_memory_file() {
  const FileDescriptor file(::memfd_create("attune worker output", MFD_CLOEXEC));
  FileDescriptor high(::fcntl(file.get(), F_DUPFD_CLOEXEC, WorkerProcess::kWorkerDescriptor + 1));
  if (high.open()) return high;
  throw EnvironmentError("failed making a file for a worker's output: " + errno_text("memfd_create", errno));
}

pid_t spawn(const std::filesystem::path& executable, const std::vector<std::string>& arguments, int channel_fd, int output_fd) {
  std::string name = executable.string();
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{name.data()};
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  FileActions actions;
  plan_descriptors(actions.get(), channel_fd, output_fd);
  const SpawnAttributes attributes;
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, name.c_str(), actions.get(), attributes.get(), argv.data(), environ);
  if (error != 0) {
    throw EnvironmentError(
        fmt::format("failed starting worker {}: {}; name the attune executable (Options::worker)", name, errno_text("posix_spawn", error)));
  }
  return pid;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsLimited = false;
#else
constexpr bool kMemoryIsLimited = true;
#endif

bool set_cpus(pid_t pid, const std::vector<int>& cpus) {
  const int count = *std::max_element(cpus.begin(), cpus.end()) + 1;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  std::vector<unsigned char> storage(bytes);
  auto* const set = reinterpret_cast<cpu_set_t*>(storage.data());
  for (const int cpu : cpus) CPU_SET_S(cpu, bytes, set);
  return ::sched_setaffinity(pid, bytes, set) == 0;
}

bool set_niceness(pid_t pid, int added) {
  errno = 0;
  const int ours = ::getpriority(PRIO_PROCESS, 0);
  return errno == 0 && ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), std::min(ours + added, 19)) == 0;
}

bool set_memory(pid_t pid, std::uint64_t bytes) {
  rlimit inherited{};
  if (::prlimit(pid, RLIMIT_AS, nullptr, &inherited) != 0) return false;
  const rlim_t most = std::min<rlim_t>(bytes, inherited.rlim_max);  // only root may ask for more than that
  const rlimit limit{most, most};
  return ::prlimit(pid, RLIMIT_AS, &limit, nullptr) == 0;
}

/// posix_spawn has no attribute for any of these. It returns when the child has just become the executable: what runs
/// before the limits hold is part of the dynamic loader. Returns the call that failed with errno set, or null.
const char* apply(const WorkerLimits& limits, pid_t pid) {
  if (!limits.cpus.empty() && !set_cpus(pid, limits.cpus)) return "sched_setaffinity";
  if (limits.nice != 0 && !set_niceness(pid, limits.nice)) return "setpriority";
  if (kMemoryIsLimited && limits.memory_bytes != 0 && !set_memory(pid, limits.memory_bytes)) return "prlimit";
  return nullptr;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* const abbreviation = sigabbrev_np(number);
    return abbreviation == nullptr ? fmt::format("killed by signal {}", number)
                                   : fmt::format("killed by signal {} (SIG{})", number, abbreviation);
  }
  return fmt::format("exited with code {}", WEXITSTATUS(status));
}

/// waitpid that survives signals. Returns what waitpid does.
pid_t wait_for(pid_t pid, int* status, int flags) {
  for (;;) {
    const pid_t result = ::waitpid(pid, status, flags);
    if (result >= 0 || errno != EINTR) return result;
  }
}

bool other_end_closed(const Channel& channel) {
  pollfd entry{channel.fd(), 0, 0};
  return channel.open() && ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

/// A worker that closed its channel is on its way out; killing it now would hide how it meant to end. 0 when it is
/// still there after a second.
pid_t wait_briefly(pid_t pid, int* status) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (;;) {
    const pid_t reaped = wait_for(pid, status, WNOHANG);
    if (reaped != 0 || std::chrono::steady_clock::now() >= until) return reaped;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& executable, const std::vector<std::string>& arguments, const WorkerLimits& limits,
                             WorkerOutput output) {
  auto [ours, theirs] = Channel::pair();
  if (output == WorkerOutput::Kept) output_ = make_memory_file();
  pid_ = spawn(executable, arguments, theirs.fd(), output_.get());
  channel_ = std::move(ours);
  const char* const failed = apply(limits, pid_);
  // ESRCH: it is gone already, and the host program reaps its children itself; the closed channel will tell.
  if (failed == nullptr || errno == ESRCH) return;
  const int error = errno;
  kill_and_reap();
  throw EnvironmentError(fmt::format("failed limiting worker {}: {}; ask for processors and memory that this process has",
                                     executable.string(), errno_text(failed, error)));
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      end_(std::move(other.end_)),
      channel_(std::move(other.channel_)),
      output_(std::move(other.output_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this != &other) {
    if (running()) kill_and_reap();
    pid_ = std::exchange(other.pid_, -1);
    end_ = std::move(other.end_);
    channel_ = std::move(other.channel_);
    output_ = std::move(other.output_);
  }
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (running()) kill_and_reap();
}

void WorkerProcess::kill() const noexcept {
  if (running()) ::kill(pid_, SIGKILL);
}

std::string WorkerProcess::kill_and_reap() {
  if (!running()) return "was not running";
  // Closed only at the end: a worker that saw it close would begin to leave in an orderly way and be killed in the
  // midst.
  Channel channel = std::move(channel_);
  const bool leaving = other_end_closed(channel);
  const pid_t pid = std::exchange(pid_, -1);
  int status = 0;
  pid_t reaped = leaving ? wait_briefly(pid, &status) : wait_for(pid, &status, WNOHANG);
  if (reaped == 0) {
    ::kill(pid, SIGKILL);
    reaped = wait_for(pid, &status, 0);
  }
  // ECHILD: the host program ignores SIGCHLD or reaps every child itself.
  end_ = reaped == pid ? describe_end(status) : "ended, and something else in this program reaped it";
  return end_;
}

bool WorkerProcess::tell(const nlohmann::json& message) {
  try {
    channel_.send(message);
    return true;
  } catch (const ChannelClosed&) {
    kill_and_reap();
    return false;
  }
}

Heard WorkerProcess::hear(std::chrono::milliseconds timeout) {
  if (!running()) return {Heard::What::Death, {}, end_};
  try {
    auto message = channel_.receive(timeout);
    if (message) return {Heard::What::Message, *std::move(message), {}};
    return {};
  } catch (const ChannelClosed&) {
    return {Heard::What::Death, {}, kill_and_reap()};
  }
}

Heard WorkerProcess::hear(std::chrono::milliseconds timeout, const Waits& waits) {
  constexpr std::chrono::milliseconds kLook{100};
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    Heard heard = hear(std::clamp(left, std::chrono::milliseconds(0), kLook));
    if (heard.message_came() || heard.died() || left <= kLook) return heard;
    try {
      if (waits) waits();
    } catch (...) {
      kill_and_reap();
      throw;
    }
  }
}

Heard WorkerProcess::ask(const nlohmann::json& question, std::chrono::milliseconds timeout, const Waits& waits) {
  if (!running() || !tell(question)) return {Heard::What::Death, {}, end_};
  return hear(timeout, waits);
}

std::string WorkerProcess::output() const {
  constexpr off_t kMost = 4096;
  struct stat status {};
  if (!output_.open() || ::fstat(output_.get(), &status) != 0) return "";
  std::string text(static_cast<std::size_t>(std::min(status.st_size, kMost)), '\0');
  const ssize_t got = ::pread(output_.get(), text.data(), text.size(), status.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

Channel enter_worker() {
  constexpr int kFd = WorkerProcess::kWorkerDescriptor;
  ucred parent{};
  socklen_t size = sizeof(parent);
  if (::getsockopt(kFd, SOL_SOCKET, SO_PEERCRED, &parent, &size) != 0) {
    throw UsageError(fmt::format("failed entering the worker: {} on descriptor {}; attune starts its workers itself",
                                 errno_text("getsockopt", errno), kFd));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that died before the line above sends no signal. SO_PEERCRED names who made the socket pair: comparing
  // with 1 instead would be wrong under a subreaper and in a container whose process 1 is the parent.
  if (::getppid() != parent.pid) ::_exit(static_cast<int>(ExitCode::Environment));
  // Both may reach the whole process group; the parent decides what they mean.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigaddset(&interrupt, SIGTERM);
  ::sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
  ::fcntl(kFd, F_SETFD, FD_CLOEXEC);
  return Channel(kFd);
}

}  // namespace attune::base
