// The parent that watches, and the child that runs the inputs.
#include "tests/fuzz/fuzz_driver.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include "attune/error.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/fuzz/refusal_kinds.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/sanitized.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"

// What the sanitizer of undefined behaviour reports is a finding too; by default it would only be printed.
extern "C" const char* __ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }

namespace attune::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThrewExit = 70;             ///< of a child whose target threw; `what` in the shared page says what
constexpr std::size_t kMostChildren = 10;  ///< each but the last has ended with a finding
constexpr std::size_t kLargestInput = std::size_t{1} << 26;

/// Seconds of a run that says nothing of them. A variable that makes no sense is as good as none.
double usual_seconds() {
  if (full_campaign()) return 1800;
  const char* const named = std::getenv("ATTUNE_FUZZ_SECONDS");
  const double seconds = named == nullptr ? 0 : std::atof(named);
  return seconds > 0 ? seconds : 4;
}

struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t iterations = 0;  ///< 0: no limit
  double seconds = usual_seconds();
  double cpu_seconds = 0;  ///< 0: no limit
  double deadline_s = 10;
  std::uint64_t memory_mib = 4096;
  std::size_t most_bytes = 65536;
  std::string findings = "fuzz_findings";
  std::string output;
  std::vector<std::string> replayed;
};

/// What child and parent share: the input being read, so that it outlives a crash, and the counts so far.
struct Shared {
  std::atomic<std::uint64_t> inputs, accepted, refused, refusals, largest_bytes, slowest_cpu_ns;
  std::atomic<std::uint64_t> started_cpu_ns;  ///< the child's own CPU clock when it took the input
  std::atomic<std::uint64_t> size;
  std::atomic<bool> done;
  char what[1024];
  char input[kLargestInput];
};

struct Finding {
  std::string what, file;
};

/// SIGINT or SIGTERM came: the run ends where it is, and its figures are kept.
volatile std::sig_atomic_t stop_asked = 0;

void stop_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stop_asked = 1; });
}

