// What an all-gather returns is others' text.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/runtime/ranks_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/rank_exchange.hpp"

namespace test_rank_exchange {

using namespace attune;
using nlohmann::json;
using runtime::RankExchange;
using Texts = std::vector<std::string>;

namespace {

/// Rank 0 of two; the other one says the same with an id of its own, or what `tamper` makes of both texts.
struct Pair {
  std::function<Texts(Texts)> tamper = [](Texts texts) { return texts; };
  RankExchange exchange{[this](const std::string& text) {
    auto other = base::parse_json(text);
    other["id"] = "the other";
    return tamper({text, base::dump_json(other)});
  }};

  [[nodiscard]] std::string failure(const std::string& about = "testing") {
    try {
      static_cast<void>(exchange.gather(about, json{{"a", 1}}));
    } catch (const AgreementError& error) {
      return error.what();
    }
    return "";
  }
  void change_other(const std::string& member, const json& value) {
    tamper = [member, value](Texts texts) {
      auto other = base::parse_json(texts[1]);
      other[member] = value;
      texts[1] = base::dump_json_replacing(other);
      return texts;
    };
  }
};

bool names(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Pair, "what every rank says comes back in their order, and a rank learns its own place") {
  CHECK(exchange.gather("testing", json{{"a", 1}}) == std::vector<json>{{{"a", 1}}, {{"a", 1}}});
  CHECK(exchange.own_rank() == 0);
  RankExchange second([](const std::string& text) {
    auto other = base::parse_json(text);
    other["id"] = "the other";
    return Texts{base::dump_json(other), text};
  });
  static_cast<void>(second.gather("testing", json()));
  CHECK(second.own_rank() == 1);
}

TEST_CASE_FIXTURE(Pair, "ranks that are about different things, or have met less often, are out of step, and both are named") {
  change_other("about", "dispatching kernel 'b'");
  const std::string why = failure("dispatching kernel 'a'");
  CHECK(names(why, "while dispatching kernel 'a'"));
  CHECK(names(why, "out of step"));
  CHECK(names(why, "rank 1 is dispatching kernel 'b'"));
  change_other("call", 7);
  CHECK(names(failure(), "(its exchange 2), rank 1 is testing (its exchange 7)"));
  tamper = [](Texts texts) { return texts; };
  CHECK(failure().empty());
  CHECK(exchange.calls() == 8);
}

TEST_CASE_FIXTURE(Pair, "another number of texts than of ranks is refused") {
  tamper = [](const Texts&) { return Texts{}; };
  CHECK(names(failure(), "returned 0 texts"));
  tamper = [](Texts texts) { return texts; };
  REQUIRE(failure().empty());
  tamper = [](Texts texts) { return Texts{texts[0]}; };
  CHECK(names(failure(), "returned 1 texts, and 2 when the Runtime was made"));
}

TEST_CASE_FIXTURE(Pair, "a text that is none of a rank's is refused and shown, without characters that act") {
  const auto refused = [&](const std::string& text) {
    tamper = [text](Texts texts) { return Texts{texts[0], text}; };
    const std::string why = failure();
    CHECK(names(why, "what Options::agree returned of rank 1 is no text of a rank"));
    return why;
  };
  CHECK(names(refused(""), "nothing"));
  CHECK(names(refused("{\"attune_ranks\":1,\"id\""), "was it cut off?"));
  CHECK(names(refused("\x1b[31mred"), "\\x1b[31mred"));
  CHECK(names(refused("[1]"), "must be an object"));
  CHECK(names(refused("{\"attune_ranks\":\"one\"}"), "attune_ranks"));
  CHECK(names(refused("{\"attune_ranks\":2}"), "format 2"));
  CHECK(names(refused("{\"attune_ranks\":1,\"id\":\"x\",\"call\":-1,\"about\":\"testing\"}"), "call"));
  CHECK(names(refused("{\"attune_ranks\":1,\"id\":\"x\",\"call\":1,\"about\":\"testing\"}"), "failure"));
  CHECK(names(refused("{\"attune_ranks\":1,\"id\":\"x\",\"call\":1,\"about\":\"testing\",\"failure\":\"\"}"), "said"));
  CHECK(names(refused(std::string(40, '[') + std::string(40, ']')), "nested too deep"));
  const std::string huge = refused(std::string(RankExchange::kMostTextBytes + 1, 'x'));
  CHECK(names(huge, "bytes, at most"));
  CHECK(huge.size() < 2000);
}

TEST_CASE_FIXTURE(Pair, "an own text that is missing, changed, doubled or moved is refused") {
  tamper = [](Texts texts) { return Texts{texts[1], texts[1] + " "}; };
  CHECK(names(failure(), "in several places"));
  tamper = [](Texts texts) { return Texts{texts[1]}; };
  CHECK(names(failure(), "is not among those"));
  tamper = [](Texts texts) { return Texts{texts[0] + " ", texts[1]}; };
  CHECK(names(failure(), "is not what it was given"));
  tamper = [](Texts texts) { return Texts{texts[1], texts[0]}; };
  CHECK(names(failure(), "of another Runtime"));
}

TEST_CASE_FIXTURE(Pair, "of a text that is too long all ranks are told, and none waits") {
  std::size_t sent = 0;
  tamper = [&](Texts texts) {
    sent = texts[0].size();
    return texts;
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(exchange.gather("testing", json(std::string(RankExchange::kMostTextBytes, 'x')))),
                       doctest::Contains("rank 0: its text has"), AgreementError);
  CHECK(sent > 0);
  CHECK(sent < 1000);
  CHECK(failure().empty());
}

TEST_CASE("what the all-gather throws passes through, and the call counts") {
  RankExchange exchange([](const std::string&) -> Texts { throw std::runtime_error("the network is gone"); });
  CHECK_THROWS_WITH(static_cast<void>(exchange.gather("testing", json())), "the network is gone");
  CHECK(exchange.calls() == 1);
}

TEST_CASE("a plan and an opening are read as they were written, and refused where a field is not what it has to be") {
  const auto device = spec::DeviceInfo::of_architecture("sm_90");
  const auto plan = test::rank_plan("hash", device, Tier::NearestSize, "{}", 2.5, "{\"n\":1}");
  const auto read = runtime::plan_from_json(to_json(plan));
  CHECK(to_json(read) == to_json(plan));
  const runtime::RankOpening opening{"0.2.0", "", "policy", {{"reduce", "abc"}}, {{"/a.db", 3, "def"}}};
  CHECK(to_json(runtime::opening_from_json(to_json(opening))) == to_json(opening));
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, json>>{{"/proposal/tier", "best"},
                                                                                {"/proposal/median_us", -1},
                                                                                {"/proposal/distance", 1e10},
                                                                                {"/proposal/median_us", "fast"},
                                                                                {"/proposal/configuration", std::string(70000, 'x')},
                                                                                {"/device/sm_count", 0},
                                                                                {"/template", 5},
                                                                                {"/device", json::array()}}) {
    CAPTURE(pointer);
    auto object = to_json(plan);
    object[json::json_pointer(pointer)] = value;
    CHECK_THROWS_AS(static_cast<void>(runtime::plan_from_json(object)), Error);
  }
  auto homeless = to_json(plan);
  homeless.erase("device");
  CHECK_THROWS_AS(static_cast<void>(runtime::plan_from_json(homeless)), Error);
  auto strange = to_json(opening);
  strange["templates"] = {{"reduce", 1}};
  CHECK_THROWS_AS(static_cast<void>(runtime::opening_from_json(strange)), Error);
}

}  // namespace test_rank_exchange
