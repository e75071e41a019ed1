#include <doctest/doctest.h>

#include <algorithm>

#include "spec_support.hpp"

namespace test_template_errors {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

struct BadPart {
  const char* from;
  const char* to;
  const char* message;
};

/// Replaces a part of the valid sample and expects the message, with the line and column of the part when it is on the
/// line where the part begins.
void check(const std::vector<BadPart>& parts) {
  for (const auto& [from, to, message] : parts) {
    CAPTURE(to);
    const std::string error = sample_error(from, to);
    CHECK_MESSAGE(contains(error, message), error);
    CHECK_MESSAGE(error.starts_with("t.json:"), error);
    const std::string text = sample_template();
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(from)), '\n');
    const int named = std::stoi(error.substr(7));
    CHECK_MESSAGE((named == line || named == 1), error);
  }
}

}  // namespace

TEST_CASE("an error names the file, line and column of the offending value") {
  CHECK(sample_error(R"("default": 128)", R"("default": 100)") ==
        "t.json:12:57: the default 100 of 'block_size' is not among its values (64, 128, 256)");
  CHECK(sample_error("ceil_div(n, tile)", "ceil_div(m, tile)") ==
        "t.json:18:61: unknown variable 'm' in the expression \"clamp(ceil_div(m, tile), 1, device.sm_count * "
        "waves)\"; known: T, op, "
        "n, A, block_size, stage, unroll, waves, tile");
}

TEST_CASE("unknown keys are refused with a suggestion, wherever they stand") {
  check({{R"("constraints")", R"("constraint")", "unknown key 'constraint' in the template; did you mean 'constraints'?"},
         {R"({"type": ["f32")", R"({"typ": ["f32")", "unknown key 'typ' in the problem's 'T'; did you mean 'type'?"},
         {R"({"min": 1})", R"({"minimum": 1})", "unknown key 'minimum' in the size 'n'"},
         {R"("by": "T")", R"("buy": "T")", "unknown key 'buy' in the type alias 'A'; did you mean 'by'?"},
         {R"("default": 128)", R"("defualt": 128)", "did you mean 'default'?"},
         {R"("count": "n")", R"("cuont": "n")", "unknown key 'cuont' in the buffer 'in'; known: type, count"},
         {R"({"init": "zero_once"})", R"({"initial": "zero_once"})", "unknown key 'initial' in \"workspace\""},
         {R"("value": 3)", R"("vlaue": 3)", "unknown key 'vlaue' in the scalar 'alpha'; known: type, value"},
         {R"("byte": 0)", R"("bytes": 0)", "did you mean 'byte'?"},
         {R"("grid": "grid", "block")", R"("grid": "grid", "blocks")", "did you mean 'block'?"},
         {R"("operations": "n")", R"("operation": "n")", "did you mean 'operations'?"}});
}

TEST_CASE("missing parts are refused with a remedy") {
  check({{R"("attune": 1,)", "", "lacks \"attune\"; begin with \"attune\": 1"},
         {R"("name": "sample",)", "", "lacks \"name\""},
         {R"("sources": ["sample.cu"],)", "", "lacks \"sources\""},
         {R"("reference": "none",)", "", "lacks \"reference\""},
         {R"({"values": [64, 128, 256], "default": 128})", R"({"values": [64]})", "the parameter 'block_size' lacks \"default\""},
         {R"({"values": [64, 128, 256], "default": 128})", R"({"default": 64})", "lacks \"values\""},
         {R"("kernel": "main_pass", )", "", "a launch lacks \"kernel\""},
         {R"("grid": "grid", "block": "block_size",)", R"("block": "block_size",)", "a launch lacks \"grid\""},
         {R"(, "args": ["in", "n", "scratch", "out", "alpha"])", "", "a launch lacks \"args\""},
         {R"("type": "T", "count": "n")", R"("type": "T")", "the buffer 'in' lacks \"count\""},
         {R"({"type": "T", "value": 3})", R"({"value": 3})", "the scalar 'alpha' lacks \"type\""},
         {R"("by": "T", )", "", "lacks \"by\""},
         {R"("byte": 0, )", "", "lacks \"byte\""}});
}

