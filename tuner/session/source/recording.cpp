#include "tuner/session/source/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/bounded_file.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_check.hpp"
#include "tuner/base/json_fields.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/session/source/recording_parts.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

const std::string kFailed = "failed reading the recording: ";

constexpr int kMostDepth = 16;  // a value of a configuration lies in six
constexpr std::uint64_t kMostStoredBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostUnpackedBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kFreeBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostRatioOfBytes = 100;
constexpr double kShortestUs = 1e-6;  // ratios of two times stay far from what a double cannot hold
constexpr double kLongestUs = 1e12;   // eleven days
constexpr double kMostRatio = 1e9;
constexpr std::size_t kMostEpochs = 1'000'000'000;
constexpr std::size_t kMostNameBytes = 1024;

/// In front of what is wrong, and where: "failed reading the recording: problems[3]: ".
std::string context_of(const std::string& where) { return kFailed + where + (where.empty() ? "" : ": "); }

/// For each of `names`: its index in the file's header. Columns this build does not know are passed over.
std::vector<std::size_t> locate(const std::vector<std::string>& header, const base::JsonFields& fields) {
  if (const auto twice = recording::first_double(header))
    fields.fail(fmt::format("field 'columns' has '{}' twice", recording::shortened(*twice)));
  std::vector<std::size_t> places;
  const auto add = [&](const char* name) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) fields.fail(fmt::format("field 'columns' lacks column '{}'", name));
    places.push_back(static_cast<std::size_t>(found - header.begin()));
  };
  add("values");
  for (const recording::Column& column : recording::columns()) add(column.name);
  return places;
}

measure::Measurement read_row(const json& row, const std::vector<std::string>& header, const std::vector<std::size_t>& places,
                              const std::vector<std::string>& parameters) {
  if (!row.is_array() || row.size() != header.size()) {
    throw Error(fmt::format("must be an array of {} values, as 'columns' says", header.size()));
  }
  const json& values = row[places[0]];
  if (!values.is_array() || values.size() != parameters.size()) {
    throw Error(fmt::format("column 'values' must be an array of {} values, as 'parameters' says", parameters.size()));
  }
  json configuration = json::object();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const json& value = values[i];
    if (!value.is_number() && !value.is_string() && !value.is_boolean()) {
      throw Error(fmt::format("column 'values': parameter '{}' must be a number, a string or a bool", parameters[i]));
    }
    configuration[parameters[i]] = value;
  }
  json fields = json::object();
  fields["configuration"] = base::dump_json(configuration);
  for (std::size_t i = 0; i < recording::columns().size(); ++i) fields[recording::columns()[i].place] = row[places[i + 1]];
  for (const recording::Column& column : recording::power_columns()) {
    const auto found = std::find(header.begin(), header.end(), column.name);
    if (found != header.end()) fields[column.place] = row[static_cast<std::size_t>(found - header.begin())];
  }
  return measure::measurement_from_json(fields);
}

void read_measurements(const base::JsonFields& fields, RecordedProblem& problem) {
  const std::vector<std::string> parameters = fields.texts("parameters");
  if (const auto twice = recording::first_double(parameters))
    fields.fail(fmt::format("field 'parameters' has '{}' twice", recording::shortened(*twice)));
  const std::vector<std::string> header = fields.texts("columns");
  const std::vector<std::size_t> places = locate(header, fields);
  const json& rows = fields.array("measurements");
  problem.measurements.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      problem.measurements.push_back(read_row(rows[i], header, places, parameters));
    } catch (const Error& error) {
      fields.fail(fmt::format("measurements[{}]: {}", i, error.what()));
    }
  }
}

void read_rounds(const base::JsonFields& fields, RecordedProblem& problem) {
  problem.finalists = fields.texts("finalists");
  const auto is_time = [](const json& time_us) {
    return time_us.is_number() && time_us.get<double>() >= kShortestUs && time_us.get<double>() <= kLongestUs;
  };
  for (const json& round : fields.array("rounds_us")) {
    if (!round.is_array() || !std::all_of(round.begin(), round.end(), is_time)) {
      fields.fail(fmt::format("rounds_us[{}] must be an array of times above 0, from {} to {} us", problem.rounds_us.size(), kShortestUs,
                              kLongestUs));
    }
    problem.rounds_us.push_back(round.get<std::vector<double>>());
  }
}

/// Recordings of run-offs without epochs lack both fields: each of their rounds is an observation.
void read_epochs(const base::JsonFields& fields, const std::string& where, RecordedProblem& problem) {
  if (!fields.has("rounds_per_epoch")) return;
  problem.rounds_per_epoch = fields.integer("rounds_per_epoch", 1, 1000);
  for (const json& item : fields.array("left")) {
    const base::JsonFields left(item, context_of(fmt::format("{}.left[{}]", where, problem.left.size())));
    const auto ratio = [&](const char* name) { return left.number(name, 0, kMostRatio); };
    problem.left.push_back({left.text("configuration"),
                            {left.number("ratio", 1 / kMostRatio, kMostRatio), ratio("low"), ratio("high")},
                            left.integer<std::size_t>("epochs", 0, kMostEpochs)});
  }
}

RecordedProblem read_problem(const json& object, std::size_t index) {
  const std::string where = fmt::format("problems[{}]", index);
  const base::JsonFields fields(object, context_of(where));
  RecordedProblem problem;
  const json& key = fields.at("problem");
  try {
    if (!key.is_object()) throw Error(fmt::format("must be an object, not {}", base::shown(key)));
    problem.problem = spec::problem_from_text(base::dump_json(key));
  } catch (const Error& error) {
    fields.fail(fmt::format("field 'problem': {}", error.what()));
  }
  problem.work_bytes = fields.integer<std::int64_t>("work_bytes");
  problem.space_size = fields.integer<std::uint64_t>("space_size");
  read_measurements(fields, problem);
  read_rounds(fields, problem);
  read_epochs(fields, where, problem);
  if (const std::string reason = recording::contradiction(problem); !reason.empty()) fields.fail(reason);
  return problem;
}

