// Untimed steps in front of the launches and behind them: who may name what, who runs them, and what a program still passes.
#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/launch_identity.hpp"
#include "tuner/spec/untimed_steps.hpp"

namespace test_setup_and_check {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

constexpr const char* kPacked = R"json({
  "attune": 1, "name": "packed", "sources": ["sample.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {
    "block_size": {"values": [64, 128], "default": 64},
    "waves": {"values": [1, 2, 4], "default": 1, "bind": "launch"}
  },
  "let": {"threads": "block_size * 2", "blocks": "ceil_div(n, 256)", "most": "waves + 1"},
  "buffers": {
    "in": {"type": "f32", "count": "n"},
    "x": {"type": "f32", "count": "n"},
    "both": {"type": "f32", "count": "n", "input": true, "output": true},
    "packed": {"type": "f32", "count": "n", "prepared": true, "align": 16},
    "parts": {"type": "f32", "count": "4 * n", "output": true, "compare": false},
    "y": {"type": "f32", "count": "n", "output": "check"},
    "shared_scratch": {"type": "f32", "count": "8", "workspace": {"init": "zero_each"}},
    "setup_scratch": {"type": "f32", "count": "16", "workspace": true},
    "check_scratch": {"type": "f32", "count": "32", "workspace": {"init": "zero_each"}}
  },
  "setup": [
    {"memset": "packed", "byte": 0},
    {"kernel": "pack", "grid": "blocks", "block": 256, "args": ["in", "packed", "setup_scratch", "n"]}
  ],
  "launches": [
    {"kernel": "work", "grid": "blocks", "block": "block_size", "args": ["packed", "x", "both", "parts", "shared_scratch", "n"]}
  ],
  "check": [
    {"kernel": "add", "grid": "blocks", "block": 256, "args": ["parts", "y", "shared_scratch", "check_scratch"]}
  ],
  "reference": {"launches": [{"kernel": "plain", "grid": 1, "block": 1, "args": ["in", "x", "both", "y"]}]}
})json";

KernelTemplate packed(const std::string& from = "", const std::string& to = "") {
  return parse_sample(from.empty() ? kPacked : replaced(kPacked, from, to));
}

std::string packed_error(const std::string& from, const std::string& to) {
  return error_of([&] { static_cast<void>(packed(from, to)); });
}

const DeviceInfo& h100() {
  static const DeviceInfo info = DeviceInfo::of_architecture("sm_90");
  return info;
}

const Problem kProblem{{}, {{"n", 1000}}};

Configuration packed_configuration(const KernelTemplate& kernel, int block_size, int waves) {
  return configuration_from_text(kernel, R"({"block_size":)" + std::to_string(block_size) + R"(,"waves":)" + std::to_string(waves) + "}");
}

const ResolvedBuffer& buffer_of(const LaunchPlan& plan, const std::string& name) {
  for (const auto& buffer : plan.buffers)
    if (buffer.name == name) return buffer;
  throw Error("the test's template has no buffer " + name);
}

}  // namespace

TEST_CASE("setup and check are read as launches are, and buffers say what they are to them") {
  const auto kernel = packed();
  CHECK(kernel.setup.size() == 2);
  CHECK(kernel.check.size() == 1);
  CHECK(kernel.steps.size() == 1);
  CHECK(kernel.setup_is_shared);
  const auto& buffers = kernel.buffers;
  CHECK((buffers[3].prepared && !buffers[3].input && !buffers[3].output && !buffers[3].workspace));
  CHECK((buffers[4].output && !buffers[4].compared && !buffers[4].of_check));
  CHECK((buffers[5].output && buffers[5].compared && buffers[5].of_check));
}

TEST_CASE("what only setup or check names is no affair of the launches") {
  const auto kernel = packed();
  std::string untimed;
  for (const auto& buffer : kernel.buffers)
    if (buffer.untimed) untimed += buffer.name + " ";
  CHECK(untimed == "in y setup_scratch check_scratch ");
  const LaunchPlan plan = resolve(kernel, kProblem, default_configuration(kernel), h100());
  CHECK(plan.steps.size() == 1);
  CHECK(buffer_of(plan, "shared_scratch").bytes == 32);
  CHECK(buffer_of(plan, "setup_scratch").bytes == 0);
  CHECK(buffer_of(plan, "check_scratch").bytes == 0);
  CHECK(buffer_of(plan, "y").untimed);
  CHECK_FALSE(buffer_of(plan, "packed").untimed);
}

