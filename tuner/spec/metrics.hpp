#pragma once
#include <map>
#include <string>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// Variables of metrics and objectives beside those of a let. The energy of a call is the power times its time.
inline constexpr const char* kTimeName = "time_us";
inline constexpr const char* kPowerName = "power_w";
inline constexpr const char* kEnergyName = "energy_mj";

/// What was measured of a configuration.
struct Measured {
  double time_us = 0;
  double power_w = 0;  ///< of the device while calls follow each other; 0: not measured
};

/// Whether some metric, or the objective, needs the power.
[[nodiscard]] bool uses_power(const KernelTemplate& kernel);
/// Whether the objective does.
[[nodiscard]] inline bool objective_uses_power(const KernelTemplate& kernel) { return kernel.objective && kernel.objective->of_power; }

/// The template's metrics by name. Left out are those that need a power which was not measured, and those that have no finite number here.
[[nodiscard]] std::map<std::string, double> metrics_of(const KernelTemplate& kernel, const Scope& scope, const Measured& measured);

/// Where the objective names parameters, by itself or through metrics and lets: their values, by which configurations of the same launches
/// differ in cost; else empty.
[[nodiscard]] std::string objective_text(const KernelTemplate& kernel, const Configuration& configuration);

/// What a search makes small: the time, or the objective's value where that is minimised and its inverse where it is maximised.
/// Throws: SpecError at the objective's place where it is no finite number above 0, or needs a power that was not measured.
[[nodiscard]] double cost_of(const KernelTemplate& kernel, const Scope& scope, const Measured& measured);

/// The objective's value; the time where there is no objective.
[[nodiscard]] inline double objective_value(const KernelTemplate& kernel, double cost) {
  return kernel.objective && kernel.objective->maximise ? 1 / cost : cost;
}

}  // namespace attune::spec