TEST_CASE("values of the wrong kind or outside what is allowed are refused") {
  check(
      {{R"("attune": 1)", R"("attune": 2)", "format version 2 is not known to this build, which reads 1"},
       {R"("name": "sample")", R"("name": "my sample")", "is no C identifier"},
       {R"("name": "sample")", R"("name": "sample", "macro_prefix": "1_")", "the macro prefix '1_' is no C identifier"},
       {R"(["f32", "f64", "i8"])", R"(["f32", "float"])", "an element type must be one of i8, u8"},
       {R"(["f32", "f64", "i8"])", "[]", "the types of 'T' are empty"},
       {R"(["sum", "max-abs"])", R"(["sum", "sum"])", "hold 'sum' twice"},
       {R"(["sum", "max-abs"])", R"([""])", "hold an empty string"},
       {R"({"size": {"min": 1}})", R"({"size": {"min": -1}})", "the smallest size is negative"},
       {R"({"size": {"min": 1}})", R"({"size": {"min": 5, "max": 4}})", "has max 4 below min 5"},
       {R"({"size": {"min": 1}})", R"({"size": {}, "choice": ["a"]})", "must be exactly one of"},
       {R"("by": "T")", R"("by": "op")", "follows 'op', which is no type of the problem; known: T"},
       {R"({"i8": "i32"})", R"({"i16": "i32"})", "maps 'i16', which is no value of 'T'; known: f32, f64, i8"},
       {R"({"i8": "i32"})", R"({"i8": "int"})", "the mapped type must be one of"},
       {R"("map": {"i8": "i32"}, "else": "T")", R"("map": {"i8": "i32"})", "says nothing for 'f32'; map it or add \"else\""},
       {R"([64, 128, 256])", "[]", "the values of 'block_size' are empty"},
       {R"([64, 128, 256])", "[64, 128, 64.0]", "hold 64.0 twice"},
       {R"([64, 128, 256])", R"([64, "a"])", "mix kinds"},
       {R"(["two_pass", "atomic"])", R"(["", "atomic"])", "hold an empty string"},
       {R"("bind": "launch")", R"("bind": "source")", "must be one of launch, not 'source'"},
       {R"(["sample.cu"])", "[]", "\"sources\" is empty"},
       {R"(["sample.cu"])", R"(["other.cu"])", "the source file 'other.cu' is missing"},
       {R"(["sample.cu"])", R"(["../sample.cu"])", "must be a path inside the template's folder"},
       {R"(["sample.cu"])", R"(["sample.cu", "sample.cu"])", "is named twice"},
       {R"("work")", R"("options": ["O3"], "work")", "does not begin with '-'"},
       {R"("work")", R"("options": ["-arch=sm_80"], "work")", "is attune's own"},
       {R"("reference": "none")", R"("reference": "some")", "must be one of none"},
       {R"("reference": "none")", R"("reference": {})", "must be one of {\"builtin\""},
       {R"("reference": "none")", R"("reference": {"builtin": "sort"})", "must be one of arg_reduce, histogram, reduce, segmented_reduce"},
       {R"("reference": "none")", R"("reference": {"builtin": "reduce"})",
        "needs the choice 'op' among sum, product, min, max, and, or, xor, custom in \"problem\""},
       {R"("reference": "none")", R"("reference": {"builtin": "reduce", "tolerance": 1})", "derives its own tolerance"},
       {R"("reference": "none")", R"("reference": {"builtin": "segmented_reduce"})",
        "needs the choice 'op' among sum, product, min, max in \"problem\""},
       {R"("block": [32, 2])", R"("block": [])", "\"block\" has 0 dimensions"},
       {R"("block": [32, 2])", R"("block": [1, 1, 1, 1])", "\"block\" has 4 dimensions"},
       {R"("block": [32, 2])", R"("block": {})", "must be an expression in a string, or a number, not an object"},
       {R"("byte": 0)", R"("byte": 256)", "must be 0 to 255"},
       {R"("value": 3)", R"("value": 300)", "the value 300 of the scalar 'alpha' is no i8"},
       {R"("value": 3)", R"("value": 2.5)", "is no i8"}});
}

