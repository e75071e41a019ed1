#include "tuner/compile/compile_pool.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/compile/job_clock.hpp"
#include "tuner/compile/job_failures.hpp"

namespace attune::compile {
namespace {

using nlohmann::json;

/// Loading NVRTC and compiling an empty program takes 0.1 s; a machine under load and a cold disk, many times that.
constexpr auto kStartLimit = base::WorkerProcess::kStartLimit;
constexpr int kFailedStartLimit = 3;
constexpr std::chrono::seconds kPause{1};  // who looks this much too late was stopped, and so were the workers
constexpr int kTries = 2;
constexpr std::chrono::milliseconds kPatience{15000};  // with another process: it may be stopped, and a second compilation costs little

}  // namespace

struct CompilePool::Worker : JobClock {
  enum class State { Starting, Idle, Busy };
  base::WorkerProcess process;
  State state = State::Starting;
  std::string key;  ///< of the job, when Busy
};

struct CompilePool::Job {
  CompileRequest request;
  std::vector<std::uint64_t> tickets;
  int lost_workers = 0;
  bool made_way = false;
};

CompilePool::CompilePool(const Options& options)
    : options_(options), results_(options.cache), queue_(options.cache, std::min(options.deadline, kPatience)) {
  if (options_.workers < 1) throw UsageError(fmt::format("failed starting {} compile workers; ask for 1 or more", options_.workers));
  // The first one alone: it is ready after 30 ms then, and a missing NVRTC is found out by one process, not by all.
  start(*workers_.emplace_back(std::make_unique<Worker>()));
  while (nvrtc_build_.empty()) (void)advance(Clock::time_point::max());
  while (static_cast<int>(workers_.size()) < options_.workers) {
    start(*workers_.emplace_back(std::make_unique<Worker>()));
  }
}

CompilePool::~CompilePool() {
  // All at once: one after the other, 64 workers take seconds to die on a busy machine.
  for (const auto& worker : workers_) worker->process.kill();
}

void CompilePool::start(Worker& worker) {
  worker.process = base::WorkerProcess(options_.worker, {"worker-compile"}, {options_.cpus, options_.nice, options_.memory_bytes},
                                       base::WorkerOutput::Kept);
  worker.state = Worker::State::Starting;
  worker.key.clear();
  worker.since = worker.look = Clock::now();
  worker.deadline = worker.since + kStartLimit;
}

std::uint64_t CompilePool::submit(const CompileRequest& request) {
  const std::uint64_t ticket = next_ticket_++;
  const std::string key = cubin_key(request, nvrtc_build_);
  if (const auto job = jobs_.find(key); job != jobs_.end()) {
    job->second->tickets.push_back(ticket);
    return ticket;
  }
  if (auto found = results_.find(key)) {
    done_.push_back({ticket, *std::move(found)});
    return ticket;
  }
  jobs_.emplace(key, std::make_unique<Job>(Job{request, {ticket}}));
  queue_.add(key);
  feed();
  return ticket;
}

std::vector<CompilePool::Completed> CompilePool::collect(std::chrono::milliseconds timeout) {
  constexpr std::chrono::hours kForEver{24 * 365};
  const auto until = timeout.count() < 0 || timeout > kForEver ? Clock::time_point::max() : Clock::now() + timeout;
  for (;;) {
    const bool wait = done_.empty() && !jobs_.empty();
    const bool completed_wait = advance(wait ? until : Clock::now());
    if (!done_.empty() || jobs_.empty() || !completed_wait || Clock::now() >= until) return std::exchange(done_, {});
  }
}

CompileResult CompilePool::compile_now(const CompileRequest& request) {
  const std::uint64_t ticket = submit(request);
  for (;;) {
    const auto mine = std::find_if(done_.begin(), done_.end(), [ticket](const Completed& c) { return c.ticket == ticket; });
    if (mine != done_.end()) {
      CompileResult result = std::move(mine->result);
      done_.erase(mine);
      return result;
    }
    (void)advance(Clock::time_point::max());
  }
}

void CompilePool::abandon() {
  jobs_.clear();
  queue_.clear();
  done_.clear();
  for (const auto& worker : workers_) {
    if (worker->state != Worker::State::Busy) continue;
    worker->process.kill_and_reap();
    release(*worker);
    start(*worker);
  }
}

std::vector<int> CompilePool::descriptors() const {
  std::vector<int> descriptors;
  for (const auto& worker : workers_) descriptors.push_back(worker->process.channel().fd());
  return descriptors;
}

double CompilePool::busy_seconds() const {
  std::chrono::duration<double> busy = busy_;
  for (const auto& worker : workers_) {
    if (worker->state == Worker::State::Busy) busy += Clock::now() - worker->since;
  }
  return busy.count();
}

std::vector<std::string> CompilePool::take_warnings() {
  std::vector<std::string> warnings;
  if (auto warning = results_.take_warning(); !warning.empty()) warnings.push_back(std::move(warning));
  if (!told_headers_ && !headers_refusal_.empty()) {
    told_headers_ = true;
    warnings.push_back(headers_refusal_);
  }
  return warnings;
}

std::size_t CompilePool::aside() const {
  std::size_t tickets = 0;
  for (const auto& key : queue_.aside()) tickets += jobs_.at(key)->tickets.size();
  return tickets;
}

bool CompilePool::answer_from_cache(const std::string& key) {
  const auto found = results_.find_in_cache(key);
  if (!found) return false;
  hand_out(key, *found);
  return true;
}

std::optional<JobQueue::Taken> CompilePool::next_job() {
  const auto again = std::count_if(workers_.begin(), workers_.end(), [&](const auto& worker) {
    return worker->state == Worker::State::Busy && jobs_.at(worker->key)->made_way;
  });
  for (;;) {
    auto job = queue_.take(JobQueue::List::Waiting);
    if (!job && again < std::max(1, options_.workers - 1)) job = queue_.take(JobQueue::List::Aside);
    if (!job || !answer_from_cache(job->key)) return job;
  }
}

void CompilePool::feed() {
  for (const auto& job : queue_.take_freed())
    if (!answer_from_cache(job.key)) queue_.put_back(job);
  for (const auto& worker : workers_) {
    if (worker->state != Worker::State::Idle) continue;
    const auto job = next_job();
    if (!job) return;
    if (!worker->process.tell(to_json(jobs_.at(job->key)->request))) {  // it died idle; the job has lost nothing
      queue_.put_back(*job);
      lose(*worker, worker->process.end());
      continue;
    }
    worker->key = job->key;
    worker->state = Worker::State::Busy;
    worker->begin(worker->process.pid(), Clock::now(), options_.deadline);
  }
}

bool CompilePool::advance(Clock::time_point until) {
  const std::size_t done = done_.size();
  feed();
  until = std::min({until, makes_way_at(), done_.size() > done ? Clock::now() : queue_.look_at()});
  std::vector<pollfd> entries;
  for (const auto& worker : workers_) {
    entries.push_back({worker->process.channel().fd(), POLLIN, 0});
    if (worker->state != Worker::State::Idle) until = std::min(until, worker->deadline);
  }
  // An hour at most at a time: poll counts milliseconds in an int.
  const auto before = Clock::now();
  const auto left = std::clamp(until - before, Clock::duration::zero(), Clock::duration(std::chrono::hours(1)));
  const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(left_ms));
  const auto after = Clock::now();
  const auto absent = before - returned_ + (after - before - left);  // between two calls, and longer than it was to wait
  returned_ = after;
  if (absent > kPause) {
    for (const auto& worker : workers_) {
      if (worker->state != Worker::State::Idle) worker->pass_over(absent, after);
    }
  }
  if (ready < 0 && errno == EINTR) return false;
  if (ready < 0) throw Error("failed waiting for compile workers: " + base::errno_text("poll", errno));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].revents != 0) read(*workers_[i]);
  }
  expire();
  feed();
  make_way();
  return true;
}

