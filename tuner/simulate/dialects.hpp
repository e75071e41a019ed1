#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/spec/value.hpp"

// The formats of recorded spaces, one file each: a document to the configurations in it. For recorded_space.cpp.
namespace attune::simulate {

/// What came of a configuration: a time or another cost, or why there is none.
struct RecordedCost {
  std::optional<double> cost;
  std::string failure;
};

/// What a file tells of a configuration besides what came of it. Times in milliseconds, shares of 1; 0 and empty: it does not say.
struct RecordedFacts {
  std::string failure;  ///< the format's word for why there is no time: "compile", "InvalidConfig"; empty where there is one
  std::string outcome;  ///< attune's word for that, in what attune exported
  std::string detail;   ///< likewise, in a sentence
  double low_ms = 0, high_ms = 0, min_ms = 0;
  std::int64_t samples = 0;
  double compile_ms = 0;
  std::string timestamp;
  std::string unit;  ///< of the cost
};

struct RecordedEntry {
  std::vector<spec::Value> values;  ///< by parameter
  RecordedCost result;
  RecordedFacts facts = {};
  std::string place = {};  ///< in the file: "results[3]"
};

/// One space as it stands in a file.
struct RecordedEntries {
  std::string label;
  std::vector<std::string> names;  ///< of the parameters
  std::vector<RecordedEntry> entries;
  std::string format = {};                                    ///< "Kernel Tuner cache", "T4 results"; empty of attune's recordings
  std::string device_name = {};                               ///< empty: the file does not say
  std::string objective = {};                                 ///< what the costs are: "time"
  std::string template_name = {}, problem = {}, policy = {};  ///< of what attune exported; empty elsewhere
};

/// What another tuner's file holds, and what errors about it begin and end with.
/// Throws: as read_recorded_spaces (recorded_space.hpp); SpecError where the file is a recording of attune.
[[nodiscard]] RecordedEntries read_foreign_entries(const std::filesystem::path& path);
/// Throws: SpecError "failed reading the recorded space: <why>" naming the file.
[[noreturn]] void refuse_space(const std::string& path, const std::string& why);

/// What stands where a cost belongs. A number from 0 to 1e19, both excluded, is one: tuners write 1e20 for what failed. Else it is why
/// there is none: a text, {"__error__": text}, or anything.
[[nodiscard]] RecordedCost recorded_cost(const nlohmann::json& value);
/// The facts that attune writes beside a result, under names that begin with "attune_". `find`: the value of that name, or null.
[[nodiscard]] RecordedFacts exported_facts(const std::function<const nlohmann::json*(const char*)>& find);
/// What attune says there of the whole: the member "attune" of `holder`, where there is one. Fills in what the format left empty.
void read_about(const nlohmann::json& holder, RecordedEntries& found);
/// A number, a text or a bool. Throws: Error naming the parameter.
[[nodiscard]] spec::Value recorded_value(const nlohmann::json& value, const std::string& parameter);
/// Throws: Error when there is none, or one is there twice.
void check_names(const std::vector<std::string>& names);

/// JSON as Python writes it, and as a tuner leaves it that was interrupted. Every NaN and Infinity, which Python writes and JSON does not
/// know, becomes an empty text, which is no cost either; nothing else moves, so that places in the text stay what they are. A cache of
/// Kernel Tuner that ends after one of its entries, where the tuner would go on writing, gets the braces that it lacks; a text that
/// ends elsewhere is damaged and stays so.
[[nodiscard]] std::string completed_json(std::string text);

/// Throw: Error naming the entry and what is wrong with it.
[[nodiscard]] RecordedEntries kernel_tuner_entries(const nlohmann::json& document);
[[nodiscard]] RecordedEntries t4_entries(const nlohmann::json& document);
/// Throws: SpecError naming `path` (session::Recording).
[[nodiscard]] std::vector<RecordedEntries> own_entries(const std::string& text, const std::string& path);

}  // namespace attune::simulate