std::uint64_t cpu_ns(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The child: runs inputs until time or count are up.
class Runner {
 public:
  Runner(Shared& shared, const Settings& settings, const FuzzTarget& target, const FormatChanges& changes)
      : shared_(shared), settings_(settings), target_(target), changes_(changes) {}

  [[noreturn]] void run(const std::vector<std::string>& corpus, const std::vector<std::string>& dictionary, Clock::time_point end) {
    limit_memory();
    for (const std::string& entry : corpus) kinds_.add_quotable(entry);
    for (const std::string& word : dictionary) kinds_.add_quotable(word);
    // A child that follows a crashed one goes on behind it, with other random numbers.
    std::uint64_t skipped = shared_.inputs.load();
    Mutator mutator(corpus, dictionary, settings_.seed + skipped * 0x9E3779B97F4A7C15U, settings_.most_bytes, changes_);
    for (const std::string& entry : corpus) {
      if (skipped > 0)
        --skipped;
      else
        static_cast<void>(read(entry));
    }
    for (const std::string& word : dictionary) {
      if (word.empty()) continue;
      if (skipped > 0)
        --skipped;
      else
        static_cast<void>(read(repeated(word)));
    }
    while ((settings_.iterations == 0 || shared_.inputs < settings_.iterations) && Clock::now() < end && has_cpu_time() &&
           stop_asked == 0) {
      const std::string input = mutator.next();
      if (read(input)) mutator.keep(input);
    }
    shared_.done = true;
    ::_exit(0);
  }

 private:
  void limit_memory() const {
    if (kSanitized) return;  // their shadow is larger than any limit
    const rlim_t bytes = settings_.memory_mib << 20;
    const rlimit limit{bytes, bytes};
    static_cast<void>(::setrlimit(RLIMIT_AS, &limit));
  }

  [[nodiscard]] bool has_cpu_time() const {
    return settings_.cpu_seconds == 0 || static_cast<double>(cpu_ns(CLOCK_PROCESS_CPUTIME_ID)) < settings_.cpu_seconds * 1e9;
  }

  [[nodiscard]] std::string repeated(const std::string& word) const {
    std::string text;
    while (text.size() + word.size() <= settings_.most_bytes) text += word;
    return text;
  }

  /// Whether its refusal is a new one.
  bool read(const std::string& input) {
    const std::size_t size = std::min(input.size(), kLargestInput);
    std::memcpy(shared_.input, input.data(), size);
    shared_.size = size;
    const std::uint64_t started = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    shared_.started_cpu_ns = started;
    ++shared_.inputs;
    bool fresh = false;
    try {
      target_(input);
      ++shared_.accepted;
    } catch (const Error& error) {
      ++shared_.refused;
      fresh = kinds_.meet(error.what(), input);
    } catch (const std::exception& error) {
      give_up(fmt::format("threw {}: {}", typeid(error).name(), error.what()));
    } catch (...) {
      give_up("threw something that is no exception");
    }
    shared_.slowest_cpu_ns = std::max(shared_.slowest_cpu_ns.load(), cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - started);
    shared_.largest_bytes = std::max<std::uint64_t>(shared_.largest_bytes, size);
    shared_.refusals = std::max<std::uint64_t>(shared_.refusals, kinds_.count());
    return fresh;
  }

  [[noreturn]] void give_up(const std::string& what) {
    const std::size_t length = std::min(what.size(), sizeof shared_.what - 1);
    std::memcpy(shared_.what, what.data(), length);
    shared_.what[length] = '\0';
    ::_exit(kThrewExit);
  }

  Shared& shared_;
  const Settings& settings_;
  const FuzzTarget& target_;
  const FormatChanges& changes_;
  RefusalKinds kinds_;
};

/// Waits for the child; what was wrong with the input it was at, empty when it came to its end.
std::string watch(pid_t child, Shared& shared, const Settings& settings) {
  clockid_t clock{};
  const bool has_clock = ::clock_getcpuclockid(child, &clock) == 0;
  std::uint64_t last_input = 0;
  Clock::time_point looked = Clock::now();
  double waited_s = 0;
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && shared.done) return {};
      if (WIFEXITED(status) && WEXITSTATUS(status) == kThrewExit) return shared.what;
      return WIFSIGNALED(status) ? fmt::format("died of signal {}", WTERMSIG(status)) : fmt::format("exited with {}", WEXITSTATUS(status));
    }
    if (stop_asked != 0) ::kill(child, SIGTERM);  // it may have been sent to this process alone
    if (shared.inputs != last_input) {
      last_input = shared.inputs;
      waited_s = 0;
    }
    // Longer between two looks than this nobody ran: all was stopped, or the machine slept.
    constexpr double kLongestLook_s = 1;
    const Clock::time_point looks = Clock::now();
    waited_s += std::min(kLongestLook_s, std::chrono::duration<double>(looks - std::exchange(looked, looks)).count());
    // CPU time, as a busy machine makes everything slow; a target that sleeps shows by the clock on the wall.
    const std::uint64_t now = has_clock ? cpu_ns(clock) : 0;
    const double spent_s = now > shared.started_cpu_ns ? static_cast<double>(now - shared.started_cpu_ns) * 1e-9 : 0;
    if (last_input > 0 && waited_s > settings.deadline_s && (spent_s > settings.deadline_s || waited_s > 10 * settings.deadline_s)) {
      ::kill(child, SIGKILL);
      static_cast<void>(::waitpid(child, &status, 0));
      return fmt::format("took longer than {} s", settings.deadline_s);
    }
    ::usleep(10'000);
  }
}

Finding keep_finding(const std::string& name, const std::string& what, const Shared& shared, const Settings& settings) {
  const std::string input(shared.input, shared.size);
  std::filesystem::create_directories(settings.findings);
  const auto path = std::filesystem::path(settings.findings) / fmt::format("{}-{}", name, base::content_key(input));
  std::ofstream(path, std::ios::binary) << input;
  fmt::print(stderr, "fuzz {}: {} ({} bytes): {}\n", name, path.string(), input.size(), what);
  return {what, path.string()};
}

template <class Number>
bool read_number(const char* text, Number& number) {
  const auto read = std::from_chars(text, text + std::strlen(text), number);
  return read.ec == std::errc() && *read.ptr == '\0';
}