void CompilePool::read(Worker& worker) {
  const base::Heard heard = worker.process.hear(std::chrono::milliseconds(0));
  if (heard.died()) return lose(worker, heard.end);
  if (!heard.message_came()) return;
  if (worker.state == Worker::State::Starting) return greet(worker, heard.message);
  const std::string key = release(worker);
  finish(key, result_from_json(heard.message));
}

void CompilePool::greet(Worker& worker, const json& message) {
  if (message.contains("error")) throw EnvironmentError(message.at("error").get<std::string>());
  const auto build = message.at("nvrtc").get<std::string>();
  // A worker that was replaced after the toolkit was: cubins of two compilers would share keys.
  if (!nvrtc_build_.empty() && build != nvrtc_build_) {
    throw EnvironmentError(
        fmt::format("failed starting a compile worker: NVRTC changed from {} to {} during this run; start again", nvrtc_build_, build));
  }
  nvrtc_build_ = build;
  failed_starts_ = 0;
  worker.state = Worker::State::Idle;
}

void CompilePool::expire() {
  const Clock::time_point now = Clock::now();
  for (const auto& worker : workers_) {
    if (worker->state == Worker::State::Idle || now < worker->deadline) continue;
    if (worker->state == Worker::State::Busy && worker->go_on(worker->process.pid(), now, options_.deadline)) continue;
    worker->process.kill_and_reap();
    if (worker->state == Worker::State::Starting) {
      lose(*worker, fmt::format("not ready after {} s", kStartLimit.count()));
      continue;
    }
    const auto took = now - worker->since;
    const std::string key = release(*worker);
    const CompileResult result = timed_out(jobs_.at(key)->request, options_.deadline, took);
    start(*worker);
    finish(key, result);
  }
}

