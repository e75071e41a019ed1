#pragma once
#include <string>
#include <vector>

#include "attune/options.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/rank_texts.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// What decides the plans of a Runtime, for other ranks to compare: the version, the options that count, the content of every template that
/// may be asked for by name, and of each layer the best rows of those templates under the policy. Files' names and dates do not count, and
/// neither does what is no result of these templates. Records that were not the best are left out, although forecasts between tuned sizes
/// read them: there may be millions, and the exchange at the first plan of a problem compares what came of them.
/// A template or layer that cannot be read counts as what is wrong with it.
[[nodiscard]] RankOpening opening_of(const Options& options, const spec::TemplateLibrary& library, const std::vector<Layer>& layers);

/// For each rank that differs from what most ranks have of templates and layers (of equally many, from the lowest): in which parts, with
/// both contents; empty for the others. Every rank finds the same.
[[nodiscard]] std::vector<std::string> differences(const std::vector<RankOpening>& openings);

}  // namespace attune::runtime