TEST_CASE("setup has scratch of its own; check has that of the launches, as they left it, and its own") {
  const auto kernel = packed();
  const auto own = [](const LaunchPlan& plan) {
    std::string names;
    for (const auto& buffer : plan.buffers)
      if (buffer.workspace) names += buffer.name + " ";
    return names;
  };
  const LaunchPlan setup = resolve_setup(kernel, kProblem, default_configuration(kernel), h100());
  const LaunchPlan check = resolve_check(kernel, kProblem, default_configuration(kernel), h100());
  CHECK(setup.steps.size() == 2);
  CHECK(own(setup) == "setup_scratch ");
  CHECK(launches_of(check).front()->kernel == "add");
  CHECK(own(check) == "check_scratch ");
}

TEST_CASE("setup is shared unless it names a parameter, by whatever way") {
  for (const auto& [from, to] :
       {std::pair{R"("grid": "blocks", "block": 256, "args": ["in")", R"("grid": "blocks", "block": "block_size", "args": ["in")"},
        {R"("grid": "blocks", "block": 256, "args": ["in")", R"text("grid": "min(blocks, threads)", "block": 256, "args": ["in")text"},
        {R"("setup_scratch", "n"])", R"("setup_scratch", "n", "waves"])"},
        {R"("setup_scratch", "n"])", R"("setup_scratch", "n", {"most": "u32"}])"},
        {R"("byte": 0})", R"("byte": 0, "if": "waves > 1"})"},
        {R"("kernel": "pack")", R"("kernel": "pack<block_size>")"},
        {R"("kernel": "pack",)", R"("kernel": "pack", "shared": "threads",)"},
        {R"("kernel": "pack",)", R"("kernel": "pack", "repeat": {"count": "waves", "index": "i"},)"},
        {R"("count": "16")", R"("count": "16 * waves")"}}) {
    CAPTURE(to);
    CHECK_FALSE(packed(from, to).setup_is_shared);
  }
  CHECK(packed(R"("kernel": "pack",)", R"("kernel": "pack", "repeat": {"count": "blocks", "index": "i"},)").setup_is_shared);
  CHECK(packed(R"("kernel": "add")", R"("kernel": "add<block_size>")").setup_is_shared);  // check is nobody's but the configuration's
}

TEST_CASE("configurations are one launch only where their own setup and check are the same too") {
  const auto same = [](const KernelTemplate& kernel) {
    return key_of(kernel, kProblem, packed_configuration(kernel, 64, 1), h100()) ==
           key_of(kernel, kProblem, packed_configuration(kernel, 64, 4), h100());
  };
  CHECK(same(packed()));
  CHECK_FALSE(same(packed(R"("setup_scratch", "n"])", R"("setup_scratch", "n", "waves"])")));
  CHECK_FALSE(same(packed(R"("y", "shared_scratch", "check_scratch"])", R"("y", "shared_scratch", "check_scratch", "waves"])")));
}

TEST_CASE("kernel templates of setup and check are instantiated at the end of the source") {
  const auto kernel = packed(R"("kernel": "add")", R"("kernel": "add<block_size>")");
  const std::string source = make_source(kernel, kProblem, packed_configuration(kernel, 128, 1), h100());
  CHECK(contains(source, "template __global__ decltype(add<128>) add<128>;"));
}

TEST_CASE("a launch of setup or check that the device cannot make says which of the two it is") {
  const auto error = [](const KernelTemplate& kernel, auto resolve_untimed) {
    CHECK_NOTHROW((void)resolve(kernel, kProblem, default_configuration(kernel), h100()));
    CHECK_THROWS_AS((void)resolve_untimed(kernel, kProblem, default_configuration(kernel), h100()), LimitError);
    CHECK_FALSE(key_of(kernel, kProblem, default_configuration(kernel), h100()).has_value());
    return error_of([&] { (void)resolve_untimed(kernel, kProblem, default_configuration(kernel), h100()); });
  };
  const std::string large = R"("block": "block_size * 32", "args": [)";
  CHECK(contains(error(packed(R"("block": 256, "args": ["in")", large + R"("in")"), resolve_setup), "setup: block.x of 2048 exceeds"));
  CHECK(
      contains(error(packed(R"("block": 256, "args": ["parts")", large + R"("parts")"), resolve_check), "check: block.x of 2048 exceeds"));
}

