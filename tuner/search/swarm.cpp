#include "tuner/search/swarm.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kParticles = 10;  // fewer than the usual 20 to 40: searches of some hundred measurements give each twenty turns
constexpr double kInertia = 0.7298;
constexpr double kPull = 1.49618;
constexpr int kMostKnownPlaces = 10;  // one after the other: it has come to rest

}  // namespace

Swarm::Swarm(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : ranks_(space), random_(seed), trials_(space.size(), first), turns_(kParticles), particles_(kParticles) {}

std::optional<space::Ordinal> Swarm::propose() {
  // Each turn brings a proposal, or a particle closer to being put elsewhere.
  for (;;) {
    const std::size_t member = turns_.next();
    Particle& particle = particles_[member];
    if (particle.position.empty() || particle.known_places >= kMostKnownPlaces) return put_anywhere(member);
    fly(particle);
    if (!trials_.contains(particle.at)) {
      particle.known_places = 0;
      trials_.propose(particle.at);
      turns_.wait(member, particle.at);
      return particle.at;
    }
    ++particle.known_places;
    if (const auto cost = trials_.cost(particle.at)) see(particle, particle.at, *cost);
  }
}

std::optional<space::Ordinal> Swarm::put_anywhere(std::size_t member) {
  const auto ordinal = trials_.propose_any(random_);
  if (!ordinal) return std::nullopt;
  put(particles_[member], *ordinal);
  turns_.wait(member, *ordinal);
  return ordinal;
}

void Swarm::put(Particle& particle, space::Ordinal ordinal) {
  particle = {.at = ordinal, .position = ranks_.point(ordinal)};
  for (std::size_t i = 0; i < ranks_.width(); ++i) {
    const double anywhere = draw_real(random_) * static_cast<double>(ranks_.value_count(i) - 1);
    particle.velocity.push_back((anywhere - particle.position[i]) / 2);
  }
}

void Swarm::fly(Particle& particle) {
  const auto own = particle.best ? ranks_.point(particle.best->at) : particle.position;
  const auto common = best_ ? ranks_.point(best_->at) : particle.position;
  for (std::size_t i = 0; i < ranks_.width(); ++i) {
    double& position = particle.position[i];
    double& velocity = particle.velocity[i];
    velocity = kInertia * velocity + kPull * draw_real(random_) * (own[i] - position) + kPull * draw_real(random_) * (common[i] - position);
    position += velocity;
    const double last = static_cast<double>(ranks_.value_count(i) - 1);
    if (position >= 0 && position <= last) continue;
    position = std::clamp(position, 0.0, last);
    velocity *= -0.5;
  }
  particle.at = ranks_.configuration_at(particle.position, particle.best ? particle.best->at : particle.at, random_);
  // A point outside of the space is left; one inside is not rounded, or slow particles would stand still.
  const auto point = ranks_.point(particle.at);
  for (std::size_t i = 0; i < point.size(); ++i)
    if (std::abs(point[i] - particle.position[i]) > 0.5) particle.position[i] = point[i];
}

void Swarm::report(space::Ordinal ordinal, std::optional<double> median_us) {
  const auto cost = trials_.report(ordinal, median_us);
  if (!cost) return;
  if (const auto member = turns_.arrived(ordinal)) return see(particles_[*member], ordinal, *cost);
  if (std::isfinite(*cost) && (!best_ || *cost < best_->cost)) best_ = Best{ordinal, *cost};
}

void Swarm::see(Particle& particle, space::Ordinal ordinal, double cost) {
  if (!std::isfinite(cost)) return;
  if (!particle.best || cost < particle.best->cost) particle.best = Best{ordinal, cost};
  if (!best_ || cost < best_->cost) best_ = Best{ordinal, cost};
}

}  // namespace attune::search