CompilePool::Worker* CompilePool::next_to_make_way() const {
  if (make_way_after_.count() <= 0 || !queue_.any_waiting()) return nullptr;
  Worker* longest = nullptr;
  for (const auto& worker : workers_) {
    if (worker->state == Worker::State::Starting) return nullptr;  // it will have room for what waits
    if (worker->state != Worker::State::Busy || jobs_.at(worker->key)->made_way) continue;
    if (longest == nullptr || worker->since < longest->since) longest = worker.get();
  }
  return longest;
}

CompilePool::Clock::time_point CompilePool::makes_way_at() const {
  const Worker* const worker = next_to_make_way();
  return worker == nullptr ? Clock::time_point::max() : worker->since + make_way_after_;
}

void CompilePool::make_way() {
  if (Clock::now() < makes_way_at()) return;
  const auto job = next_job();  // another process may have compiled, or be compiling, all that wait
  if (!job) return;
  queue_.put_back(*job);
  if (job->from == JobQueue::List::Aside) return;
  Worker& worker = *next_to_make_way();
  worker.process.kill_and_reap();
  const std::string key = release(worker);
  start(worker);
  jobs_.at(key)->made_way = true;
  queue_.set_aside(key);
}

void CompilePool::lose(Worker& worker, const std::string& how) {
  // Once one worker has been ready, workers can start: many lost at once were killed.
  const int limit = kFailedStartLimit * (nvrtc_build_.empty() ? 1 : static_cast<int>(workers_.size()) + 1);
  const std::string last_words = quoted(worker.process.output());
  if (worker.state == Worker::State::Starting && ++failed_starts_ >= limit)
    throw EnvironmentError(cannot_start(options_.worker.string(), failed_starts_, how, last_words));
  const std::string key = release(worker);
  start(worker);
  if (key.empty()) return;
  Job& job = *jobs_.at(key);
  if (++job.lost_workers < kTries) {
    queue_.put_back({key, job.made_way ? JobQueue::List::Aside : JobQueue::List::Waiting});
    return;
  }
  finish(key, lost(job.request, job.lost_workers, how, last_words));
}

std::string CompilePool::release(Worker& worker) {
  if (worker.state == Worker::State::Busy) busy_ += Clock::now() - worker.since;
  worker.state = Worker::State::Idle;
  return std::exchange(worker.key, {});
}

void CompilePool::finish(const std::string& key, const CompileResult& result) {
  ++compilations_;
  if (headers_refusal_.empty()) headers_refusal_ = result.headers_refusal;
  results_.store(key, result);
  hand_out(key, result);
}

void CompilePool::hand_out(const std::string& key, const CompileResult& result) {
  const auto node = jobs_.extract(key);
  queue_.ended(key);  // behind the cache's: whoever takes it then finds it there
  for (const std::uint64_t ticket : node.mapped()->tickets) {
    done_.push_back({ticket, result});
    done_.back().result.key = key;
  }
}

}  // namespace attune::compile
