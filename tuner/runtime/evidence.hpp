#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/database.hpp"
#include "tuner/runtime/layers.hpp"

namespace attune::runtime {

/// What decisions of one kernel have read out of the layers, kept for the next ones: reading it takes most of a decision's time. Forgotten
/// when a row may have changed. One thread at a time.
class Evidence {
 public:
  /// How a configuration did at a tuned size.
  struct Known {
    std::optional<double> us;  ///< nothing: it was not measured there, or failed, or cannot be launched
    bool one_block = false;    ///< LaunchFacts::one_block there
  };

  /// Before each decision. What is kept stays only while the layers, the template, the device and the policy are the same and nobody has
  /// written.
  void begin(const std::vector<Layer>& layers, const std::string& template_hash, const std::string& device_key, const std::string& policy);
  /// Database::candidates of what begin() was told. Valid until the next begin(). Throws: DatabaseError.
  [[nodiscard]] const std::vector<db::BestRow>& candidates(const Layer& layer, const std::string& family);
  /// Null where it was not asked for before.
  [[nodiscard]] const Known* find(const db::Database& database, const std::string& problem, const std::string& configuration) const;
  const Known& keep(const db::Database& database, const std::string& problem, const std::string& configuration, Known known);

 private:
  using OfConfigurations = std::unordered_map<std::string, Known>;
  struct OfDatabase {
    std::unordered_map<std::string, std::vector<db::BestRow>> candidates;  ///< by family
    std::unordered_map<std::string, OfConfigurations> known;               ///< by problem
  };

  bool readable_ = false;  ///< all databases were: else nothing is known to be as it was
  std::string template_hash_, device_key_, policy_;
  std::vector<db::Database::Version> versions_;
  std::unordered_map<const db::Database*, OfDatabase> databases_;
  std::size_t kept_bytes_ = 0;  ///< about
};

}  // namespace attune::runtime
