#include "tuner/compile/job_queue.hpp"

#include <utility>

namespace attune::compile {
namespace {

constexpr std::chrono::milliseconds kLookEvery{10};  // a tenth of what most compilations take

}  // namespace

void JobQueue::put_back(const std::string& key) {
  claims_.give_back(key);
  waiting_.push_front(key);
}

void JobQueue::ended(const std::string& key) {
  claims_.give_back(key);
  unclaimed_.erase(key);
}

void JobQueue::set_aside(const std::string& key) {
  claims_.give_back(key);
  aside_.push_back(key);
}

std::optional<std::string> JobQueue::first_free(std::deque<std::string>& keys) {
  while (!keys.empty()) {
    const std::string key = std::move(keys.front());
    keys.pop_front();
    if (unclaimed_.contains(key) || claims_.take(key)) return key;
    if (elsewhere_.empty()) look_at_ = Clock::now() + kLookEvery;
    elsewhere_.push_back({key, Clock::now()});
  }
  return std::nullopt;
}

std::optional<std::string> JobQueue::next(bool also_aside) {
  auto key = first_free(waiting_);
  return key || !also_aside ? key : first_free(aside_);
}

std::vector<std::string> JobQueue::take_freed() {
  std::vector<std::string> freed;
  const auto now = Clock::now();
  if (now < look_at()) return freed;
  look_at_ = now + kLookEvery;
  for (auto& [key, since] : std::exchange(elsewhere_, {})) {
    const bool too_long = now - since > patience_;
    if (too_long) unclaimed_.insert(key);
    if (too_long || claims_.take(key))
      freed.push_back(std::move(key));
    else
      elsewhere_.push_back({std::move(key), since});
  }
  return freed;
}

void JobQueue::clear() {
  waiting_.clear();
  aside_.clear();
  elsewhere_.clear();
  unclaimed_.clear();
  claims_.give_back_all();
}

}  // namespace attune::compile
