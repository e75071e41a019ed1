// A template with a reference of its own, on a GPU: what is filled, planted, altered and expected is what its files say, for the values of
// the parameter that the right answer depends on.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tests/support/replaced.hpp"

namespace test_verification_own_reference {

using namespace attune;
using measure::Outcome;
using test::replaced;

namespace {

/// out[i] is the greatest of `width` elements from i on; width is a parameter of the template.
constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "windows", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["i32", "f32"]}, "n": {"size": {"min": 1}}},
  "parameters": {"width": {"values": [2, 3], "default": 2},
                 "variant": {"values": ["correct", "narrow", "late", "skips_nan", "drops_last", "one_off"], "default": "correct"}},
  "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "T", "count": "n", "output": true}},
  "launches": [{"kernel": "windows", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "out", "n"]}],
  "reference": {"file": "reference.json", "parameters": ["width"]}
})text";

constexpr const char* kSource = R"text(
extern "C" __global__ void windows(const ATTUNE_T* in, ATTUNE_T* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  ATTUNE_T greatest = in[i];
  const int width = ATTUNE_WIDTH - ATTUNE_VARIANT_NARROW * (i == n / 2);
  for (int k = ATTUNE_VARIANT_LATE * (i == 77) + 1; k < width && i + k < n; ++k) {
    if (ATTUNE_VARIANT_DROPS_LAST && i + k == n - 1) break;
    if (in[i + k] > greatest || (!ATTUNE_VARIANT_SKIPS_NAN && in[i + k] != in[i + k])) greatest = in[i + k];
  }
  out[i] = greatest + (ATTUNE_T)(ATTUNE_VARIANT_ONE_OFF && i == n - 1);
}
)text";

constexpr const char* kReference = R"text({
  "attune_reference": 1, "name": "windows", "sources": ["reference.cu"],
  "problem": {"T": {"type": ["i32", "f32"]}, "n": {"size": {"min": 1}}, "width": {"size": {}}},
  "inputs": {"in": {"type": "T", "count": "n", "fill": {"kernel": "windows_fill", "args": [{"n": "u64"}], "if": "data == 'integers'"}}},
  "outputs": {"out": {"type": "T", "count": "n", "element": {"window": "n"}}},
  "data_sets": {"integers": {"values": "zeros"}, "random": {"values": "random"},
                "last": {"alters": "integers", "when": "the last element is the greatest"},
                "nan": {"alters": "random", "cases": "asked", "if": "T == 'f32'", "when": "one element is NaN"}},
  "alter": {"into": "in", "kernel": "windows_alter", "args": [{"n": "u64"}, "data"]},
  "expect": [{"kernel": "windows_expect", "grid": "clamp(ceil_div(n, 256), 1, 1024)", "block": 256, "args": ["in", "out", {"n": "u64"}, {"width": "u64"}]}]
})text";

constexpr const char* kReferenceSource = R"text(
#include <attune/reference.cuh>
using namespace attune::reference;
constexpr int kType = ATTUNE_T_F32 ? ATTUNE_TYPE_F32 : ATTUNE_TYPE_I32;
extern "C" __global__ void windows_fill(Filling filling, u64 n) {
  // Ascending, but for the last three, so that the last element decides no window.
  fill(filling, [&](u64 i) { return bits_of_integer(kType, static_cast<long long>(i + 3 >= n ? n - i : i % 1000)); });
}
extern "C" __global__ void windows_alter(Alteration* alteration, u64 n, int data) {
  alteration->count = 1;
  alteration->position[0] = data == ATTUNE_DATA_LAST ? n - 1 : n / 3;
  alteration->bits[0] = data == ATTUNE_DATA_LAST ? highest_finite_bits(kType) : all_bits(kType);
}
extern "C" __global__ void windows_expect(const void* in, Expected* out, u64 n, u64 width) {
  for (u64 i = thread_index(); i < n; i += thread_count()) {
    double greatest = number_of(kType, load_bits(in, kType, i));
    for (u64 k = 1; k < width && i + k < n; ++k) {
      const double next = number_of(kType, load_bits(in, kType, i + k));
      if (!is_nan(greatest) && !(next <= greatest)) greatest = next;
    }
    out[i] = between(greatest, greatest);
  }
}
)text";

spec::KernelTemplate windows(const std::string& reference = kReference, const std::string& source = kReferenceSource) {
  return spec::KernelTemplate::parse(kTemplate, {{"kernel.cu", kSource}, {"reference.json", reference}, {"reference.cu", source}},
                                     "template.json");
}

spec::Configuration configured(const spec::KernelTemplate& kernel, const char* variant, const char* width) {
  auto configuration = test::with(kernel, "variant", variant);
  configuration.index[0] = test::with(kernel, "width", width).index[0];
  return configuration;
}

measure::VisitReply run(const char* type, const char* variant, const char* width, std::int64_t n) {
  auto& lab = test::Lab::get();
  static const auto kernel = windows();
  const spec::Problem problem{{{"T", type}}, {{"n", n}}};
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, configured(kernel, variant, width)));
}

