// "setup" and "check" of a template, and the buffers that are there for them.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/template_parser.hpp"
#include "tuner/spec/untimed_steps.hpp"

namespace attune::spec {

void TemplateParser::read_output_role(const ObjectReader& reader, BufferSpec& buffer) {
  if (const JsonNode* output = reader.find("output")) {
    buffer.of_check = output->is_string() && output->string("\"output\"") == "check";
    if (!buffer.of_check && !output->is_bool())
      fail(output->position, fmt::format("\"output\" must be true, false or \"check\", not {}", output->describe()));
    buffer.output = buffer.of_check || output->boolean("\"output\"");
  }
  if (const JsonNode* compare = reader.find("compare")) {
    buffer.compared = compare->boolean("\"compare\"");
    if (!buffer.output) fail(compare->position, fmt::format("\"compare\" is of outputs alone; remove it from {}", reader.what()));
    if (buffer.of_check && !buffer.compared)
      fail(compare->position, fmt::format("{} is what check steps write to be compared; remove \"compare\"", reader.what()));
  }
  if (const JsonNode* prepared = reader.find("prepared")) buffer.prepared = prepared->boolean("\"prepared\"");
}

void TemplateParser::check_prepared(const ObjectReader& reader, const JsonNode& node, const BufferSpec& buffer) const {
  if (buffer.of_check && buffer.input)
    fail(node.position, fmt::format("{} is written by check steps alone; remove \"input\", or make it \"output\": true", reader.what()));
  if (!buffer.prepared) return;
  if (buffer.input || buffer.output || buffer.workspace) {
    fail(reader.find("prepared")->position,
         fmt::format("{} is \"prepared\", so that setup writes it; it cannot be input, output or workspace as well", reader.what()));
  }
  if (const JsonNode* fill = reader.find("fill"))
    fail(fill->position, fmt::format("{} is \"prepared\", so that setup writes it; remove \"fill\"", reader.what()));
}

void TemplateParser::check_memset(const BufferSpec& buffer, const SourcePosition& position) const {
  check_use(buffer, position);
  if (buffer.workspace) return;
  if (steps_of_ == StepsOf::Setup) {
    if (!buffer.prepared)
      fail(position, fmt::format("setup would overwrite the input '{}'; name a prepared buffer or a workspace", buffer.name));
  } else if (steps_of_ == StepsOf::Reference && !buffer.compared) {
    fail(position,
         fmt::format("the output '{}' is not compared, so that the reference need not set it; remove the memset step", buffer.name));
  } else if (!buffer.output) {
    fail(position, fmt::format("a memset step would overwrite the {} '{}'; name an output or a workspace",
                               buffer.prepared ? "prepared buffer" : "input", buffer.name));
  }
}

void TemplateParser::check_use(const BufferSpec& buffer, const SourcePosition& position) const {
  if (steps_of_ == StepsOf::Launches && buffer.of_check)
    fail(position, fmt::format("'{}' is an output of \"check\" alone, which launches do not have; remove it here, or make it "
                               "\"output\": true",
                               buffer.name));
  if (steps_of_ == StepsOf::Setup && buffer.output && !buffer.input)
    fail(position, fmt::format("setup runs before there is an output '{}'; name inputs, prepared buffers and workspaces", buffer.name));
  if (steps_of_ == StepsOf::Setup && (buffer.output || buffer.may_change))
    fail(position,
         fmt::format("setup could write to '{}', which launches update, and nothing would notice; let it read an input that nothing "
                     "changes",
                     buffer.name));
  if (steps_of_ != StepsOf::Reference) return;
  if (buffer.prepared)
    fail(position, fmt::format("the reference does not have what setup prepares, '{}'; let it read the inputs", buffer.name));
  if (buffer.output && !buffer.compared && !buffer.input)
    fail(position, fmt::format("the output '{}' is not compared, so that the reference need not write it; remove it here", buffer.name));
}

void TemplateParser::check_dependent(const SourcePosition& position) const {
  if (steps_of_ == StepsOf::Setup || steps_of_ == StepsOf::Check)
    fail(position, "only launches that are timed are \"dependent\"; remove it from the step of \"setup\" or \"check\"");
}

void TemplateParser::read_untimed(const ObjectReader& top) {
  const JsonNode* const setup = top.find("setup");
  const JsonNode* const check = top.find("check");
  if (setup != nullptr) {
    steps_of_ = StepsOf::Setup;
    kernel_.setup = read_steps(*setup, "setup");
    kernel_.setup_is_shared = !depends_on_parameters(kernel_, kernel_.setup);
  }
  if (check != nullptr) {
    steps_of_ = StepsOf::Check;
    kernel_.check = read_steps(*check, "check");
  }
  steps_of_ = StepsOf::Launches;
  for (BufferSpec& buffer : kernel_.buffers) check_untimed(buffer);
  const auto any = [&](auto is) { return std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), is); };
  if (setup != nullptr && !any([](const BufferSpec& buffer) { return buffer.prepared; }))
    fail(setup->position, R"("setup" has no buffer to write; mark one with "prepared": true, or remove "setup")");
  const auto checked = [&](const BufferSpec& b) { return b.output && b.compared && names_buffer(kernel_.check, b.name); };
  if (check != nullptr && !any(checked))
    fail(check->position, R"("check" names no output that is compared; let it write one with "output": "check", or remove it)");
}

void TemplateParser::check_untimed(BufferSpec& buffer) const {
  const bool in_setup = names_buffer(kernel_.setup, buffer.name), in_check = names_buffer(kernel_.check, buffer.name);
  buffer.untimed = (in_setup || in_check) && !names_buffer(kernel_.steps, buffer.name);
  const auto refuse = [&](const char* why) { fail(names_.position(buffer.name), fmt::format("the buffer '{}' {}", buffer.name, why)); };
  if (buffer.prepared && kernel_.setup.empty())
    refuse(R"(is "prepared", and nothing writes it; add "setup": [{"kernel": ...}], or make it an input)");
  if (buffer.prepared && !in_setup) refuse(R"(is "prepared", and no step of "setup" writes it; name it there, or remove it)");
  if (buffer.prepared && depends_on_parameters(kernel_, buffer.count))
    fail(buffer.count.position(),
         fmt::format("the count of the prepared buffer '{}' depends on a parameter, so that it would be another for "
                     "another configuration; count the most that any needs, by sizes",
                     buffer.name));
  if (buffer.of_check && !in_check)
    refuse(R"(is an output of "check", which has no step that writes it; add one: "check": [{"kernel": ...}])");
  if (!buffer.compared && !in_check)
    refuse(R"(is neither compared nor read by a step of "check", so that nothing would be verified of it; remove "compare")");
}

}  // namespace attune::spec