TEST_CASE("a step may only name and set what is there for its kind, and is told so with its place") {
  const auto check = [](const std::string& from, const std::string& to, const std::string& message) {
    CAPTURE(to);
    const std::string error = packed_error(from, to);
    CHECK_MESSAGE(contains(error, message), error);
    CHECK_MESSAGE(error.starts_with("t.json:"), error);
  };
  check(R"("memset": "packed")", R"("memset": "in")", "setup would overwrite the input 'in'; name a prepared buffer or a workspace");
  check(R"("memset": "packed")", R"("memset": "parts")", "setup runs before there is an output 'parts'");
  check(R"("args": ["in", "packed")", R"("args": ["y", "packed")", "setup runs before there is an output 'y'");
  check(R"("args": ["in", "packed")", R"("args": ["both", "packed")",
        "setup could write to 'both', which launches update, and nothing would notice; let it read an input that nothing changes");
  check(R"("memset": "packed")", R"("memset": "both")", "setup could write to 'both'");
  check(R"("in": {"type": "f32", "count": "n"})", R"("in": {"type": "f32", "count": "n", "may_change": true})",
        "setup could write to 'in'");
  check(R"("args": ["in", "packed")", R"("args": ["in", "packd")", "the argument 'packd' is nothing known; did you mean 'packed'?");
  check(R"("args": ["packed", "x")", R"("args": ["packed", "y")", "'y' is an output of \"check\" alone, which launches do not have");
  check(R"("launches": [)", R"("launches": [{"memset": "packed", "byte": 0},)",
        "a memset step would overwrite the prepared buffer 'packed'");
  check(R"("check": [)", R"("check": [{"memset": "in", "byte": 0},)", "a memset step would overwrite the input 'in'");
  check(R"("kernel": "pack",)", R"("kernel": "pack", "dependent": true,)", "only launches that are timed are \"dependent\"");
  check(R"("kernel": "add",)", R"("kernel": "add", "dependent": true,)", "only launches that are timed are \"dependent\"");
  check(R"("args": ["in", "x", "both", "y"])", R"("args": ["packed", "x", "both", "y"])",
        "the reference does not have what setup prepares, 'packed'; let it read the inputs");
  check(R"("args": ["in", "x", "both", "y"])", R"("args": ["in", "x", "parts", "y"])", "the output 'parts' is not compared");
  check(R"("setup": [)", R"("setup": [], "stup": [)", "unknown key 'stup' in the template; did you mean 'setup'?");
}

TEST_CASE("buffers that contradict themselves, setup or check are refused with a remedy") {
  const auto check = [](const std::string& from, const std::string& to, const std::string& message) {
    CAPTURE(to);
    const std::string error = packed_error(from, to);
    CHECK_MESSAGE(contains(error, message), error);
    CHECK_MESSAGE(error.starts_with("t.json:"), error);
  };
  const std::string prepared = R"("prepared": true, "align": 16)";
  check(prepared, R"("prepared": true, "fill": "ones")", "the buffer 'packed' is \"prepared\", so that setup writes it; remove \"fill\"");
  check(prepared, R"("prepared": true, "input": true)", "it cannot be input, output or workspace as well");
  check(prepared, R"("prepared": true, "output": true)", "it cannot be input, output or workspace as well");
  check(prepared, R"("prepared": true, "workspace": true)", "it cannot be input, output or workspace as well");
  check(prepared, R"("prepared": true, "memory": "constant")", "is written by kernels and cannot be constant memory");
  check(prepared, R"("prepared": true, "may_change": true)", "\"may_change\" is of inputs alone");
  check(prepared, R"("prepared": 1)", "must be true or false");
  for (const char* const count : {"16 * waves", "n + threads"}) {
    const std::string other = replaced(R"("packed": {"type": "f32", "count": "N", "prepared")", "N", count);
    check(R"("packed": {"type": "f32", "count": "n", "prepared")", other,
          "the count of the prepared buffer 'packed' depends on a parameter, so that it would be another for another configuration");
  }
  check(R"("output": "check")", R"("output": "chek")", "\"output\" must be true, false or \"check\", not ");
  check(R"("output": "check")", R"("output": "check", "compare": false)", "remove \"compare\"");
  check(R"("output": "check")", R"("output": "check", "input": true)", "is written by check steps alone; remove \"input\"");
  check(R"("x": {"type": "f32", "count": "n"})", R"("x": {"type": "f32", "count": "n", "compare": false})",
        "\"compare\" is of outputs alone");
  check(R"("args": ["parts", "y",)", R"("args": ["both", "y",)", "the buffer 'parts' is neither compared nor read by a step of \"check\"");
}

