#pragma once
#include <fstream>
#include <filesystem>

namespace attune::test {

/// The problem, buffers and scalars of the template `histogram`, in `folder`/histogram.
inline std::filesystem::path write_histogram_template(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "histogram");
  std::ofstream(folder / "histogram/h.cu") << "// nothing is compiled\n";
  std::ofstream(folder / "histogram/template.json") << R"json({
    "attune": 1, "name": "histogram", "sources": ["h.cu"],
    "problem": {
      "T": {"type": ["u8", "u16", "i32", "u32", "f32"]},
      "Counter": {"type": ["u32", "u64", "f32"], "default": "u32"},
      "mapping": {"choice": ["unit", "shift", "scaled", "edges"]},
      "channels": {"choice": ["1", "2", "3", "4"], "default": "1"},
      "active": {"choice": ["all", "1", "2", "3"], "default": "all"},
      "skew": {"choice": ["unknown", "uniform", "zipf", "hot", "constant", "sorted"], "default": "unknown", "stand_in": "unknown"},
      "n": {"size": {"min": 0}},
      "bins": {"size": {"min": 1, "max": 16777216}}
    },
    "types": {"L": {"by": "T", "map": {"u8": "i32", "u16": "i32", "i32": "i64", "u32": "i64"}, "else": "T"}},
    "parameters": {"block_size": {"values": [128, 256], "default": 256}},
    "buffers": {
      "samples": {"type": "T", "count": "n"},
      "edges": {"type": "T", "count": "(bins + 1) * int(mapping == 'edges')", "input": true},
      "weights": {"type": "f32", "count": "n * int(Counter == 'f32')", "input": true},
      "counts": {"type": "Counter", "count": "bins", "output": true}
    },
    "scalars": {"lower": {"type": "L", "value": 0}, "upper": {"type": "L", "value": 1}},
    "launches": [{"kernel": "count", "grid": 1, "block": "block_size", "args": ["samples", "edges", "weights", "counts", "lower", "upper", "n", "bins"]}],
    "reference": "none"
  })json";
  return folder;
}

}  // namespace attune::test
