#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "db/records.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// What only templates know of rows that come from other files: the specification parses and hashes to its key; problems
/// and configurations are in canonical form and in the space that it declares, constraints on the row's device included;
/// details are what tuning writes and say the same as the columns; best rows belong to templates with a reference, since
/// nothing unverified is dispatched. Each `take` throws Error (UsageError, SpecError) saying what is wrong.
class ExchangeRules : public db::RowSink {
 public:
  void take(const db::DeviceRow& row) override;
  void take(const db::TemplateRow& row) override;
  void take(const db::SessionRow& row) override;
  void take(const db::RecordRow& row) override;
  void take(const db::BestRow& row) override;

 private:
  /// The problem, once it is one of the template's. Valid until the next call.
  const spec::Problem& require_problem(const spec::KernelTemplate& kernel, const std::string& text);
  void require_configuration(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& device_key,
                             const std::string& text);
  /// A configuration in canonical form, as many rows name it.
  const spec::Configuration& known_configuration(const spec::KernelTemplate& kernel, const std::string& text);

  /// What was read of the texts before, since rows of one problem follow each other and problems share their configurations.
  struct KnownProblem {
    std::string template_hash, text;
    spec::Problem problem;
  };
  static constexpr std::size_t kMostConfigurations = 10'000;

  std::map<std::string, spec::KernelTemplate> templates_;  ///< by hash
  std::map<std::string, spec::DeviceInfo> devices_;        ///< by hard key
  std::optional<KnownProblem> problem_;
  std::string configurations_of_;  ///< the template's hash
  std::unordered_map<std::string, spec::Configuration> configurations_;
};

}  // namespace attune::session
