#include "tuner/session/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/zstd.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;

/// One column of the measurement table: where the value stands in measure::to_json, and the step it is rounded to
/// (0: exact). Rounding is what makes a space of 20,000 configurations compress; the steps are far below the noise.
struct Column {
  const char* name;
  json::json_pointer place;
  double step;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"outcome", json::json_pointer("/outcome"), 0},
      {"stage", json::json_pointer("/stage"), 0},
      {"verified", json::json_pointer("/verified"), 0},
      {"median_us", json::json_pointer("/timing/median_us"), 1e-4},
      {"low_us", json::json_pointer("/timing/low_us"), 1e-4},
      {"high_us", json::json_pointer("/timing/high_us"), 1e-4},
      {"min_us", json::json_pointer("/timing/min_us"), 1e-4},
      {"within_spread", json::json_pointer("/timing/within_spread"), 1e-5},
      {"between_spread", json::json_pointer("/timing/between_spread"), 1e-5},
      {"samples", json::json_pointer("/timing/samples"), 0},
      {"visits", json::json_pointer("/timing/visits"), 0},
      {"calls_per_sample", json::json_pointer("/timing/calls_per_sample"), 0},
      {"registers", json::json_pointer("/resources/registers"), 0},
      {"shared_bytes", json::json_pointer("/resources/shared_bytes"), 0},
      {"stack_bytes", json::json_pointer("/resources/stack_bytes"), 0},
      {"spill_bytes", json::json_pointer("/resources/spill_bytes"), 0},
      {"occupancy", json::json_pointer("/resources/occupancy"), 1e-5},
      {"compile_ms", json::json_pointer("/resources/compile_ms"), 1e-2},
      {"sm_clock_mhz", json::json_pointer("/sm_clock_mhz"), 0},
      {"throttle", json::json_pointer("/throttle"), 0},
      {"detail", json::json_pointer("/detail"), 0},
  };
  return all;
}

/// Nearest multiple of `step` as the double that prints with no more digits than the step has.
double rounded(double value, double step) {
  if (!std::isfinite(value)) throw Error("failed saving the recording: a time or share is not finite");
  const double steps_per_unit = std::round(1 / step);
  return std::round(value * steps_per_unit) / steps_per_unit;
}

std::string name_of(const json& value) {
  return value.is_object() || value.is_array() ? value.type_name() : base::dump_json(value);
}

/// Reads fields of one JSON object; every error names the file, where in it, and the field.
class Reader {
 public:
  Reader(const json& object, const std::string& path, std::string where)
      : object_(object), path_(path), where_(std::move(where)) {
    if (!object.is_object()) fail(fmt::format("must be an object, not {}", name_of(object)));
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw SpecError(path_, 0, 0,
                    fmt::format("failed reading the recording: {}{}{}", where_, where_.empty() ? "" : ": ", message));
  }
  [[nodiscard]] const json& at(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end()) fail(fmt::format("field '{}' is missing", field));
    return *found;
  }
  [[nodiscard]] std::string text(const char* field) const {
    const json& value = at(field);
    if (!value.is_string()) fail(field, "a string", value);
    return value.get<std::string>();
  }
  [[nodiscard]] std::int64_t count(const char* field) const {
    const json& value = at(field);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0) fail(field, "a whole number from 0 up", value);
    return value.get<std::int64_t>();
  }
  [[nodiscard]] double number(const char* field) const {
    const json& value = at(field);
    if (!value.is_number() || value.get<double>() < 0) fail(field, "a number from 0 up", value);
    return value.get<double>();
  }
  [[nodiscard]] const json& array(const char* field) const {
    const json& value = at(field);
    if (!value.is_array()) fail(field, "an array", value);
    return value;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* field) const {
    std::vector<std::string> all;
    for (const json& value : array(field)) {
      if (!value.is_string()) fail(field, "an array of strings", value);
      all.push_back(value.get<std::string>());
    }
    return all;
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

 private:
  [[noreturn]] void fail(const char* field, const char* expected, const json& value) const {
    fail(fmt::format("field '{}' must be {}, not {}", field, expected, name_of(value)));
  }
  const json& object_;
  const std::string& path_;
  std::string where_;
};

