#include "tuner/spec/variant_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/condition.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/json_document.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

constexpr std::int64_t kLadderFormat = 1;

const std::string& read_text(const JsonNode& node, const std::string& what) {
  const std::string& text = node.string(what);
  if (text.empty()) fail(node.position, fmt::format("{} is empty", what));
  return text;
}

PublishedFigure read_figure(const JsonNode& node, const std::string& rung) {
  const std::string what = fmt::format("a published figure of the rung '{}'", rung);
  const ObjectReader reader(node, what, {"text", "hardware", "source"});
  constexpr const char* kRemedy = "a figure is shown with its hardware and where it was published, or not at all";
  return {read_text(reader.require("text", kRemedy), "the text of " + what),
          read_text(reader.require("hardware", kRemedy), "the hardware of " + what),
          read_text(reader.require("source", kRemedy), "the source of " + what)};
}

Rung read_rung(const KernelTemplate& kernel, const JsonNode& node) {
  const ObjectReader reader(node, "a rung", {"name", "why", "where", "sample", "published"});
  Rung rung;
  rung.name = read_text(reader.require("name", "give the rung a name"), "the name of a rung");
  const std::string what = fmt::format("the rung '{}'", rung.name);
  rung.why = read_text(reader.require("why", "say in one sentence what the variant is good for"), "\"why\" of " + what);
  const JsonNode& where = reader.require("where", "say which configurations are this variant; \"True\" for all of them");
  static_cast<void>(read_text(where, "\"where\" of " + what));
  rung.where = parse_condition(kernel, where.string("\"where\""), where.inside());
  if (const JsonNode* sample = reader.find("sample")) {
    const std::int64_t count = sample->integer("\"sample\" of " + what);
    if (count < 1)
      fail(sample->position,
           fmt::format("\"sample\" of {} is {}; give a number of configurations from 1 up, or leave it out", what, count));
    rung.sample = static_cast<std::uint64_t>(count);
  }
  if (const JsonNode* published = reader.find("published")) {
    for (const JsonNode& figure : published->array("\"published\" of " + what)) rung.published.push_back(read_figure(figure, rung.name));
  }
  return rung;
}

void read_rungs(const KernelTemplate& kernel, const JsonNode& node, VariantLadder& ladder) {
  for (const JsonNode& item : node.array("\"rungs\"")) {
    if (ladder.rungs.size() == kMostRungs) fail(item.position, fmt::format("there are more than {} rungs", kMostRungs));
    Rung rung = read_rung(kernel, item);
    const bool taken = std::any_of(ladder.rungs.begin(), ladder.rungs.end(), [&](const Rung& other) { return other.name == rung.name; });
    if (taken) fail(item.position, fmt::format("there are two rungs '{}'; rename one of them", rung.name));
    ladder.rungs.push_back(std::move(rung));
  }
  if (ladder.rungs.empty()) fail(node.position, "\"rungs\" is empty; give at least one");
}

void read_defaults(const KernelTemplate& kernel, const JsonNode& node, VariantLadder& ladder) {
  std::vector<std::string> known;
  for (const auto& axis : kernel.problem) {
    if (axis.kind == AxisKind::Type || axis.kind == AxisKind::Choice) known.push_back(axis.name);
  }
  for (const JsonNode::Member& member : node.object("\"defaults\"")) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      fail(member.position,
           fmt::format("\"defaults\" names '{}', which is no type or choice of the template{}", member.key, hint(member.key, known)));
    }
    const std::string& value = member.value.string(fmt::format("the default of '{}'", member.key));
    const auto& values = kernel.axis(member.key)->values;
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      fail(member.value.position, fmt::format("the default '{}' of '{}' is not among its values: {}", value, member.key, joined(values)));
    }
    ladder.defaults[member.key] = value;
  }
}

void read_tables(const KernelTemplate& kernel, const JsonNode& node, VariantLadder& ladder) {
  std::vector<std::string> known;
  for (const auto& parameter : kernel.parameters) known.push_back(parameter.name);
  for (const JsonNode& item : node.array("\"tables\"")) {
    const std::string& name = item.string("each of \"tables\"");
    if (kernel.parameter(name) == nullptr) {
      fail(item.position, fmt::format("\"tables\" names '{}', which is no parameter of the template{}", name, hint(name, known)));
    }
    ladder.tables.push_back(name);
  }
}

}  // namespace

VariantLadder VariantLadder::parse(const KernelTemplate& kernel, const std::string& text, const std::string& path) {
  const JsonNode root = JsonNode::parse(text, path);
  const ObjectReader top(root, "the ladder", {"attune_ladder", "summary", "defaults", "tables", "rungs"});
  const JsonNode& format = top.require("attune_ladder", R"(begin with "attune_ladder": 1, the version of the format)");
  if (format.integer("the format version") != kLadderFormat) {
    fail(format.position,
         fmt::format("format version {} is not known to this build, which reads {}", format.integer("the format version"), kLadderFormat));
  }
  VariantLadder ladder;
  if (const JsonNode* summary = top.find("summary")) ladder.summary = summary->string("the summary");
  if (const JsonNode* defaults = top.find("defaults")) read_defaults(kernel, *defaults, ladder);
  if (const JsonNode* tables = top.find("tables")) read_tables(kernel, *tables, ladder);
  read_rungs(kernel, top.require("rungs", "say which variants there are"), ladder);
  return ladder;
}

std::optional<VariantLadder> VariantLadder::of(const KernelTemplate& kernel) {
  if (kernel.ladder_path.empty()) return std::nullopt;
  return parse(kernel, kernel.ladder_text, kernel.ladder_path);
}

}  // namespace attune::spec