void check_version(const base::JsonFields& fields) {
  const auto version = fields.integer<std::int64_t>("attune_recording");
  if (version != recording::kFormatVersion) {
    fields.fail(fmt::format("it has format version {}, this build reads version {}; {}", version, recording::kFormatVersion,
                            version > recording::kFormatVersion ? "use a newer attune" : "record it again (attune record)"));
  }
}

spec::DeviceInfo read_device(const base::JsonFields& fields) {
  const json& object = fields.at("device");
  spec::DeviceInfo device;
  try {
    device = spec::DeviceInfo::from_json(object);
  } catch (const Error& error) {
    fields.fail(fmt::format("field 'device': {}", error.what()));
  }
  if (fields.text("driver") != device.driver) {
    fields.fail(fmt::format("field 'driver' is {}, but the device's is '{}'", base::shown(fields.at("driver")), device.driver));
  }
  return device;
}

/// "2026-11-20T13:17:05Z", with or without a fraction: it becomes the date of rows, which are compared as texts.
std::string read_date(const base::JsonFields& fields) {
  const std::string date = fields.text("date");
  static const std::regex utc(R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z)");
  if (date.size() > 32 || !std::regex_match(date, utc)) fields.fail("date", "a UTC date such as \"2026-11-20T13:17:05Z\"", json(date));
  return date;
}

std::string read_policy(const base::JsonFields& fields) {
  const std::string policy = fields.text("policy", kMostNameBytes);
  try {
    (void)measure::policy_from_text(policy);
  } catch (const Error& error) {
    fields.fail(fmt::format("field 'policy': {}", error.what()));
  }
  return policy;
}

std::vector<RecordedProblem> read_problems(const base::JsonFields& fields) {
  std::vector<RecordedProblem> problems;
  std::set<std::string> seen;
  for (const json& object : fields.array("problems")) {
    problems.push_back(read_problem(object, problems.size()));
    if (!seen.insert(spec::to_text(problems.back().problem)).second) {
      fields.fail(fmt::format("problems[{}]: the problem {} is there twice", problems.size() - 1,
                              recording::shortened(spec::to_text(problems.back().problem))));
    }
  }
  return problems;
}

Recording read_recording(const json& object) {
  const base::JsonFields fields(object, kFailed);
  check_version(fields);
  Recording recording;
  recording.device = read_device(fields);
  recording.date = read_date(fields);
  recording.template_name = fields.text("template", kMostNameBytes);
  recording.template_hash = fields.text("template_hash", kMostNameBytes);
  recording.nvrtc = fields.text("nvrtc", kMostNameBytes);
  recording.policy = read_policy(fields);
  recording.read_ceiling_bytes_per_s = fields.number("read_ceiling_bytes_per_s");
  recording.coverage = fields.text("coverage");
  if (fields.has("imported_from")) recording.imported_from = fields.text("imported_from");
  recording.problems = read_problems(fields);
  return recording;
}

[[noreturn]] void throw_malformed(const base::JsonFault& fault, const std::string& path) {
  const std::string why =
      fault.at_end ? "the JSON ends in the middle, the file is truncated" : "the JSON is damaged here (" + fault.what + ")";
  throw SpecError(path, fault.line, fault.column, kFailed + why + "; fetch or record the file again");
}

/// What a file of so many bytes may unpack to, and what its values may take in memory: a recording has about 10 times its bytes
/// unpacked, and 50 times as values.
std::uint64_t allowance(std::uint64_t stored_bytes) { return std::min(kMostUnpackedBytes, kFreeBytes + kMostRatioOfBytes * stored_bytes); }

Recording parse_stored(const std::string& json_text, const std::string& path, std::uint64_t stored_bytes) {
  if (const auto fault = base::find_json_fault(json_text, {kMostDepth, allowance(stored_bytes)})) throw_malformed(*fault, path);
  const json object = base::parse_json(json_text);
  try {
    return read_recording(object);
  } catch (const Error& error) {
    throw SpecError(path, 0, 0, error.what());
  }
}

std::string unpacked(const std::string& bytes, const std::string& path) {
  try {
    return base::decompress(bytes, allowance(bytes.size()));
  } catch (const Error& error) {
    throw SpecError(path, 0, 0, fmt::format("{}{}; fetch or record the file again", kFailed, error.what()));
  }
}

std::string stored_bytes_of(const std::filesystem::path& path) {
  try {
    return base::read_bounded_file(path, kMostStoredBytes);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("failed opening the recording {}", std::string(error.what()).substr(std::string("failed opening ").size())));
  } catch (const Error& error) {
    throw SpecError(path.string(), 0, 0, kFailed + std::string(error.what()));
  }
}

}  // namespace

const RecordedProblem* Recording::find(const spec::Problem& problem) const {
  const auto found = std::find_if(problems.begin(), problems.end(), [&](const auto& entry) { return entry.problem == problem; });
  return found == problems.end() ? nullptr : &*found;
}

Recording Recording::parse(const std::string& json_text, const std::string& path) {
  return parse_stored(json_text, path, json_text.size());
}

Recording Recording::load(const std::filesystem::path& path) {
  const std::string bytes = stored_bytes_of(path);
  return recording::is_compressed(path) ? parse_stored(unpacked(bytes, path.string()), path.string(), bytes.size())
                                        : parse(bytes, path.string());
}

}  // namespace attune::session