TEST_CASE("contradictions about buffers are refused") {
  check(
      {{R"("in": {"type": "T")", R"("in": {"type": "U")", "must be one of T, A, i8"},
       {R"("count": "1", "output": true)", R"("count": "1", "output": true, "workspace": true)", "workspace and input or output at once"},
       {R"("count": "n")", R"("count": "n", "input": false)", "neither input, output nor workspace"},
       {R"("count": "1", "output": true)", R"("count": "1", "output": true, "fill": "ones")", "is no input, so nothing fills it"},
       {R"("count": "n")", R"("count": "n", "fill": "zipf")", "must be one of uniform, integers, zeros, ones"},
       {R"("count": "n")", R"("count": "n", "fill": "zipf")", "permutation, {\"file\": ...}, {\"value\": number}"},
       {R"("in": {"type": "T")", R"("in": {"type": "f32x5")", "is no type 'f32x5'; vectors have 2, 3, 4, 8, 16 elements"},
       {R"("count": "1", "output": true)", R"("count": "1", "output": true, "memory": "constant")", "cannot be constant memory"},
       {R"("count": "n")", R"("count": "n", "align": 24)", "must be a power of two up to 256 bytes, not 24"},
       {R"("workspace": {"init": "zero_once"})", R"("workspace": true, "init": "zero_once")", "write \"workspace\": {\"init\": ...}"},
       {R"({"init": "zero_once"})", R"({"init": "zero"})", "must be one of none, zero_once, zero_each"},
       {R"("memset": "out")", R"("memset": "ouch")", "names 'ouch', which is no buffer; known: in, out, scratch"},
       {R"("memset": "out")", R"("memset": "in")", "would overwrite the input 'in'"},
       {R"({"memset": "out", "byte": 0, "if": "stage == 'atomic'"},)",
        R"({"kernel": "first", "grid": 1, "block": 32, "dependent": true, "args": []},)", "the first step has none before it to depend on"},
       {R"("args")", R"("dependent": true, "cooperative": true, "args")", "\"dependent\" or \"cooperative\", not both"}});
}

TEST_CASE("a template without output, and a constant buffer as argument, are refused where that shows") {
  CHECK(sample_error(R"("count": "1", "output": true)", R"("count": "1")").starts_with("t.json:19:14: no buffer is an output"));
  CHECK(sample_error(R"("count": "n")", R"("count": "n", "memory": "constant")") ==
        "t.json:27:77: the buffer 'in' is the __constant__ variable of that name and no argument");
}

TEST_CASE("names mean one thing, and nothing that expressions use already") {
  check({{R"("scratch": {)", R"("grid": {)", "the name 'grid' is taken by the let at line 18"},
         {R"("alpha": {)", R"("in": {)", "the name 'in' is taken by the buffer at line 20"},
         {R"("unroll": {)", R"("op": {)", "the name 'op' is taken by the choice of the problem at line 7"},
         {R"("unroll": {)", R"("device": {)", "means something in expressions already"},
         {R"("unroll": {)", R"("un-roll": {)", "'un-roll' is no C identifier"},
         {R"("unroll": {)", R"("2x": {)", "'2x' is no C identifier"},
         {R"("unroll": {)", R"("Block_Size": {)", "both become the macro ATTUNE_BLOCK_SIZE"},
         {R"("unroll": {)", R"("op_sum": {)", "'op' = 'sum' and 'op_sum' both become the macro ATTUNE_OP_SUM"},
         {R"(["two_pass", "atomic"])", R"(["atomic-", "atomic", "atomic_"])", "both become the macro ATTUNE_STAGE_ATOMIC_"}});
}

