#include "tuner/compile/job_queue.hpp"

#include <utility>

namespace attune::compile {
namespace {

constexpr std::chrono::milliseconds kLookEvery{10};  // a tenth of what most compilations take

}  // namespace

bool JobQueue::claim(const std::string& key) {
  if (claims_.take(key)) return true;
  const auto since = since_.find(key);
  return since != since_.end() && Clock::now() - since->second > patience_;
}

void JobQueue::leave_elsewhere(Taken job) {
  const auto now = Clock::now();
  since_.emplace(job.key, now);
  if (elsewhere_.empty()) look_at_ = now + kLookEvery;
  elsewhere_.push_back(std::move(job));
}

void JobQueue::set_aside(const std::string& key) {
  claims_.give_back(key);
  aside_.push_back(key);
}

std::optional<JobQueue::Taken> JobQueue::take(List list) {
  auto& from = keys(list);
  while (!from.empty()) {
    Taken job{std::move(from.front()), list};
    from.pop_front();
    if (claim(job.key)) return job;
    leave_elsewhere(std::move(job));
  }
  return std::nullopt;
}

std::vector<JobQueue::Taken> JobQueue::take_freed() {
  std::vector<Taken> freed;
  const auto now = Clock::now();
  if (now < look_at()) return freed;
  look_at_ = now + kLookEvery;
  for (auto& job : std::exchange(elsewhere_, {})) (claim(job.key) ? freed : elsewhere_).push_back(std::move(job));
  return freed;
}

void JobQueue::put_back(const Taken& job) {
  claims_.give_back(job.key);
  keys(job.from).push_front(job.key);
}

void JobQueue::ended(const std::string& key) {
  claims_.give_back(key);
  since_.erase(key);
}

void JobQueue::clear() {
  waiting_.clear();
  aside_.clear();
  elsewhere_.clear();
  since_.clear();
  claims_.give_back_all();
}

std::vector<std::string> JobQueue::aside() const {
  std::vector<std::string> keys(aside_.begin(), aside_.end());
  for (const auto& job : elsewhere_)
    if (job.from == List::Aside) keys.push_back(job.key);
  return keys;
}

}  // namespace attune::compile
