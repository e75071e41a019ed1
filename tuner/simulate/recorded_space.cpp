#include "tuner/simulate/recorded_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/bounded_file.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_check.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/simulate/dialects.hpp"
#include "tuner/simulate/gunzip.hpp"

namespace attune::simulate {
namespace {

using nlohmann::json;

const std::string kFailed = "failed reading the recorded space: ";
const std::string kRemedy = "; fetch the file again, or write it anew";

constexpr int kMostDepth = 32;
constexpr std::uint64_t kMostStoredBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostUnpackedBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMostValueBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kFreeBytes = std::uint64_t{64} << 20;
// Files in the wild have up to 10 times their bytes unpacked; indented ones of few different values have more.
constexpr std::uint64_t kMostRatioOfUnpacked = 100;
// As values they take up to 50 times their bytes.
constexpr std::uint64_t kMostRatioOfValues = 200;

std::uint64_t allowance(std::uint64_t stored_bytes, std::uint64_t ratio, std::uint64_t most) {
  return std::min(most, kFreeBytes + ratio * stored_bytes);
}

/// By kind (switches, numbers, texts), then ascending. 1 and 1.0 are one value; true is another.
bool less(const spec::Value& a, const spec::Value& b) {
  const auto kind = [](const spec::Value& value) { return std::holds_alternative<bool>(value) ? 0 : value.index() < 3 ? 1 : 2; };
  if (kind(a) != kind(b)) return kind(a) < kind(b);
  if (kind(a) != 1) return a < b;
  const auto number = [](const spec::Value& value) -> long double {
    const auto* const whole = std::get_if<std::int64_t>(&value);
    return whole != nullptr ? static_cast<long double>(*whole) : static_cast<long double>(std::get<double>(value));
  };
  return number(a) < number(b);
}

bool same(const spec::Value& a, const spec::Value& b) { return !less(a, b) && !less(b, a); }

std::vector<spec::Parameter> parameters_of(const RecordedEntries& found) {
  std::vector<spec::Parameter> parameters(found.names.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& values = parameters[i].values;
    parameters[i].name = found.names[i];
    for (const auto& entry : found.entries) values.push_back(entry.values[i]);
    std::stable_sort(values.begin(), values.end(), less);
    values.erase(std::unique(values.begin(), values.end(), same), values.end());
    constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
    if (values.size() > kMost) throw Error(fmt::format("parameter '{}' has {} values, more than {}", found.names[i], values.size(), kMost));
  }
  return parameters;
}

spec::Configuration configuration_of(const RecordedEntry& entry, const std::vector<spec::Parameter>& parameters) {
  spec::Configuration configuration;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& values = parameters[i].values;
    const auto found = std::lower_bound(values.begin(), values.end(), entry.values[i], less);
    configuration.index.push_back(static_cast<std::uint16_t>(found - values.begin()));
  }
  return configuration;
}

RecordedSpace assemble(const std::string& path, RecordedEntries found) {
  if (found.entries.empty()) throw Error(fmt::format("{}it has no configurations", found.label.empty() ? "" : found.label + ": "));
  auto parameters = parameters_of(found);
  std::vector<spec::Configuration> configurations;
  for (const auto& entry : found.entries) configurations.push_back(configuration_of(entry, parameters));
  auto space = space::SearchSpace::of(parameters, configurations);
  std::vector<std::optional<double>> costs(space.size());
  std::vector<std::string> failures(space.size());
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    // One that was measured again stands there twice: the last time counts, as in a JSON object in which it would have replaced the first.
    const space::Ordinal ordinal = *space.find(configurations[i]);
    costs[ordinal] = found.entries[i].result.cost;
    failures[ordinal] = std::move(found.entries[i].result.failure);
  }
  return {path, std::move(found.label), std::move(parameters), std::move(space), std::move(costs), std::move(failures)};
}

[[noreturn]] void throw_malformed(const base::JsonFault& fault, const std::string& path) {
  const std::string why =
      fault.at_end ? "the JSON ends in the middle, the file is truncated" : "the JSON is damaged here (" + fault.what + ")";
  throw SpecError(path, fault.line, fault.column, kFailed + why + kRemedy);
}