TEST_CASE("expressions may use only what is known where they stand") {
  check({{"block_size * sizeof(T) <=", "block_siz * sizeof(T) <=", "unknown variable 'block_siz' in the expression"},
         {R"("count": "n")", R"("count": "max")", "the function 'max' needs arguments"},
         {"device.compute_capability", "device.capability", "unknown variable 'device.capability'"},
         {R"("tile": "block_size * 4")", R"("tile": "grid * 4")", "'grid' is a let defined here or later, which a let cannot use"},
         {R"("tile": "block_size * 4")", R"("tile": "tile * 4")", "'tile' is a let defined here or later"},
         {R"("count": "n")", R"("count": "scratch")", "unknown variable 'scratch'"},
         {R"("count": "n")", R"("count": "nn")", "unknown variable 'nn'"},
         {R"(["sample.cu"])", R"([{"file": "sample.cu", "if": "waves == 1"}])",
          "'waves' is a launch-bound parameter, which a source's condition cannot use"},
         {R"(["sample.cu"])", R"([{"file": "sample.cu", "if": "n > 1"}])",
          "'n' is a size of the problem, which a source's condition cannot use"},
         {R"(["sample.cu"])", R"([{"if": "True"}])", "a source lacks \"file\""},
         {R"("grid": 1)", R"("grid": "pass")", "unknown variable 'pass'"},
         {R"("work": {"bytes": "n)", R"("work": {"bytes": "out)", "'out' is a buffer, which this expression cannot use"},
         {R"("stage == 'two_pass'")", R"("stage = 'two_pass'")", "use '==' to compare"}});
}

TEST_CASE("a constraint cannot use a let, because spaces are built from parameters alone") {
  const std::string error = sample_error("block_size * sizeof(T) <=", "grid * sizeof(T) <=");
  CHECK(contains(error, "t.json:17:20: unknown variable 'grid'"));
}

TEST_CASE("arguments name something that can be passed") {
  check({{R"(["in", "n",)", R"(["inn", "n",)", "the argument 'inn' is nothing known; did you mean"},
         {R"(["in", "n",)", R"(["in", "T",)", "the argument 'T' is a type of the problem, which is no value to pass"},
         {R"(["in", "n",)", R"(["in", "block_size",)", "where it is the macro ATTUNE_BLOCK_SIZE"},
         {R"(["in", "n",)", R"([{"in": "u32"}, "n",)", "the argument 'in' is a buffer and has its type already"},
         {R"({"grid": "u32"})", R"({"grid": "uint"})", "an argument's type must be one of"},
         {R"({"grid": "u32"})", R"({"grid": "u32", "n": "u32"})", "is one pair"},
         {R"({"grid": "u32"})", "5", "an argument must be a string, not an integer"}});
}

TEST_CASE("launch lists run something, and loop indices are fresh names") {
  check({{R"("reference": "none")", R"("reference": {"launches": []})", "runs no kernel"},
         {R"("reference": "none")",
          R"("reference": {"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": []}], "parameters": ["items"]})",
          "what depends on parameters is for a reference of its own"},
         {R"("reference": "none")", R"("reference": {"launches": [{"memset": "out", "byte": 0}]})", "runs no kernel"},
         {R"("reference": "none")", R"("reference": {"launches": [{"kernel": "k", "grid": 1, "block": 1, "args": []}], "tolerance": 0})",
          "must be above 0"},
         {R"({"kernel": "main_pass",)", R"({"kernel": "main_pass", "repeat": {"count": 2, "index": "n"},)", "the name 'n' is taken"},
         {R"({"kernel": "main_pass",)", R"({"kernel": "main_pass", "repeat": {"count": 2},)", "\"repeat\" lacks \"index\""},
         {R"("kernel": "main_pass")", R"("kernel": "main pass")", "is no C identifier"}});
}

TEST_CASE("a built-in arg_reduce needs one input, the value and its index, and no other operation than min and max") {
  const auto with = [](const std::string& choices, const std::string& outputs) {
    std::string text = replaced(sample_template(), R"("reference": "none")", R"("reference": {"builtin": "arg_reduce"})");
    text = replaced(text, R"(["sum", "max-abs"])", choices);
    return replaced(text, R"("out": {"type": "A", "count": "1", "output": true})", outputs);
  };
  const auto error = [&](const std::string& choices, const std::string& outputs) {
    return error_of([&] { (void)parse_sample(with(choices, outputs)); });
  };
  const std::string both = R"("out": {"type": "T", "count": 1, "output": true}, "at": {"type": "i64", "count": 1, "output": true})";
  CHECK(error(R"(["max", "min"])", both).empty());
  CHECK(contains(error(R"(["max", "sum"])", both), "'arg_reduce' needs the choice 'op' among min, max in \"problem\""));
  CHECK(contains(error(R"(["max"])", R"("out": {"type": "T", "count": 1, "output": true})"),
                 "needs the outputs value of type T, index of type i64, in this order, not out of type T"));
  CHECK(contains(error(R"(["max"])", replaced(both, "i64", "i32")), "not out of type T, at of type i32"));
}

TEST_CASE("a built-in segmented_reduce needs the sizes rows and columns, one input and one output") {
  const auto error = [](const std::string& sizes, const std::string& outputs) {
    const std::string text = R"({"attune": 1, "name": "t", "sources": ["sample.cu"], "problem": {"T": {"type": ["f32"]},
      "op": {"choice": ["sum", "product"]}, )" +
                             sizes + R"(}, "parameters": {},
      "buffers": {"in": {"type": "T", "count": "rows * columns"}, )" +
                             outputs + R"(},
      "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in"]}], "reference": {"builtin": "segmented_reduce"}})";
    return error_of([&] { (void)parse_sample(text); });
  };
  const std::string one = R"("out": {"type": "T", "count": "rows", "output": true})";
  const std::string sizes = R"("rows": {"size": {}}, "columns": {"size": {}})";
  CHECK(error(sizes, one) == "");
  CHECK(error(R"("columns": {"size": {}}, "rows": {"size": {}})", one) == "");
  CHECK(contains(error(R"("rows": {"choice": ["1"]}, "columns": {"size": {}})", one), "needs the size 'rows' in"));
  CHECK(contains(error(sizes, one + R"(, "more": {"type": "T", "count": "rows", "output": true})"),
                 "'segmented_reduce' needs the output out, not out of type T, more of type T"));
}