/// What makes a problem's parts contradict each other; empty when they agree.
std::string contradiction(const RecordedProblem& problem) {
  if (problem.space_size < problem.measurements.size()) {
    return fmt::format("field 'space_size' is {}, but there are {} measurements", problem.space_size,
                       problem.measurements.size());
  }
  for (std::size_t round = 0; round < problem.rounds_us.size(); ++round) {
    const std::size_t width = problem.rounds_us[round].size();
    if (width != problem.finalists.size()) {
      return fmt::format("rounds_us[{}] has {} times for {} finalists", round, width, problem.finalists.size());
    }
  }
  return "";
}

// Writing.

/// The parameter names of a canonical configuration text, sorted as the text has them.
std::vector<std::string> parameter_names(const json& configuration) {
  std::vector<std::string> names;
  for (const auto& entry : configuration.items()) names.push_back(entry.key());
  return names;
}

json parse_configuration(const std::string& text) {
  json configuration = base::try_parse_json(text);
  if (configuration.is_object() && base::dump_json(configuration) == text) return configuration;
  throw Error(fmt::format("failed saving the recording: {} is no configuration in canonical form", text));
}

json measurement_row(const measure::Measurement& measurement, const std::vector<std::string>& parameters) {
  const json configuration = parse_configuration(measurement.configuration);
  if (parameter_names(configuration) != parameters) {
    throw Error(
        fmt::format("failed saving the recording: {} has other parameters than the problem's first configuration",
                    measurement.configuration));
  }
  json values = json::array();
  for (const json& value : configuration) values.push_back(value);
  json row = json::array({std::move(values)});
  const json fields = measure::to_json(measurement);
  for (const Column& column : columns()) {
    const json& value = fields.at(column.place);
    row.push_back(column.step > 0 ? json(rounded(value.get<double>(), column.step)) : value);
  }
  return row;
}

json problem_to_json(const RecordedProblem& problem) {
  if (const std::string reason = contradiction(problem); !reason.empty()) {
    throw Error(fmt::format("failed saving the recording: problem {}: {}", spec::to_text(problem.problem), reason));
  }
  std::vector<std::string> parameters;
  if (!problem.measurements.empty()) {
    parameters = parameter_names(parse_configuration(problem.measurements.front().configuration));
  }
  json names = json::array({"values"});
  for (const Column& column : columns()) names.push_back(column.name);
  json rows = json::array();
  for (const auto& measurement : problem.measurements) rows.push_back(measurement_row(measurement, parameters));
  json rounds = json::array();
  for (const auto& round : problem.rounds_us) {
    json times = json::array();
    for (const double time_us : round) times.push_back(rounded(time_us, 1e-4));
    rounds.push_back(std::move(times));
  }
  json left = json::array();
  for (const auto& finalist : problem.left) {
    left.push_back({{"configuration", finalist.configuration},
                    {"ratio", rounded(finalist.to_best.median_ratio, 1e-6)},
                    {"low", rounded(finalist.to_best.low, 1e-6)},
                    {"high", rounded(finalist.to_best.high, 1e-6)},
                    {"epochs", finalist.observations}});
  }
  return {{"problem", base::parse_json(spec::to_text(problem.problem))},
          {"work_bytes", problem.work_bytes},
          {"space_size", problem.space_size},
          {"parameters", parameters},
          {"columns", std::move(names)},
          {"measurements", std::move(rows)},
          {"finalists", problem.finalists},
          {"rounds_us", std::move(rounds)},
          {"rounds_per_epoch", problem.rounds_per_epoch},
          {"left", std::move(left)}};
}

// Reading.

/// For each of `names`: its index in the file's header. Columns this build does not know are passed over.
std::vector<std::size_t> locate(const std::vector<std::string>& header, const Reader& reader) {
  std::vector<std::size_t> places;
  const auto add = [&](const char* name) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) reader.fail(fmt::format("field 'columns' lacks column '{}'", name));
    places.push_back(static_cast<std::size_t>(found - header.begin()));
  };
  add("values");
  for (const Column& column : columns()) add(column.name);
  return places;
}

