#include "bench/support/reduction_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"

namespace attune::bench {
namespace {

using Operator = CubReduction::Operator;

struct ReductionKind {
  const char* type;
  const char* op;
  Element element;
  Operator peer_op;
};

constexpr ReductionKind kReductionKinds[] = {{"f32", "sum", Element::F32, Operator::Sum}, {"f64", "sum", Element::F64, Operator::Sum},
                                             {"i32", "sum", Element::I32, Operator::Sum}, {"i8", "sum", Element::I8, Operator::Sum},
                                             {"f16", "sum", Element::F16, Operator::Sum}, {"bf16", "sum", Element::Bf16, Operator::Sum},
                                             {"f32", "max", Element::F32, Operator::Max}};

/// Few long rows, a matrix of about square shape, many short rows.
constexpr std::int64_t kShapes[][2] = {{64, std::int64_t{1} << 22}, {16384, 16384}, {std::int64_t{1} << 22, 64}};

template <class T>
double largest_difference(const std::vector<unsigned char>& ours, const std::vector<unsigned char>& theirs, std::size_t bytes) {
  double largest = 0;
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, &ours[at], sizeof a);
    std::memcpy(&b, &theirs[at], sizeof b);
    largest = std::max(largest, std::abs(static_cast<double>(a) - static_cast<double>(b)) / std::abs(static_cast<double>(b)));
    if (!(largest <= 1)) return 1;  // a NaN too
  }
  return largest;
}

}  // namespace

std::size_t ReductionProblem::input_bytes() const { return static_cast<std::size_t>(peer.rows * peer.columns) * size_bytes(peer.element); }

std::size_t ReductionProblem::output_bytes() const {
  if (peer.op == Operator::ArgMax) return 16;
  const std::size_t each = peer.element == Element::F64 ? 8 : 4;  // narrower types accumulate in 4 bytes
  return static_cast<std::size_t>(peer.rows) * each;
}

double ReductionProblem::tolerance() const {
  if (peer.op != Operator::Sum || is_integer(peer.element)) return 0;
  return peer.element == Element::F64 ? 1e-12 : 3e-6;  // far above rounding, far below what one lost tile would do
}

double checked_difference(const ReductionProblem& problem, const std::vector<unsigned char>& ours, const std::vector<unsigned char>& theirs,
                          const std::string& peer) {
  const double tolerance = problem.tolerance();
  if (tolerance == 0) {
    const auto same = [&](std::size_t from, std::size_t to) {
      return std::equal(ours.begin() + static_cast<std::ptrdiff_t>(from), ours.begin() + static_cast<std::ptrdiff_t>(to),
                        theirs.begin() + static_cast<std::ptrdiff_t>(from));
    };
    const bool equal =
        problem.peer.op == Operator::ArgMax ? same(0, size_bytes(problem.peer.element)) && same(8, 16) : same(0, problem.output_bytes());
    if (!equal) throw Error(fmt::format("wrong result: attune and {} differ", peer));
    return 0;
  }
  const double difference = problem.peer.element == Element::F64 ? largest_difference<double>(ours, theirs, problem.output_bytes())
                                                                 : largest_difference<float>(ours, theirs, problem.output_bytes());
  if (!(difference <= tolerance)) throw Error(fmt::format("wrong result: it differs by {:.3g} of {}'s", difference, peer));
  return difference;
}

nlohmann::ordered_json ReductionProblem::to_json() const {
  nlohmann::ordered_json json{{"template", template_name}};
  for (const auto& [axis, value] : choices) json[axis] = value;
  if (sizes.size() == 2) {
    json["rows"] = peer.rows;
    json["columns"] = peer.columns;
  } else {
    json["n"] = peer.columns;
  }
  return json;
}

std::string ReductionProblem::kind() const {
  return choices.at("T") +
         (template_name == "argreduce"          ? " arg-"
          : template_name == "segmented_reduce" ? " row "
                                                : " ") +
         choices.at("op");
}

std::vector<ReductionProblem> reduction_problems(const std::vector<std::int64_t>& counts) {
  std::vector<ReductionProblem> problems;
  for (const ReductionKind& kind : kReductionKinds) {
    for (const std::int64_t n : counts) {
      problems.push_back({"reduce", {{"T", kind.type}, {"op", kind.op}}, {n}, {kind.peer_op, kind.element, 1, n}});
    }
  }
  for (const std::int64_t n : counts) {
    problems.push_back({"argreduce", {{"T", "f32"}, {"op", "max"}}, {n}, {Operator::ArgMax, Element::F32, 1, n}});
  }
  for (const auto& [rows, columns] : kShapes) {
    problems.push_back({"segmented_reduce", {{"T", "f32"}, {"op", "sum"}}, {rows, columns}, {Operator::Sum, Element::F32, rows, columns}});
  }
  return problems;
}

}  // namespace attune::bench