TEST_CASE("a built-in reduction needs one input and one output") {
  std::string text = replaced(sample_template(), R"("reference": "none")", R"("reference": {"builtin": "reduce"})");
  text = replaced(text, R"("max-abs")", R"("max")");
  text = replaced(text, R"("scratch": {"type": "A", "count": "grid", "workspace": {"init": "zero_once"}})",
                  R"("scratch": {"type": "A", "count": "grid"})");
  CHECK(contains(error_of([&] { (void)parse_sample(text); }), "needs the input in, not in of type T, scratch of type A"));
}

TEST_CASE("a built-in reduce needs what its transforms, finishes and ways to accumulate are computed with") {
  const auto error = [](const std::string& axes, const std::string& more_inputs, const std::string& scalars, const std::string& launches) {
    const std::string text =
        R"({"attune": 1, "name": "t", "sources": ["sample.cu"], "problem": {"T": {"type": ["f32"]}, )" + axes +
        R"(, "n": {"size": {}}}, "parameters": {}, "buffers": {"in": {"type": "T", "count": "n"}, )" + more_inputs +
        R"("out": {"type": "T", "count": 1, "output": true}}, "scalars": {)" + scalars +
        R"(}, "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in"]}], "reference": {"builtin": "reduce")" + launches + "}}";
    return error_of([&] { (void)parse_sample(text); });
  };
  const std::string op = R"("op": {"choice": ["sum", "product", "min", "max", "and", "or", "xor"]})";
  const std::string second = R"("other": {"type": "T", "count": "n"}, )";
  const std::string plain = R"(, "launches": [{"kernel": "p", "grid": 1, "block": 32, "args": ["in"]}])";
  const auto scalar = [](const std::string& name) { return "\"" + name + R"(": {"type": "T", "value": 1})"; };
  CHECK(error(op, "", "", "") == "");
  CHECK(contains(error(op, second, "", ""), "'reduce' needs the input in, not in of type T, other of type T"));
  const std::string times = op + R"(, "transform": {"choice": ["identity", "times"]})";
  CHECK(error(times, second, "", "") == "");
  CHECK(contains(error(times, "", "", ""), "needs the inputs in, other, in this order, not in of type T"));
  CHECK(contains(
      error(op + R"(, "transform": {"choice": ["cube"]})", "", "", ""),
      "needs the choice 'transform' among identity, absolute, square, shifted_square, times, custom in \"problem\", or another name for it"));
  CHECK(contains(error(op + R"(, "finish": {"size": {}})", "", "", ""), "needs the choice 'finish' among none, mean, root, scale_bias"));
  const std::string shifted = op + R"(, "transform": {"choice": ["shifted_square"]})";
  CHECK(contains(error(shifted, "", "", ""), "computes the transform 'shifted_square' with the scalar 'shift'; add it to \"scalars\""));
  CHECK(error(shifted, "", scalar("shift"), "") == "");
  CHECK(contains(error(op + R"(, "finish": {"choice": ["scale_bias"]})", "", scalar("scale"), ""), "with the scalar 'bias'"));
  CHECK(contains(error(op + R"(, "accumulate": {"choice": ["fixed_point"]})", "", "", ""), "with the scalar 'resolution'"));
  const std::string custom = R"("op": {"choice": ["sum", "custom"]})";
  CHECK(contains(error(custom, "", "", ""), "cannot compute 'op' = 'custom'; add \"launches\""));
  CHECK(error(custom, "", "", plain) == "");
  CHECK(contains(error(op, "", "", plain), "computes every problem of this template; remove its launches"));
}

