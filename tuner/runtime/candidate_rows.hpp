#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tuner/runtime/candidate.hpp"
#include "tuner/runtime/evidence.hpp"
#include "tuner/runtime/layers.hpp"

namespace attune::runtime {

/// The best rows of all layers as candidates for a problem. What cannot be used is told in a list.
class CandidateRows {
 public:
  /// Keeps references to all of its arguments.
  CandidateRows(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                const std::vector<Layer>& layers, const std::optional<std::string>& objective, std::vector<std::string>& passed_over)
      : kernel_(kernel),
        problem_(problem),
        device_(device),
        device_key_(device.hard_key()),
        layers_(layers),
        objective_(objective),
        passed_over_(passed_over) {}

  /// The candidates from a family of problems, the nearest first.
  [[nodiscard]] std::vector<Candidate> of(const spec::Problem& family, Evidence& evidence);
  /// The row that a query finds in a layer.
  [[nodiscard]] std::optional<Candidate> best_of(std::size_t layer, const spec::Problem& family, const db::Query& query);

  /// A layer that turns out to be damaged is passed over like a candidate: the others, or the default, still serve.
  template <class Read>
  void read(std::size_t layer, Read&& read_layer) {
    if (unreadable_.contains(layer)) return;
    try {
      read_layer();
    } catch (const DatabaseError& error) {
      unreadable_.insert(layer);
      tell(layers_[layer].path.string() + ": " + error.what());
    }
  }

  /// What was told until now; to forget what was told since.
  struct Mark {
    std::size_t told;
    std::set<std::size_t> unreadable;
  };
  [[nodiscard]] Mark mark() const { return {passed_over_.size(), unreadable_}; }
  void return_to(const Mark& mark);

 private:
  void tell(std::string text) { passed_over_.push_back(std::move(text)); }
  [[nodiscard]] std::map<std::string, std::string> described_devices(std::size_t layer) const;
  /// Nothing, with an explanation, when the row cannot be placed: it names other sizes, or its device is unknown.
  [[nodiscard]] std::optional<Candidate> place_row(db::BestRow recorded, std::size_t layer, const spec::Problem& family,
                                                   const std::map<std::string, std::string>& infos);
  /// Code that is specialised on the donor's sizes serves no others: its general form takes its place, whose time was not
  /// that of the row.
  void generalise(Candidate& candidate) const;
  /// Read once for all rows of a device: a family may have a thousand.
  const spec::DeviceInfo& described(const std::string& info_json);
  [[nodiscard]] bool same_sizes(const spec::Problem& donor) const;

  const spec::KernelTemplate& kernel_;
  const spec::Problem& problem_;
  const spec::DeviceInfo& device_;
  const std::string device_key_;
  const std::vector<Layer>& layers_;
  const std::optional<std::string>& objective_;  ///< of the rows that count
  std::vector<std::string>& passed_over_;
  std::map<std::string, spec::DeviceInfo> donors_;  ///< by their description
  std::set<std::size_t> unreadable_;                ///< layers
};

}  // namespace attune::runtime
