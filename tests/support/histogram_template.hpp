#pragma once
#include <string>

namespace attune::test {

/// The template.json of a histogram over every problem that the built-in reference knows, with one kernel of one block,
/// "count" of "kernel.cu". `variants`: a JSON list of the values of its only parameter, the first of which is the default
/// "correct".
inline std::string histogram_template(const std::string& variants = R"(["correct"])") {
  return R"json({
  "attune": 1, "name": "histogram_by_one_block", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["u8", "i16", "u16", "i32", "u32", "f32"]},
              "Counter": {"type": ["u32", "u64", "f32"], "default": "u32"},
              "mapping": {"choice": ["unit", "shift", "scaled", "edges"]},
              "channels": {"choice": ["1", "2", "3", "4"], "default": "1"},
              "active": {"choice": ["all", "1", "2", "3"], "default": "all"},
              "skew": {"choice": ["unknown", "uniform", "zipf", "hot", "constant", "sorted"], "default": "unknown"},
              "n": {"size": {"min": 0}}, "bins": {"size": {"min": 1, "max": 16777216}}},
  "types": {"L": {"by": "T", "map": {"u8": "i32", "i16": "i32", "u16": "i32", "i32": "i64", "u32": "i64"}, "else": "T"}},
  "parameters": {"variant": {"values": )json" +
         variants + R"json(, "default": "correct"}},
  "let": {"planes": "1 + (channels == '2') + 2 * (channels == '3') + 3 * (channels == '4')",
          "counted": "(active == 'all') * planes + (active == '1') + 2 * (active == '2') + 3 * (active == '3')"},
  "buffers": {"samples": {"type": "T", "count": "n * planes"},
              "edges": {"type": "T", "count": "(bins + 1) * (mapping == 'edges')"},
              "weights": {"type": "f32", "count": "n * (Counter == 'f32')"},
              "counts": {"type": "Counter", "count": "bins * counted", "output": true}},
  "scalars": {"lower": {"type": "L", "value": "0 - (T == 'f32')"},
              "upper": {"type": "L", "value": "(T == 'f32') + (T != 'f32') * ((mapping == 'unit') * bins + (mapping == 'shift') * bins * 16 + (mapping in ['scaled', 'edges']) * ((T == 'u8') * 250 + (T == 'u16') * 65521 + (T == 'i16') * 32003 + (T in ['i32', 'u32']) * min(2147483647, bins * 488 + 579)))"}},
  "launches": [{"kernel": "count", "grid": "1", "block": "1024",
                "args": ["samples", "edges", "weights", "counts", "lower", "upper", "n", "bins", "planes", "counted"]}],
  "reference": {"builtin": "histogram"}
})json";
}

}  // namespace attune::test