measure::Measurement read_row(const json& row, const std::vector<std::string>& header,
                              const std::vector<std::size_t>& places, const std::vector<std::string>& parameters) {
  if (!row.is_array() || row.size() != header.size()) {
    throw Error(fmt::format("must be an array of {} values, as 'columns' says", header.size()));
  }
  const json& values = row[places[0]];
  if (!values.is_array() || values.size() != parameters.size()) {
    throw Error(fmt::format("column 'values' must be an array of {} values, as 'parameters' says", parameters.size()));
  }
  json configuration = json::object();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!values[i].is_primitive() || values[i].is_null()) {
      throw Error(fmt::format("column 'values': parameter '{}' must be a number, a string or a bool", parameters[i]));
    }
    configuration[parameters[i]] = values[i];
  }
  json fields = json::object();
  fields["configuration"] = base::dump_json(configuration);
  for (std::size_t i = 0; i < columns().size(); ++i) fields[columns()[i].place] = row[places[i + 1]];
  return measure::measurement_from_json(fields);
}

void read_measurements(const Reader& reader, RecordedProblem& problem) {
  const std::vector<std::string> parameters = reader.texts("parameters");
  const std::vector<std::string> header = reader.texts("columns");
  const std::vector<std::size_t> places = locate(header, reader);
  const json& rows = reader.array("measurements");
  problem.measurements.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      problem.measurements.push_back(read_row(rows[i], header, places, parameters));
    } catch (const Error& error) {
      reader.fail(fmt::format("measurements[{}]: {}", i, error.what()));
    }
  }
}

void read_rounds(const Reader& reader, RecordedProblem& problem) {
  problem.finalists = reader.texts("finalists");
  const auto positive = [](const json& time_us) { return time_us.is_number() && time_us.get<double>() > 0; };
  for (const json& round : reader.array("rounds_us")) {
    if (!round.is_array() || !std::all_of(round.begin(), round.end(), positive)) {
      reader.fail(fmt::format("rounds_us[{}] must be an array of times above 0", problem.rounds_us.size()));
    }
    problem.rounds_us.push_back(round.get<std::vector<double>>());
  }
}

/// Recordings of run-offs without epochs lack both fields: each of their rounds is an observation.
void read_epochs(const json& object, const Reader& reader, RecordedProblem& problem) {
  if (!object.contains("rounds_per_epoch")) return;
  const std::int64_t group = reader.count("rounds_per_epoch");
  if (group < 1 || group > 1000) reader.fail(fmt::format("field 'rounds_per_epoch' must be from 1 to 1000, not {}", group));
  problem.rounds_per_epoch = static_cast<int>(group);
  for (const json& item : reader.array("left")) {
    const Reader left(item, reader.path(), fmt::format("{}.left[{}]", reader.where(), problem.left.size()));
    problem.left.push_back({left.text("configuration"),
                            {left.number("ratio"), left.number("low"), left.number("high")},
                            static_cast<std::size_t>(left.count("epochs"))});
  }
}

RecordedProblem read_problem(const json& object, const std::string& path, std::size_t index) {
  const Reader reader(object, path, fmt::format("problems[{}]", index));
  RecordedProblem problem;
  const json& key = reader.at("problem");
  try {
    problem.problem = spec::problem_from_text(base::dump_json(key));
  } catch (const Error& error) {
    reader.fail(fmt::format("field 'problem': {}", error.what()));
  }
  problem.work_bytes = reader.count("work_bytes");
  problem.space_size = static_cast<std::uint64_t>(reader.count("space_size"));
  read_measurements(reader, problem);
  read_rounds(reader, problem);
  read_epochs(object, reader, problem);
  if (const std::string reason = contradiction(problem); !reason.empty()) reader.fail(reason);
  return problem;
}

void check_version(const Reader& reader) {
  const std::int64_t version = reader.count("attune_recording");
  if (version != kFormatVersion) {
    reader.fail(fmt::format("it has format version {}, this build reads version {}; {}", version, kFormatVersion,
                            version > kFormatVersion ? "use a newer attune" : "record it again (attune record)"));
  }
}

