#include <doctest/doctest.h>

#include "tuner/measure/messages.hpp"

namespace test_messages {

using namespace attune;
namespace messages = measure::messages;

TEST_CASE("a visit request survives the wire, its cubin only when it goes along") {
  measure::VisitRequest request;
  request.configuration = R"({"block":64})";
  request.cubin_key = "abc";
  request.cubin = std::string("\0\xff\x7f", 3);
  request.verify = true;
  request.best_us = 12.5;
  request.max_samples = 9;
  const auto with = messages::visit_from(nlohmann::json::from_cbor(nlohmann::json::to_cbor(messages::visit(request, true))));
  CHECK(with.configuration == request.configuration);
  CHECK(with.cubin_key == "abc");
  CHECK(with.cubin == request.cubin);
  CHECK(with.verify);
  CHECK(with.best_us == 12.5);
  CHECK(with.max_samples == 9);
  CHECK(messages::visit_from(messages::visit(request, false)).cubin.empty());
}

TEST_CASE("a request to prepare holds the code of a shared setup, and says nothing of it where there is none") {
  const spec::KernelTemplate kernel;
  const auto without = messages::prepare(kernel, {}, {}, "support", "reference");
  CHECK_FALSE(without.contains("setup"));
  CHECK(messages::setup_of(without).empty());
  CHECK(messages::setup_of(messages::prepare(kernel, {}, {}, "support", "reference", "code")) == "code");
}

TEST_CASE("a reply survives the wire") {
  measure::VisitReply reply;
  reply.outcome = measure::Outcome::WrongResult;
  reply.verified = true;
  reply.screened_out = true;
  reply.samples_us = {1.5, 2.25};
  reply.calls_per_sample = 77;
  reply.detail = "why";
  reply.worked_s = 0.125;
  reply.verifying_s = 0.0625;
  const auto back = messages::reply_from(nlohmann::json::from_cbor(nlohmann::json::to_cbor(messages::reply(reply))));
  CHECK(back.outcome == measure::Outcome::WrongResult);
  CHECK(back.verified);
  CHECK(back.screened_out);
  CHECK(back.samples_us == reply.samples_us);
  CHECK(back.calls_per_sample == 77);
  CHECK(back.detail == "why");
  CHECK(back.worked_s == 0.125);
  CHECK(back.verifying_s == 0.0625);
}

TEST_CASE("errors of the worker arrive in their class, with the same text and exit code") {
  const SpecError spec_error("t.json", 3, 14, "failed reading it");
  CHECK_THROWS_WITH_AS(messages::rethrow(messages::failure(spec_error)), spec_error.what(), SpecError);
  CHECK_THROWS_WITH_AS(messages::rethrow(messages::failure(CudaError(700, "cuCall", "failed x"))), "failed x", CudaError);
  CHECK_THROWS_WITH_AS(messages::rethrow(messages::failure(EnvironmentError("no room"))), "no room", EnvironmentError);
  CHECK_THROWS_WITH_AS(messages::rethrow(messages::failure(UsageError("no such"))), "no such", UsageError);
  CHECK_THROWS_WITH_AS(messages::rethrow(messages::failure(std::runtime_error("oops"))), "oops", Error);
  try {
    messages::rethrow(messages::failure(Error("odd", ExitCode::Spec)));
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.exit_code() == ExitCode::Spec);
  }
  CHECK_NOTHROW(messages::rethrow({{"prepared", true}}));
}

}  // namespace test_messages
