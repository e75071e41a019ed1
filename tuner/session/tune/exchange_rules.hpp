#pragma once
#include <map>
#include <string>

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
  /// The problem, once it is one of the template's.
  [[nodiscard]] spec::Problem require_problem(const spec::KernelTemplate& kernel, const std::string& text) const;
  void require_configuration(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& device_key,
                             const std::string& text) const;

  std::map<std::string, spec::KernelTemplate> templates_;  ///< by hash
  std::map<std::string, spec::DeviceInfo> devices_;        ///< by hard key
};

}  // namespace attune::session