spec::DeviceInfo read_device(const Reader& reader) {
  spec::DeviceInfo device;
  try {
    device = spec::DeviceInfo::from_json(reader.at("device"));
  } catch (const SpecError&) {
    throw;  // the field itself is missing: already told
  } catch (const Error& error) {
    reader.fail(fmt::format("field 'device': {}", error.what()));
  }
  if (reader.text("driver") != device.driver) {
    reader.fail(fmt::format("field 'driver' is '{}', but the device's is '{}'", reader.text("driver"), device.driver));
  }
  return device;
}

[[noreturn]] void throw_malformed(const std::string& text, const std::string& path, std::size_t byte) {
  const std::size_t end = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto stop = text.begin() + static_cast<std::ptrdiff_t>(end);
  const auto line = std::count(text.begin(), stop, '\n') + 1;
  const std::size_t last_break = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = last_break == std::string::npos ? end + 1 : end - last_break;
  throw SpecError(path, static_cast<int>(line), static_cast<int>(column),
                  fmt::format("failed reading the recording: the JSON {}; fetch or record the file again",
                              end >= text.size() ? "ends in the middle, the file is truncated" : "is damaged here"));
}

bool is_compressed(const std::filesystem::path& path) { return path.extension() == ".zst"; }

}  // namespace

const RecordedProblem* Recording::find(const spec::Problem& problem) const {
  const auto found =
      std::find_if(problems.begin(), problems.end(), [&](const auto& entry) { return entry.problem == problem; });
  return found == problems.end() ? nullptr : &*found;
}

Recording Recording::parse(const std::string& json_text, const std::string& path) {
  json object;
  try {
    object = base::parse_json(json_text);
  } catch (const json::parse_error& error) {
    throw_malformed(json_text, path, error.byte);
  }
  const Reader reader(object, path, "");
  check_version(reader);
  Recording recording;
  recording.device = read_device(reader);
  recording.date = reader.text("date");
  recording.template_name = reader.text("template");
  recording.template_hash = reader.text("template_hash");
  recording.nvrtc = reader.text("nvrtc");
  recording.policy = reader.text("policy");
  recording.read_ceiling_bytes_per_s = reader.number("read_ceiling_bytes_per_s");
  recording.coverage = reader.text("coverage");
  const json& problems = reader.array("problems");
  for (std::size_t i = 0; i < problems.size(); ++i) recording.problems.push_back(read_problem(problems[i], path, i));
  return recording;
}

Recording Recording::load(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw UsageError(fmt::format("failed opening the recording {}: there is no such file", path.string()));
  }
  if (!std::filesystem::is_regular_file(path)) {
    throw UsageError(fmt::format("failed opening the recording {}: it is no regular file", path.string()));
  }
  std::string bytes = base::read_file(path);
  if (is_compressed(path)) {
    try {
      bytes = base::decompress(bytes);
    } catch (const Error& error) {
      throw SpecError(path.string(), 0, 0,
                      fmt::format("failed reading the recording: {}; fetch or record the file again", error.what()));
    }
  }
  return parse(bytes, path.string());
}

void Recording::save(const std::filesystem::path& path) const {
  json all = json::array();
  for (const auto& problem : problems) all.push_back(problem_to_json(problem));
  const json object = {{"attune_recording", kFormatVersion},
                       {"device", device.to_json()},
                       {"driver", device.driver},
                       {"date", date},
                       {"template", template_name},
                       {"template_hash", template_hash},
                       {"nvrtc", nvrtc},
                       {"policy", policy},
                       {"read_ceiling_bytes_per_s", read_ceiling_bytes_per_s},
                       {"coverage", coverage},
                       {"problems", std::move(all)}};
  // A compiler log cut in the middle of a character must not cost the whole recording.
  const std::string text = base::dump_json_replacing(object) + "\n";
  base::write_file_atomic(path, is_compressed(path) ? base::compress(text) : text);
}

}  // namespace attune::session
