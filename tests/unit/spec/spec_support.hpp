#pragma once
#include <map>
#include <string>

#include "attune/error.hpp"
#include "tests/support/replaced.hpp"
#include "tuner/spec/expression.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::spec::test {

/// The message of the attune::Error that `action` throws; empty when it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline Scope scope_of(std::map<std::string, Value> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<Value> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional<Value>(found->second);
  };
}

inline Value evaluate(const std::string& text, std::map<std::string, Value> values = {}) {
  return Expression::parse(text).evaluate(scope_of(std::move(values)));
}

/// A template that is valid as it stands; tests replace parts of it.
inline std::string sample_template() {
  return R"json({
  "attune": 1,
  "name": "sample",
  "sources": ["sample.cu"],
  "problem": {
    "T": {"type": ["f32", "f64", "i8"]},
    "op": {"choice": ["sum", "max-abs"]},
    "n": {"size": {"min": 1}}
  },
  "types": {"A": {"by": "T", "map": {"i8": "i32"}, "else": "T"}},
  "parameters": {
    "block_size": {"values": [64, 128, 256], "default": 128},
    "stage": {"values": ["two_pass", "atomic"], "default": "atomic"},
    "unroll": {"values": [true, false], "default": false},
    "waves": {"values": [1, 2], "default": 2, "bind": "launch"}
  },
  "constraints": ["block_size * sizeof(T) <= 1024", "stage != 'atomic' or device.compute_capability >= 80"],
  "let": {"tile": "block_size * 4", "grid": "clamp(ceil_div(n, tile), 1, device.sm_count * waves)"},
  "buffers": {
    "in": {"type": "T", "count": "n"},
    "out": {"type": "A", "count": "1", "output": true},
    "scratch": {"type": "A", "count": "grid", "workspace": {"init": "zero_once"}}
  },
  "scalars": {"alpha": {"type": "T", "value": 3}},
  "launches": [
    {"memset": "out", "byte": 0, "if": "stage == 'atomic'"},
    {"kernel": "main_pass", "grid": "grid", "block": "block_size", "args": ["in", "n", "scratch", "out", "alpha"]},
    {"kernel": "last_pass", "if": "stage == 'two_pass'", "grid": 1, "block": [32, 2], "args": ["scratch", {"grid": "u32"}, "out"]}
  ],
  "reference": "none",
  "work": {"bytes": "n * sizeof(T)", "operations": "n"}
})json";
}

inline std::map<std::string, std::string> sample_files() { return {{"sample.cu", "// sample\n"}}; }

using attune::test::replaced;

inline KernelTemplate parse_sample(const std::string& text = sample_template()) {
  return KernelTemplate::parse(text, sample_files(), "t.json");
}

/// The error of the sample with one part replaced.
inline std::string sample_error(const std::string& from, const std::string& to) {
  return error_of([&] { static_cast<void>(parse_sample(replaced(sample_template(), from, to))); });
}

inline Problem sample_problem(const std::string& type = "f32", std::int64_t n = 1000) { return {{{"T", type}, {"op", "sum"}}, {{"n", n}}}; }

}  // namespace attune::spec::test