TEST_CASE("a switch that specialises on sizes is refused at its place where it is none, or names no size") {
  const auto error = [](const std::string& switch_text) {
    return sample_error(R"("unroll": {"values": [true, false], "default": false})", R"("unroll": )" + switch_text);
  };
  CHECK(error(R"({"values": [false, true], "default": false, "specialise": ["n"]})").empty());
  CHECK(contains(error(R"({"values": [false, true], "default": true, "specialise": ["n"]})"),
                 "t.json:14:72: the parameter 'unroll' specialises on sizes, so it must be a switch"));
  CHECK(contains(error(R"({"values": [1, 2], "default": 1, "specialise": ["n"]})"), "so it must be a switch"));
  CHECK(contains(error(R"({"values": [false, true], "default": false, "bind": "launch", "specialise": ["n"]})"), "so it must be a switch"));
  CHECK(contains(error(R"({"values": [false, true], "default": false, "specialise": ["op"]})"),
                 "'unroll' specialises on 'op', which is no size of the problem"));
  CHECK(contains(error(R"({"values": [false, true], "default": false, "specialise": []})"), "are empty"));
  CHECK(contains(
      sample_error(R"("unroll": {"values": [true, false], "default": false})",
                   R"("N": {"values": [1, 2], "default": 1}, "unroll": {"values": [false, true], "default": false, "specialise": ["n"]})"),
      "both become the macro ATTUNE_N"));
}

}  // namespace test_template_errors