TEST_CASE("setup, check and the buffers that are there for them need each other") {
  const std::string all = kPacked;
  const auto without = [&](const std::string& begin, const std::string& end) {
    const std::size_t from = all.find(begin), to = all.find(end);
    return error_of([&] { static_cast<void>(parse_sample(all.substr(0, from) + all.substr(to))); });
  };
  CHECK(
      contains(without(R"("setup": [)", R"("launches": [)"), "the buffer 'packed' is \"prepared\", and nothing writes it; add \"setup\""));
  CHECK(contains(without(R"("check": [)", R"("reference")"), "the buffer 'parts' is neither compared nor read by a step of \"check\""));
  CHECK(contains(packed_error(R"("prepared": true, )", ""), "setup would overwrite the input 'packed'"));
  CHECK(contains(error_of([&] {
                   static_cast<void>(
                       parse_sample(replaced(replaced(kPacked, R"("prepared": true, )", ""), R"({"memset": "packed", "byte": 0},)", "")));
                 }),
                 "\"setup\" has no buffer to write; mark one with \"prepared\": true"));
  CHECK(contains(error_of([&] {
                   static_cast<void>(
                       parse_sample(replaced(replaced(kPacked, R"({"memset": "packed", "byte": 0},)", ""),
                                             R"(["in", "packed", "setup_scratch", "n"])", R"(["in", "setup_scratch", "n"])")));
                 }),
                 "the buffer 'packed' is \"prepared\", and no step of \"setup\" writes it"));
  CHECK(contains(packed_error(R"(["parts", "y", "shared_scratch", "check_scratch"])", R"(["parts", "shared_scratch"])"),
                 "the buffer 'y' is an output of \"check\", which has no step that writes it"));
  const std::string plain = replaced(replaced(kPacked, R"("output": "check")", R"("output": true)"),
                                     R"(["parts", "y", "shared_scratch", "check_scratch"])", R"(["parts", "check_scratch"])");
  CHECK(contains(error_of([&] { static_cast<void>(parse_sample(plain)); }), "\"check\" names no output that is compared"));
  CHECK(contains(sample_error(R"("output": true})", R"("output": true, "compare": false})"), "no output is compared"));
}

TEST_CASE("launches of a reference may read a buffer that is updated and not compared, and not set it") {
  const std::string both = R"("both": {"type": "f32", "count": "n", "input": true, "output": true)";
  const std::string uncompared = replaced(replaced(kPacked, both, both + R"(, "compare": false)"), R"(["parts", "y", "shared_scratch")",
                                          R"(["parts", "both", "y", "shared_scratch")");
  CHECK_NOTHROW(static_cast<void>(parse_sample(uncompared)));
  const std::string set =
      replaced(uncompared, R"("reference": {"launches": [)", R"("reference": {"launches": [{"memset": "both", "byte": 0},)");
  CHECK(contains(error_of([&] { static_cast<void>(parse_sample(set)); }),
                 "the output 'both' is not compared, so that the reference need not set it; remove the memset step"));
}

TEST_CASE("what setup prepares is no input of a reference, and what is not compared no output of it") {
  const std::string text =
      replaced(replaced(kPacked, R"("problem": {"n")", R"("problem": {"T": {"type": ["f32"]}, "op": {"choice": ["sum"]}, "n")"),
               R"("both": {"type": "f32", "count": "n", "input": true, "output": true},)", "");
  const std::string counted = replaced(replaced(text, R"("x", "both", "parts")", R"("x", "parts")"), R"("y": {"type": "f32", "count": "n")",
                                       R"("y": {"type": "f32", "count": "1")");
  const std::string one_input =
      replaced(replaced(counted, R"("x": {"type": "f32", "count": "n"},)", ""), R"("packed", "x", "parts")", R"("packed", "parts")");
  const std::size_t reference = one_input.find(R"("reference")");
  const auto kernel = parse_sample(one_input.substr(0, reference) + R"("reference": {"builtin": "reduce"}})");
  CHECK(kernel.reference.inputs.front() == 0);
  CHECK(kernel.buffers[static_cast<std::size_t>(kernel.reference.outputs.front())].name == "y");
}

}  // namespace test_setup_and_check
