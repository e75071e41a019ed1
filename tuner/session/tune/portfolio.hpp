#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::session {

/// Which other problems' winners are worth a try.
enum class WinnersFrom {
  Family,   ///< of other sizes (and devices) of the same types and choices, and of those that stand in for them ("stand_in")
  Template  ///< of every problem of the template, those of the family first
};

/// What won for other problems under `policy`, as far as it is in this space. One that is specialised on its size comes with the
/// general one that dispatch uses at others.
[[nodiscard]] std::vector<space::Ordinal> portfolio_of(const db::Database& database, WinnersFrom from, const spec::KernelTemplate& kernel,
                                                       const spec::Problem& problem, const std::string& policy,
                                                       const space::SearchSpace& space);

/// Adds to `ordinals` what another file suggests, whichever version of the template it is of. A database suggests what won there. A
/// recording (*.json, *.json.zst) suggests every configuration that worked at this very problem and was at most measure::kScreeningRatio
/// times as slow as the fastest.
/// Throws: DatabaseError, SpecError or UsageError when it cannot be read.
void add_portfolio_of(const std::filesystem::path& other, WinnersFrom from, const spec::KernelTemplate& kernel,
                      const spec::Problem& problem, const std::string& policy, const space::SearchSpace& space,
                      std::vector<space::Ordinal>& ordinals);

/// The same of a database that is open. Throws: DatabaseError.
void add_portfolio_of(const db::Database& database, WinnersFrom from, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                      const std::string& policy, const space::SearchSpace& space, std::vector<space::Ordinal>& ordinals);

/// Adds what another file says has won at this very problem, whichever version of the template it is of: a database its results', the
/// latest first; a recording what won its run-off and what took part in it, or the fastest. Throws: as add_portfolio_of.
void add_own_winners_of(const std::filesystem::path& other, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                        const std::string& policy, const space::SearchSpace& space, std::vector<space::Ordinal>& ordinals);

/// By its name: *.json or *.json.zst.
[[nodiscard]] bool is_recording(const std::filesystem::path& file);
/// Read once: a run asks for every problem. Throws: SpecError, UsageError.
[[nodiscard]] const Recording& recording_of(const std::filesystem::path& file);

/// Whether such a file can be read. Throws: as add_portfolio_of.
void check_portfolio(const std::filesystem::path& other);

}  // namespace attune::session
