#include "bench/support/in_processes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "attune/error.hpp"
#include "bench/support/child.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/median.hpp"

namespace attune::bench {
namespace {

constexpr std::string_view kInterval = "_interval";

Json interval_of_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  double term = std::pow(0.5, static_cast<double>(count)), below = term;  // of the binomial distribution
  std::size_t rank = 0;
  while (below <= 0.025) {
    ++rank;
    term *= static_cast<double>(count - rank + 1) / static_cast<double>(rank);
    below += term;
  }
  const std::size_t first = rank == 0 ? 0 : rank - 1;
  return {values[first], values[count - 1 - first]};
}

double figure_of(const Json& value, const std::string& name) {
  if (!value.is_number()) throw Error(fmt::format("failed merging results: \"{}\" is no number in one of them", name));
  return value.get<double>();
}

/// `name`: of the member, for messages.
Json merged(const std::vector<const Json*>& all, const std::string& name) {
  const Json& first = *all.front();
  const auto at = [&](const auto& key) {
    std::vector<const Json*> values;
    for (const Json* one : all) values.push_back(&one->at(key));
    return values;
  };
  if (first.is_number_float()) {
    std::vector<double> values;
    for (const Json* one : all) values.push_back(figure_of(*one, name));
    return base::median(std::move(values));
  }
  for (const Json* one : all) {
    const bool same = first.is_structured() ? one->type() == first.type() && one->size() == first.size() : *one == first;
    if (!same && name != "date") throw Error(fmt::format("failed merging results: \"{}\" is not the same in all of them", name));
  }
  Json result = first;
  if (first.is_array()) {
    for (std::size_t i = 0; i < first.size(); ++i) result[i] = merged(at(i), name);
  }
  if (!first.is_object()) return result;
  for (const auto& [member, value] : first.items()) {
    const std::string figure = member.ends_with(kInterval) ? member.substr(0, member.size() - kInterval.size()) : std::string();
    if (!first.contains(figure)) {
      result[member] = merged(at(member), member);
      continue;
    }
    std::vector<double> values;
    for (const Json* one : at(figure)) values.push_back(figure_of(*one, figure));
    result[member] = interval_of_median(std::move(values));
  }
  return result;
}

}  // namespace

std::vector<Json> results_of_processes(int processes, const std::vector<std::string>& words, const std::string& bench) {
  const test::TempFolder scratch;
  std::vector<Json> files;
  for (int i = 0; i < processes; ++i) {
    fmt::print(stderr, "process {} of {}\n", i + 1, processes);
    const auto folder = scratch / std::to_string(i);
    std::filesystem::create_directory(folder);
    auto all = words;
    all.insert(all.begin(), std::filesystem::canonical("/proc/self/exe").string());
    all.insert(all.end(), {"--processes", "1", "--output", folder.string()});
    wait_for(start(all, STDERR_FILENO), all);
    for (const auto& device : std::filesystem::directory_iterator(folder))
      files.push_back(parse_json(base::read_file(device.path() / (bench + ".json"))));
    if (files.size() != static_cast<std::size_t>(i) + 1) throw Error("failed measuring in a further process: it wrote no results");
  }
  return files;
}

Json medians_of(const std::vector<Json>& files) {
  std::vector<const Json*> all;
  for (const Json& file : files) all.push_back(&file);
  return merged(all, "");
}

}  // namespace attune::bench
