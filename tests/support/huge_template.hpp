#pragma once
#include <filesystem>
#include <fstream>
#include <string>

namespace attune::test {

/// A template in `folder` with a space of 10^12 points of which none can be left out early: walking through it takes days.
inline void write_huge_template(const std::filesystem::path& folder) {
  std::string parameters, sum;
  for (char name = 'a'; name < 'm'; ++name) {
    parameters += std::string(name == 'a' ? "" : ", ") + "\"p" + name + "\": {\"values\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], \"default\": 0}";
    sum += std::string(name == 'a' ? "p" : " + p") + name;
  }
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "template.json") << R"({"attune": 1, "name": "huge", "sources": ["huge.cu"],
    "problem": {"n": {"size": {"min": 1}}}, "parameters": {)" +
                                                 parameters + R"(}, "constraints": [")" + sum + R"( < 0"],
    "buffers": {"out": {"type": "f32", "count": "n", "output": true}},
    "launches": [{"kernel": "huge", "grid": 1, "block": 32, "args": ["out"]}], "reference": "none"})";
  std::ofstream(folder / "huge.cu") << "extern \"C\" __global__ void huge(float* out) { out[threadIdx.x] = 0; }\n";
  std::ofstream(folder / "ladder.json")
      << R"({"attune_ladder": 1, "summary": "s", "rungs": [{"name": "all", "why": "w", "where": "True"}]})";
}

}  // namespace attune::test
