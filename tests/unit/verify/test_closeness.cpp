// How far off an output may be: what a template's tolerance comes to.
#include <doctest/doctest.h>

#include <cmath>

#include "attune/error.hpp"
#include "tuner/verify/stated_data.hpp"

namespace test_closeness {

using namespace attune;
using spec::ElementType;

namespace {

const spec::DeviceInfo kDevice = spec::DeviceInfo::of_architecture("sm_90");

/// `type`: of the output; `reference`: the rest of what results are compared with.
verify::Closeness closeness_of(const std::string& reference, ElementType type = ElementType::F32) {
  const std::string out = spec::name(type);
  const auto kernel = spec::KernelTemplate::parse(R"({"attune": 1, "name": "t", "sources": ["k.cu"], "problem": {"n": {"size": {"min": 1}}},
      "parameters": {}, "buffers": {"in": {"type": "f32", "count": "n", "fill": "index"},
                                    "out": {"type": ")" +
                                                      out + R"(", "count": "n", "output": true}},
      "launches": [{"kernel": "k", "grid": 1, "block": 32, "args": ["in", "out"]}], "reference": {)" +
                                                      reference + "}}",
                                                  {{"k.cu", ""}, {"out.bin", spec::to_text(spec::DataFile{})}}, "template.json");
  return verify::closeness(kernel, {{}, {{"n", 100}}}, kDevice, 1, type);
}

const std::string kFile = R"("outputs": {"out": "out.bin"})";
const std::string kPlain = R"("launches": [{"kernel": "plain", "grid": 1, "block": 1, "args": ["in", "out"]}])";

}  // namespace

TEST_CASE("a tolerance that is given for a file's answer is numpy.allclose's: no mean is added") {
  const auto both = closeness_of(kFile + R"(, "tolerance": {"relative": 1e-5, "absolute": 1e-6})");
  CHECK(both.relative == 1e-5);
  CHECK(both.absolute == 1e-6);
  CHECK_FALSE(both.with_mean);
  CHECK_FALSE(closeness_of(kFile + R"(, "tolerance": 1e-5)").with_mean);
  CHECK_FALSE(closeness_of(kFile + R"(, "tolerance": {"out": 1e-5})").with_mean);
  CHECK(closeness_of(kPlain + R"(, "tolerance": 1e-5)").with_mean);
}

TEST_CASE("the usual tolerance is of rounding errors, relative to the mean as well, whatever says the answer") {
  for (const std::string& reference : {kFile, kPlain}) {
    const auto usual = closeness_of(reference + R"(, "terms": "n")");
    CHECK(usual.relative == doctest::Approx(64 * std::ldexp(1.0, -23) * 10));
    CHECK(usual.absolute == 0);
    CHECK(usual.with_mean);
  }
  CHECK(closeness_of(kPlain, ElementType::F8E4M3).relative == 2 * std::ldexp(1.0, -3));
}

TEST_CASE("no mean is computed where no relative part needs it") {
  CHECK_FALSE(closeness_of(kPlain + R"(, "tolerance": {"absolute": 1e-6})").with_mean);
  CHECK_FALSE(closeness_of(kPlain + R"(, "tolerance": {"relative": 0})").with_mean);
  const auto whole = closeness_of(kPlain + R"(, "tolerance": {"relative": 1e-5, "absolute": 1})", ElementType::I32);
  CHECK(whole.relative == 0);
  CHECK(whole.absolute == 1);
  CHECK_FALSE(whole.with_mean);
}

}  // namespace test_closeness
