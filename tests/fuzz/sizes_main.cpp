// Counts, lists and ranges of sizes, durations, and problems and configurations as text.
#include <algorithm>
#include <functional>
#include <stdexcept>

#include "attune/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tuner/base/text.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace {

void read_input(const std::string& input) {
  try {
    if (const double seconds = attune::base::parse_seconds(input); !(seconds >= 0)) throw std::logic_error("a duration below zero");
  } catch (const attune::Error&) {  // most inputs are none
  }
  try {
    const auto problem = attune::spec::problem_from_text(input);
    if (attune::spec::problem_from_text(attune::spec::to_text(problem)) != problem)
      throw std::logic_error("a problem's text is another problem");
  } catch (const attune::Error&) {
  }
  static const auto kernel = attune::spec::KernelTemplate::parse(
      R"({"attune": 1, "name": "k", "sources": ["k.cu"], "problem": {"n": {"size": {}}}, "parameters": {"a": {"values": [1, 2], "default": 1},
          "b": {"values": ["x", "y"], "default": "x"}}, "buffers": {"out": {"type": "f32", "count": "n", "output": true}},
          "launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["out"]}], "reference": "none"})",
      {{"k.cu", ""}}, "k.json");
  try {
    static_cast<void>(attune::spec::configuration_from_text(kernel, input));
  } catch (const attune::Error&) {
  }
  const auto counts = attune::base::parse_counts(input);
  if (counts.empty() || counts.size() > 65536) throw std::logic_error("a list without sizes, or with too many");
  if (!std::is_sorted(counts.begin(), counts.end(), std::less_equal<>())) throw std::logic_error("sizes out of order");
  for (const std::int64_t count : counts) {
    if (count < 0) throw std::logic_error("a size below zero");
    if (attune::base::parse_count(attune::base::format_count(count)) != count) throw std::logic_error("a size reads back as another");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return attune::test::fuzz_main(argc, argv, "sizes",
                                 {"4096", "2^10..2^28:x4", "1K..4K:+1K", "16M,2^24, 1e6 ,100_000", "1..65536:+1", "500ms", "1.5h", "2^62",
                                  "0..4611686018427387904:+4611686018427387904", R"({"T": "f32", "n": 1048576})", R"({"a": 2, "b": "y"})"},
                                 {"..",          ":x",      ":+", ",",  "^",       "e",   "K",   "Ki",   "M",  "Gi",           "_",
                                  "-",           " ",       "s",  "ms", "h",       "inf", "nan", "2^62", "1,", "1..65536:+1,", "0..2^62:+1",
                                  "1..2^62:x2,", "{\"n\":", "}",  "[",  "{\"a\":", "]",   "1_",  "0",    "9"},
                                 read_input);
}
