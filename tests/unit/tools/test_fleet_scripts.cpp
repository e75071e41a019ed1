// What schedulers are given: names and texts come out as they were, or are refused.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tools/fleet/scripts.hpp"

namespace test_fleet_scripts {

using namespace attune;
using tools::KubernetesOptions;

namespace {

/// The job of a plan of so many shards, or what it is refused with.
std::string job(const KubernetesOptions& options, std::size_t shards = 3) {
  tools::Manifest manifest;
  manifest.shards.resize(shards);
  try {
    return tools::kubernetes_job(manifest, options);
  } catch (const UsageError& error) {
    return std::string("refused: ") + error.what();
  }
}

KubernetesOptions options_of(const std::string& folder = "/shared/plan") {
  KubernetesOptions options;
  options.folder = folder;
  options.image = "registry/attune:1";
  options.claim = "fleet";
  return options;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a job's name is a label with the pod's index behind it, and is a text whatever it looks like") {
  auto options = options_of();
  options.name = "123";
  CHECK(has(job(options), "name: \"123\"\n"));
  options.name = std::string(61, 'a');
  CHECK(has(job(options, 10), "name: \"aaa"));
  CHECK(has(job(options, 11), "at most 60"));
  for (const char* name : {"", "-a", "a-", "A", "a_b", "a.b", "a\nb", "\xc3\xa9"}) {
    CAPTURE(name);
    options.name = name;
    CHECK(has(job(options), "refused: --name"));
  }
}

TEST_CASE("a claim is a name of Kubernetes too") {
  auto options = options_of();
  options.claim = "data.v2-a";
  CHECK(has(job(options), "claimName: \"data.v2-a\"\n"));
  for (const char* claim : {"", "a b", "A", ".a"}) {
    options.claim = claim;
    CHECK(has(job(options), "refused: --claim"));
  }
}

TEST_CASE("a folder or an image with what some readers take for the end of a line, or that is no UTF-8, is refused and shown by numbers") {
  CHECK(has(job(options_of("/shared/o'brien \"x\"/plan")), R"("/shared/o'brien \"x\"/plan")"));
  CHECK(has(job(options_of("/shared/\xc3\xa9/plan")), "\"/shared/\xc3\xa9/plan\""));
  for (const char* folder : {"/shared/a\xe2\x80\xa8"
                             "b/plan",
                             "/shared/a\xe2\x80\xa9/plan", "/shared/a\xc2\x85/plan", "/shared/a\nb/plan", "/shared/\xff/plan"}) {
    CAPTURE(folder);
    CHECK(has(job(options_of(folder)), "refused: the folder has a character"));
  }
  CHECK(has(job(options_of("/shared/a\xe2\x80\xa8"
                           "b/plan")),
            "\\u2028"));
  auto options = options_of();
  options.image =
      "a\xe2\x80\xa9"
      "b";
  CHECK(has(job(options), "refused: --image"));
}

}  // namespace test_fleet_scripts