bool read_arguments(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      settings.replayed.push_back(argument);
      continue;
    }
    if (i + 1 == argc) return false;
    const char* const value = argv[++i];
    bool fits = true;
    if (argument == "--seed")
      fits = read_number(value, settings.seed);
    else if (argument == "--iterations")
      fits = read_number(value, settings.iterations);
    else if (argument == "--seconds")
      fits = read_number(value, settings.seconds);
    else if (argument == "--cpu-seconds")
      fits = read_number(value, settings.cpu_seconds);
    else if (argument == "--deadline")
      fits = read_number(value, settings.deadline_s);
    else if (argument == "--memory")
      fits = read_number(value, settings.memory_mib);
    else if (argument == "--max-bytes")
      fits = read_number(value, settings.most_bytes) && settings.most_bytes <= kLargestInput;
    else if (argument == "--findings")
      settings.findings = value;
    else if (argument == "--output")
      settings.output = value;
    else
      fits = false;
    if (!fits) return false;
  }
  return true;
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("failed reading " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

int replay(const Settings& settings, const FuzzTarget& target) {
  for (const std::string& file : settings.replayed) {
    const Clock::time_point started = Clock::now();
    std::string outcome = "accepted";
    try {
      target(read_bytes(file));
    } catch (const Error& error) {
      outcome = fmt::format("refused: {}", error.what());
    }
    fmt::print("{}: {} ({:.3f} s)\n", file, outcome, std::chrono::duration<double>(Clock::now() - started).count());
  }
  return 0;
}

Shared& shared_memory() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("failed mapping memory for the fuzzed process");
  return *new (memory) Shared;
}

/// Of those that have ended.
std::int64_t cpu_seconds_of_children() {
  rusage used{};
  static_cast<void>(::getrusage(RUSAGE_CHILDREN, &used));
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec;
}

nlohmann::json figures_of(const std::string& name, const Settings& settings, const Shared& shared, double seconds,
                          const std::vector<Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) list.push_back({{"what", finding.what}, {"file", finding.file}});
  return {{"target", name},
          {"seed", settings.seed},
          {"seconds", static_cast<std::int64_t>(seconds)},
          {"cpu_seconds", cpu_seconds_of_children()},
          {"inputs", shared.inputs.load()},
          {"accepted", shared.accepted.load()},
          {"refused", shared.refused.load()},
          {"refusals", shared.refusals.load()},
          {"slowest_cpu_ms", shared.slowest_cpu_ns.load() / 1'000'000},
          {"largest_bytes", shared.largest_bytes.load()},
          {"sanitized", kSanitized},
          {"findings", list}};
}

}  // namespace

int fuzz_main(int argc, char** argv, const std::string& name, std::vector<std::string> corpus, std::vector<std::string> dictionary,
              const FuzzTarget& target, const FuzzFormat& format) {
  Settings settings;
  settings.deadline_s = format.deadline_s * (kSanitized ? 5 : 1);
  if (!read_arguments(argc, argv, settings)) {
    fmt::print(stderr,
               "usage: {} [--seed N] [--iterations N] [--seconds S] [--cpu-seconds S] [--deadline S] [--memory MIB]\n"
               "       [--max-bytes N] [--findings FOLDER] [--output FILE] [FILE...]\n",
               argv[0]);
    return 2;
  }
  if (!settings.replayed.empty()) return replay(settings, target);

  Shared& shared = shared_memory();
  stop_on_signals();
  const Clock::time_point started = Clock::now();
  const Clock::time_point end = settings.seconds > 0
                                    ? started + std::chrono::milliseconds(static_cast<std::int64_t>(settings.seconds * 1000))
                                    : Clock::time_point::max();
  std::vector<Finding> findings;
  for (std::size_t children = 0; children < kMostChildren; ++children) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("failed starting the fuzzed process");
    if (child == 0) Runner(shared, settings, target, format.changes).run(corpus, dictionary, end);
    const std::string what = watch(child, shared, settings);
    if (what.empty()) break;
    Finding finding = keep_finding(name, what, shared, settings);
    const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding& other) { return other.file == finding.file; });
    if (!known) findings.push_back(std::move(finding));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  const std::string figures = base::dump_json_replacing(figures_of(name, settings, shared, seconds, findings));
  fmt::print("{}\n", figures);
  if (!settings.output.empty()) std::ofstream(settings.output, std::ios::app) << figures << '\n';
  ::munmap(&shared, sizeof(Shared));
  return findings.empty() ? 0 : 1;
}

std::vector<std::string> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) throw std::runtime_error("there is no file below " + folder.string());
  std::vector<std::string> contents;
  for (const auto& path : paths) contents.push_back(read_bytes(path));
  return contents;
}

}  // namespace attune::test
