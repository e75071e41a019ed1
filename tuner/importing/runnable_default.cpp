#include "tuner/importing/runnable_default.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "attune/error.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::importing {
namespace {

constexpr int kMostTried = 4096;  // in either way: a fraction of a second

/// The message without the place in a template.json that is not written yet.
std::string without_place(const SpecError& error) {
  const std::string what = error.what();
  const std::size_t message = what.find(": ", error.file().size());
  return message == std::string::npos ? what : what.substr(message + 2);
}

class DefaultSearch {
 public:
  DefaultSearch(const ImportedKernel& kernel, const spec::KernelTemplate& made) : made_(made) {
    for (const ImportedSize& size : kernel.sizes) problem_.sizes[size.name] = size.value;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const auto& names = kernel.without_default;
      if (std::find(names.begin(), names.end(), kernel.parameters[i].name) != names.end()) free_.push_back(i);
    }
  }

  /// Why a configuration is no good default; nothing where it is one.
  [[nodiscard]] std::optional<std::string> fault(const spec::Configuration& configuration) const {
    try {
      const auto scope = spec::make_scope(made_, problem_, configuration, device_);
      for (const auto& constraint : made_.constraints) {
        if (!constraint.expression.truth(scope)) return fmt::format("violate \"{}\"", constraint.expression.text());
      }
      static_cast<void>(spec::resolve(made_, problem_, configuration, device_));
    } catch (const SpecError& error) {  // of a configuration that is only asked about
      return fmt::format("cannot be launched: {}", without_place(error));
    }
    return std::nullopt;
  }

  /// One that differs in one parameter where there is one, else one at random.
  [[nodiscard]] std::optional<spec::Configuration> other_than(const spec::Configuration& first) const {
    int tried = 0;
    for (const std::size_t parameter : free_) {
      spec::Configuration one = first;
      for (std::size_t value = 0; tried < kMostTried && value < made_.parameters[parameter].values.size(); ++value, ++tried) {
        one.index[parameter] = static_cast<std::uint16_t>(value);
        if (!fault(one)) return one;
      }
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < kMostTried; ++i) {
      spec::Configuration one = first;
      for (const std::size_t parameter : free_)
        one.index[parameter] = static_cast<std::uint16_t>(random() % made_.parameters[parameter].values.size());
      if (!fault(one)) return one;
    }
    return std::nullopt;
  }

 private:
  const spec::KernelTemplate& made_;
  const spec::DeviceInfo device_ = spec::DeviceInfo::of_architecture("sm_90");  // what `attune template check` takes
  spec::Problem problem_;
  std::vector<std::size_t> free_;
};

/// "bx=64, tile=2" of the parameters that were changed; the kernel gets them.
std::string take(ImportedKernel& kernel, const spec::Configuration& configuration) {
  std::string told;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    spec::Parameter& parameter = kernel.parameters[i];
    if (parameter.default_index == configuration.index[i]) continue;
    parameter.default_index = configuration.index[i];
    told += fmt::format("{}{}={}", told.empty() ? "" : ", ", parameter.name, spec::to_text(parameter.values[parameter.default_index]));
  }
  return told;
}

}  // namespace

bool choose_default(ImportedKernel& kernel, const spec::KernelTemplate& made) {
  if (kernel.without_default.empty() || !kernel.types.empty()) return false;
  const DefaultSearch search(kernel, made);
  const auto first = spec::default_configuration(made);
  const auto fault = search.fault(first);
  if (!fault) return false;
  const auto chosen = search.other_than(first);
  if (!chosen) return false;  // `attune template check` tells why
  const std::string text = fmt::format("{} without one: the first values {}; the default has {} instead",
                                       counted(kernel.without_default.size(), "parameter"), *fault, take(kernel, *chosen));
  const auto stated = std::find_if(kernel.notes.begin(), kernel.notes.end(), [](const Note& note) { return note.about == "\"Default\""; });
  if (stated != kernel.notes.end())
    stated->text = text;
  else
    kernel.notes.push_back({Note::Kind::Decide, "\"Default\"", text});
  return true;
}

}  // namespace attune::importing
