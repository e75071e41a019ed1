// T1 files, up to the template.json that is made of them: it is JSON, whatever they hold.
#include <iterator>
#include <stdexcept>

#include "attune/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/t1_files.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/importing/template_writer.hpp"
#include "tuner/spec/json_document.hpp"

namespace {

using namespace attune;

void read_input(const std::string& text) {
  auto kernel = importing::read_t1(text, "t1.json", "");
  importing::fit_to_source(kernel, test::kKernelTunerSource);
  const std::string written = importing::template_json(kernel, {"blur.cu"});
  try {
    static_cast<void>(spec::JsonNode::parse(written, "template.json"));
  } catch (const SpecError& error) {
    throw std::logic_error(std::string("what is imported is no JSON: ") + error.what());
  }
}

/// Words that mutations put into inputs.
constexpr const char* kDictionary[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       "\"",
                                       ",",
                                       "null",
                                       "1",
                                       "\"[2**i for i in range(0, 6)]\"",
                                       " if ",
                                       " else ",
                                       " and ",
                                       " not ",
                                       " in ",
                                       "range(",
                                       "max([",
                                       "lambda p: ",
                                       "ProblemSize[0]",
                                       "p['bx']",
                                       " & ",
                                       " << ",
                                       " // ",
                                       " % ",
                                       "(",
                                       ")",
                                       "0b1",
                                       "1e400",
                                       "\"Output\": 1,",
                                       "\"GridDivX\": [\"bx\"],",
                                       "\"ProblemSize\": [4096],",
                                       "\"custom\"",
                                       "\"float16\"",
                                       "\"TypeSize\": 2,",
                                       "\"Symbol\"",
                                       "\"Local\"",
                                       "\"OpenCL\"",
                                       "\xC3"};

}  // namespace

int main(int argc, char** argv) {
  return attune::test::fuzz_main(argc, argv, "t1",
                                 {attune::test::kSchemaT1, attune::test::kKernelTunerT1, attune::test::kKttT1, attune::test::kBatT1},
                                 {std::begin(kDictionary), std::end(kDictionary)}, read_input);
}
