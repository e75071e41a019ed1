#include "tuner/spec/reference_data_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/name_table.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

constexpr std::size_t kOfEveryProblem = 2;  // integers and random
constexpr std::size_t kMost = 64;

DataSetSpec read_data_set(const JsonNode::Member& member) {
  check_identifier(member.key, "the data set", member.position);
  const ObjectReader reader(member.value, fmt::format("the data set '{}'", member.key), {"values", "alters", "cases", "if", "when"});
  DataSetSpec set;
  set.name = member.key;
  if (const JsonNode* values = reader.find("values"))
    set.values = static_cast<DataValues>(read_word(*values, "\"values\"", data_values_names()));
  if (const JsonNode* altered = reader.find("alters")) {
    set.alters = altered->string("\"alters\"");
    if (const JsonNode* values = reader.find("values"))
      fail(values->position, fmt::format("'{}' has the values of what it alters; remove \"values\"", set.name));
  }
  if (const JsonNode* cases = reader.find("cases")) set.asked_only = read_word(*cases, "\"cases\"", {"all", "asked"}) == 1;
  if (const JsonNode* when = reader.find("when")) {
    set.when = when->string("\"when\"");
    if (set.when.find_first_of("\n\r") != std::string::npos) fail(when->position, "\"when\" ends a sentence: it is one line");
  }
  return set;
}

}  // namespace

const std::vector<std::string>& data_values_names() {
  static const std::vector<std::string> names = {"small_integers", "random", "uniform", "zeros", "ones", "all_bits"};
  return names;
}

std::vector<DataSetSpec> read_data_sets(const JsonNode* node) {
  std::vector<DataSetSpec> sets;
  if (node == nullptr) {
    sets.resize(kOfEveryProblem);
    sets[0].name = "integers";
    sets[0].values = DataValues::SmallIntegers;
    sets[1].name = "random";
    return sets;
  }
  std::map<std::string, std::string> numbers;
  for (const JsonNode::Member& member : node->object("\"data_sets\"")) {
    sets.push_back(read_data_set(member));
    const auto [at, fresh] = numbers.emplace(flag_name("ATTUNE_", "data", member.key), member.key);
    if (!fresh) fail(member.position, fmt::format("'{}' and '{}' both become {}; rename one of them", at->second, member.key, at->first));
  }
  if (sets.size() > kMost) fail(node->position, fmt::format("{} data sets are more than {}", sets.size(), kMost));
  if (sets.size() < kOfEveryProblem || sets[0].name != "integers" || sets[1].name != "random")
    fail(node->position, R"("data_sets" begins with "integers", of exact results, and "random", which is timed)");
  for (std::size_t i = 0; i < kOfEveryProblem; ++i) {
    for (const char* key : {"alters", "if", "cases"}) {
      if (const JsonNode* there = node->members[i].value.find(key))
        fail(there->position, fmt::format("every problem is verified with '{}' in every case; remove \"{}\", or name another data set",
                                          node->members[i].key, key));
    }
  }
  return sets;
}

const DataSetSpec& find_data_set(const std::vector<DataSetSpec>& sets, const std::string& name, const SourcePosition& position) {
  const auto found = std::find_if(sets.begin(), sets.end(), [&](const DataSetSpec& set) { return set.name == name; });
  if (found != sets.end()) return *found;
  std::vector<std::string> known;
  for (const DataSetSpec& set : sets) known.push_back(set.name);
  fail(position, fmt::format("'{}' is no data set{}", name, hint(name, known)));
}

void check_alterations(const ReferenceDefinition& reference, const JsonNode* node, const JsonNode* alter) {
  bool any = false;
  for (std::size_t i = 0; i < reference.data_sets.size(); ++i) {
    const DataSetSpec& set = reference.data_sets[i];
    if (set.alters.empty()) continue;
    any = true;
    const JsonNode& member = node->members[i].value;
    const SourcePosition& position = member.find("alters")->position;
    const DataSetSpec& base = find_data_set(reference.data_sets, set.alters, position);
    if (!base.alters.empty())
      fail(position, fmt::format("'{}' alters itself or what is altered already; alter one that is filled", set.name));
    if (base.asked_only && !set.asked_only)
      fail(position, fmt::format("'{}' alters '{}', which only the asked case has; give it \"cases\": \"asked\" too", set.name, base.name));
    if (alter == nullptr)
      fail(member.position, fmt::format("the data set '{}' alters another; say by which kernel: \"alter\": {{...}}", set.name));
  }
  if (alter != nullptr && !any)
    fail(alter->position, R"(no data set alters another, so that "alter" is for nothing; remove it, or give a data set "alters")");
}

}  // namespace attune::spec
