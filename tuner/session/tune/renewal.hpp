#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// Whether a row says another version (of a driver, a compiler) than `current`. One that says none is not known to differ.
[[nodiscard]] inline bool is_another(const std::string& recorded, const std::string& current) {
  return !recorded.empty() && recorded != current;
}

/// Whether a row says an older version than `current`, number by number: "9.2" is older than "13.0.88 CL-1". What follows the numbers does
/// not count; a word before them has to be the same ("CUDA 13.0": a driver whose own version could not be read). One that says none, or
/// whose numbers cannot be read, is not known to be older.
[[nodiscard]] bool is_older(const std::string& recorded, const std::string& current);

/// Which results that are not of the present are to be renewed; all that is stated must hold.
struct RenewalScope {
  /// Only those of the template's present version, under an older driver or compiler. Under a newer one nothing has aged.
  bool aged = false;
  std::string recorded_before;  ///< UTC, as rows are dated; only results older than this; empty: of any age
};

/// What results are compared with.
struct Present {
  std::string device_key;
  std::string driver;
  std::string nvrtc;  ///< build
  /// The template of this name as it is now; nothing where there is none.
  std::function<std::optional<spec::KernelTemplate>(const std::string& name)> find;
};

/// Problems of one template under one policy whose results are not of the present.
struct Renewal {
  std::string template_name, policy;
  std::vector<spec::Problem> problems;     ///< each once
  std::map<std::string, std::string> won;  ///< by a problem's text: what had won there, by the row nearest to the present
  /// How many of them are what; a problem may be several.
  std::uint64_t of_another_version = 0, of_another_driver = 0, of_another_compiler = 0;
  std::uint64_t aged = 0;  ///< those that RenewalScope::aged means
};

struct RenewalPlan {
  std::vector<Renewal> renewals;
  std::uint64_t current = 0;           ///< problems that have a result of the present
  std::uint64_t out_of_scope = 0;      ///< problems whose result is not of the present, and not what the scope means
  std::uint64_t of_other_devices = 0;  ///< results; only a device like theirs can renew them
  /// A problem that cannot be asked any more, and why: its template is gone, or has other axes or values now.
  struct Impossible {
    std::string template_name, problem, why;
  };
  std::vector<Impossible> impossible;
};

/// What of the database's best rows is of another version of its template, another driver or another compiler than the present. A
/// problem that also has a row of the present is current: older versions' rows stay for programs built with them. The row that is nearest
/// to the present decides whether a problem is in the scope.
[[nodiscard]] RenewalPlan plan_renewal(const std::vector<db::BestRow>& rows, const Present& present, const RenewalScope& scope = {});

}  // namespace attune::session