/// Requires: JSON. Throws: Error.
std::vector<RecordedEntries> entries_of(const std::string& text, const std::string& path) {
  const json document = base::parse_json(text);
  if (document.contains("attune_recording")) return own_entries(text, path);
  std::vector<RecordedEntries> all;
  if (document.contains("cache")) {
    all.push_back(kernel_tuner_entries(document));
  } else if (document.contains("results")) {
    all.push_back(t4_entries(document));
  } else {
    throw Error("it is no cache of Kernel Tuner (there is no 'cache'), no T4 results (no 'results') and no recording of attune");
  }
  return all;
}

std::vector<RecordedEntries> parse_entries(const std::string& text, const std::string& path, std::uint64_t stored_bytes) {
  const std::string whole = completed_json(text);
  const base::JsonLimits limits{kMostDepth, allowance(stored_bytes, kMostRatioOfValues, kMostValueBytes)};
  if (const auto fault = base::find_json_fault(whole, limits)) throw_malformed(*fault, path);
  try {
    return entries_of(whole, path);
  } catch (const SpecError&) {
    throw;  // it names the file
  } catch (const Error& error) {
    refuse_space(path, error.what() + kRemedy);
  }
}

std::vector<RecordedSpace> parse_stored(const std::string& text, const std::string& path, std::uint64_t stored_bytes) {
  std::vector<RecordedSpace> spaces;
  for (auto& found : parse_entries(text, path, stored_bytes)) {
    try {
      spaces.push_back(assemble(path, std::move(found)));
    } catch (const Error& error) {
      refuse_space(path, error.what() + kRemedy);
    }
  }
  return spaces;
}

std::string stored_bytes_of(const std::filesystem::path& path) {
  try {
    return base::read_bounded_file(path, kMostStoredBytes);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw SpecError(path.string(), 0, 0, kFailed + error.what());
  }
}

/// What the file holds: packed ones begin with bytes that no text has.
std::string unpacked(std::string bytes, const std::string& path) {
  const std::uint64_t most = allowance(bytes.size(), kMostRatioOfUnpacked, kMostUnpackedBytes);
  try {
    if (bytes.starts_with("\x1f\x8b")) return gunzip(bytes, most);
    if (bytes.starts_with("\x28\xb5\x2f\xfd")) return base::decompress(bytes, most);
  } catch (const Error& error) {
    throw SpecError(path, 0, 0, kFailed + error.what() + kRemedy);
  }
  return bytes;
}

}  // namespace

std::string RecordedSpace::configuration_text(space::Ordinal ordinal) const {
  json configuration = json::object();
  const auto row = space.row(ordinal);
  for (std::size_t i = 0; i < parameters.size(); ++i) configuration[parameters[i].name] = spec::to_json(parameters[i].values[row[i]]);
  return base::dump_json(configuration);
}

void refuse_space(const std::string& path, const std::string& why) { throw SpecError(path, 0, 0, kFailed + why); }

RecordedEntries read_foreign_entries(const std::filesystem::path& path) {
  std::string bytes = stored_bytes_of(path);
  const std::uint64_t stored_bytes = bytes.size();
  auto all = parse_entries(unpacked(std::move(bytes), path.string()), path.string(), stored_bytes);
  if (all.empty() || all.front().format.empty())
    refuse_space(path.string(),
                 "it is a recording of attune already, which needs no import: attune tune --replay and attune simulate read it");
  if (all.front().entries.empty()) refuse_space(path.string(), "it has no configurations" + kRemedy);
  return std::move(all.front());
}

std::vector<RecordedSpace> parse_recorded_spaces(const std::string& text, const std::string& path) {
  return parse_stored(text, path, text.size());
}

std::vector<RecordedSpace> read_recorded_spaces(const std::filesystem::path& path) {
  std::string bytes = stored_bytes_of(path);
  const std::uint64_t stored_bytes = bytes.size();
  return parse_stored(unpacked(std::move(bytes), path.string()), path.string(), stored_bytes);
}

}  // namespace attune::simulate