bool says(const measure::VisitReply& reply, const std::string& text) { return reply.detail.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("a kernel is right for each value of the parameter that its reference depends on") {
  for (const char* width : {"2", "3", "2"}) {
    const auto reply = run("i32", "correct", width, 100000);
    INFO(reply.detail);
    CHECK(reply.outcome == Outcome::Ok);
    CHECK(reply.verified);
  }
}

TEST_CASE("what a reference of a template's own expects finds a wrong window, the wrong width and what only altered data show") {
  const auto narrow = run("i32", "narrow", "3", 100000);
  CHECK(narrow.outcome == Outcome::WrongResult);
  CHECK(says(narrow, "1 of 100000 elements of output \"out\" are wrong; the first is window 50000"));
  CHECK(run("i32", "late", "2", 100000).outcome == Outcome::WrongResult);
  const auto one_off = run("i32", "one_off", "3", 100000);
  CHECK(says(one_off, "the first is window 99999: "));
  const auto drops = run("i32", "drops_last", "2", 100000);
  CHECK(drops.outcome == Outcome::WrongResult);
  CHECK(says(drops, "when the last element is the greatest"));
}

TEST_CASE("a data set that exists for one type is verified for that type") {
  const auto floats = run("f32", "skips_nan", "2", 100000);
  CHECK(floats.outcome == Outcome::WrongResult);
  CHECK(says(floats, "when one element is NaN"));
  CHECK(run("i32", "skips_nan", "2", 100000).outcome == Outcome::Ok);
}

TEST_CASE("configurations whose right answers differ are judged by their own when they are visited again and in a run-off") {
  auto& lab = test::Lab::get();
  auto& executor = lab.executor();
  const auto kernel = windows();
  const spec::Problem problem{{{"T", "f32"}}, {{"n", 100000}}};
  lab.prepare(executor, kernel, problem);
  measure::RunOffRequest run_off;
  auto& finalists = run_off.configurations;
  for (const char* width : {"2", "3"}) finalists.push_back(lab.request(kernel, problem, configured(kernel, "correct", width)));
  for (int visit = 0; visit < 3; ++visit) {
    for (auto& request : finalists) {
      request.verify = visit == 0;
      const auto reply = test::Lab::visit(executor, request);
      INFO(reply.detail);
      CHECK(reply.outcome == Outcome::Ok);
      CHECK(reply.verified);
    }
    // A wrong one has everything filled and answered anew.
    if (visit == 1)
      CHECK(test::Lab::visit(executor, lab.request(kernel, problem, configured(kernel, "narrow", "3"))).outcome == Outcome::WrongResult);
  }
  const auto reply = executor.run_off(run_off);
  INFO(reply.detail);
  CHECK(reply.outcome == Outcome::Ok);
}

TEST_CASE("what the code of a reference may not do is refused before any element is written") {
  auto& lab = test::Lab::get();
  const spec::Problem problem{{{"T", "i32"}}, {{"n", 1000}}};
  const auto preparing = [&](const std::string& source) { lab.prepare(lab.executor(), windows(kReference, source), problem); };
  CHECK_THROWS_WITH_AS(preparing(replaced(kReferenceSource, "alteration->count = 1", "alteration->count = 5")),
                       doctest::Contains("its kernel \"windows_alter\" alters 5 elements, and an Alteration holds 4"), Error);
  CHECK_THROWS_WITH_AS(preparing(replaced(kReferenceSource, "? n - 1", "? n")), doctest::Contains("alters element 1000 of 1000"), Error);
  CHECK_THROWS_WITH_AS(preparing(replaced(kReferenceSource, "void windows_alter(Alteration*", "void windows_alters(Alteration*")),
                       doctest::Contains("windows_alter"), Error);
  CHECK_THROWS_WITH_AS(preparing(replaced(kReferenceSource, "u64 n, int data", "u64 n, int data, int more")),
                       doctest::Contains("takes 4 arguments and is given 3"), Error);
  const std::string planting =
      replaced(kReference, R"("alter": {)",
               R"("plant": {"into": "in", "data": {"random": "alone"}, "kernel": "windows_plant", "args": [{"n": "u64"}]}, "alter": {)");
  for (const auto& [changes, message] :
       {std::pair{"changes = 3", "changes 3 expectations, and a Plant holds 2"},
        std::pair{"changes = plants->output[0] = 1", "changes what is expected of output 1, and 1 count from 0"},
        std::pair{"changes = 1; plants->element[0] = n", "changes what is expected of element 1000 of 1000"},
        std::pair{"changes = 2", "changes what is expected of element 0 twice"},
        std::pair{"position = 5", "changes where the plant at 0 stands"}}) {
    CAPTURE(changes);
    const auto kernel =
        windows(planting, std::string(kReferenceSource) + "\nextern \"C\" __global__ void windows_plant(Plant* plants, u64, u64 n) {\n" +
                              "  if (thread_index() == 0) { plants->bits = ~plants->bits; plants->" + changes + "; }\n}\n");
    lab.prepare(lab.executor(), kernel, problem);
    const auto request = lab.request(kernel, problem, configured(kernel, "correct", "2"));
    CHECK_THROWS_WITH_AS((void)test::Lab::visit(lab.executor(), request), doctest::Contains(message), Error);
  }
}

TEST_CASE("a reference whose kernel writes where it must not ends its problem, and no configuration is called crashed") {
  auto& lab = test::Lab::get();
  const spec::Problem problem{{{"T", "i32"}}, {{"n", 1000}}};
  const std::string planting = replaced(kReference, R"("alter": {)",
                                        R"("plant": {"into": "in", "data": {"random": "alone"}, "kernel": "windows_plant"}, "alter": {)");
  const auto faulty = windows(
      planting, std::string(kReferenceSource) + "\nextern \"C\" __global__ void windows_plant(Plant*, u64) { *(volatile int*)16 = 1; }\n");
  lab.prepare(lab.executor(), faulty, problem);
  CHECK_THROWS_WITH_AS((void)test::Lab::visit(lab.executor(), lab.request(faulty, problem, configured(faulty, "correct", "2"))),
                       doctest::Contains("failed running the code of the reference: "), SpecError);
  CHECK(run("i32", "correct", "2", 1000).outcome == Outcome::Ok);
}

}  // namespace test_verification_own_reference
