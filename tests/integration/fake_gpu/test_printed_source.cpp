// What `attune source` prints is what was compiled while tuning: the cubins of a run are stored under the keys of the printed units.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tuner/base/json.hpp"
#include "tuner/compile/compiler.hpp"

namespace test_printed_source {

using namespace attune;
using namespace attune::test;

TEST_CASE_FIXTURE(FakeGpu, "every configuration of a run was compiled from the unit, and with the options, that source prints for it") {
  environment["XDG_CACHE_HOME"] = (folder / "cache").string();
  const auto tuned = attune(tune_words("none"));
  CAPTURE(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  const auto all = records();
  REQUIRE(all.size() == 48);
  for (std::size_t i = 0; i < all.size(); i += 9) {
    const auto& record = all[i];
    const auto problem = base::parse_json(record.problem);
    std::vector<std::string> words{"source", ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic", "--json", "--configuration",
                                   record.configuration};
    for (const auto& [axis, value] : problem.items())
      words.insert(words.end(), {"--" + axis, value.is_string() ? value.get<std::string>() : base::dump_json(value)});
    const auto result = attune(words);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const auto printed = base::parse_json(result.out);
    const auto options = printed["options"].get<std::vector<std::string>>();
    compile::CompileRequest request{printed["source"], "any.cu", "sm_90", {}};
    const auto own = compile::full_options(request).size();
    REQUIRE(options.size() >= own);
    request.options.assign(options.begin() + static_cast<std::ptrdiff_t>(own), options.end());
    const auto key = compile::cubin_key(request, record.nvrtc);
    CAPTURE(record.configuration);
    CHECK(std::filesystem::exists(folder / "cache" / "attune" / "cubins" / key.substr(0, 2) / (key + ".cubin")));
    request.source += "\n";
    const auto other = compile::cubin_key(request, record.nvrtc);
    CHECK_FALSE(std::filesystem::exists(folder / "cache" / "attune" / "cubins" / other.substr(0, 2) / (other + ".cubin")));
  }
}

}  // namespace test_printed_source
