#include "attune/reduction.hpp"

#include <fmt/core.h>

#include <cmath>

#include "attune/error.hpp"
#include "tuner/spec/element.hpp"

namespace attune::detail {
namespace {

bool is_floating(const std::string& type) {
  const auto known = spec::find_element_type(type);
  return known && spec::is_floating(*known);
}

const char* word(Transform transform) {
  switch (transform) {
    case Transform::Identity:
      return "identity";
    case Transform::Absolute:
      return "absolute";
    case Transform::Square:
      return "square";
    case Transform::ShiftedSquare:
      return "shifted_square";
  }
  return "";  // no value of Transform: refused as an unknown choice
}

const char* word(Finish finish) {
  switch (finish) {
    case Finish::None:
      return "none";
    case Finish::Mean:
      return "mean";
    case Finish::Root:
      return "root";
    case Finish::ScaleBias:
      return "scale_bias";
  }
  return "";
}

const char* word(Accumulate accumulate) {
  switch (accumulate) {
    case Accumulate::FixedOrder:
      return "fixed_order";
    case Accumulate::Compensated:
      return "compensated";
    case Accumulate::FixedPoint:
      return "fixed_point";
  }
  return "";
}

[[noreturn]] void refuse_reduction(const std::string& why) { throw UsageError("failed describing a reduction: " + why); }

void add_operator(Choices& choices, const Reduction& reduction, const std::string& type) {
  if (const auto* custom = std::get_if<CustomOp>(&reduction.op)) {
    choices["op"] = "custom";
    choices["combine"] = custom->combine;
    choices["start"] = custom->identity;
    return;
  }
  const Op op = std::get<Op>(reduction.op);
  if (is_floating(type) && (op == Op::And || op == Op::Or || op == Op::Xor)) {
    refuse_reduction(fmt::format("'{}' combines the bits of integers, and the elements are {}; use sum, product, min or max, or a CustomOp",
                                 detail::name(op), type));
  }
  choices["op"] = detail::name(op);
}

void add_transform(Choices& choices, const Reduction& reduction, Inputs inputs) {
  const auto* const own = std::get_if<CustomTransform>(&reduction.transform);
  const auto* const known = std::get_if<Transform>(&reduction.transform);
  if (inputs == Inputs::Two) {
    if (own != nullptr || *known != Transform::Identity) {
      refuse_reduction(
          "elements of two inputs are multiplied and cannot be transformed as well; leave out the transform, or use one input");
    }
    choices["transform"] = "times";
  } else if (own != nullptr) {
    choices["transform"] = "custom";
    choices["map"] = own->map;
  } else {
    choices["transform"] = word(*known);
  }
}

/// Whether the accumulator can count in it: neither it nor its inverse is 0 or infinite there.
template <class A>
bool is_unit(double resolution) {
  const A unit = static_cast<A>(resolution);
  return unit > 0 && std::isfinite(unit) && std::isfinite(A{1} / unit);
}

void check_resolution(const Reproducible& how, const std::string& type) {
  if (how.accumulate != Accumulate::FixedPoint) {
    if (how.resolution != 0) refuse_reduction("a resolution is of Accumulate::FixedPoint; leave it out");
    return;
  }
  if (!(type == "f64" ? is_unit<double>(how.resolution) : is_unit<float>(how.resolution))) {
    refuse_reduction(
        fmt::format("the resolution of Accumulate::FixedPoint is {}; give a positive number that {} can represent, and its inverse as well",
                    how.resolution, type == "f64" ? "f64" : "f32"));
  }
}

}  // namespace

const char* name(Op op) {
  switch (op) {
    case Op::Sum:
      return "sum";
    case Op::Min:
      return "min";
    case Op::Max:
      return "max";
    case Op::Product:
      return "product";
    case Op::And:
      return "and";
    case Op::Or:
      return "or";
    case Op::Xor:
      return "xor";
  }
  return "";
}

Choices reduce_choices(const Reduction& reduction, const std::string& type, Inputs inputs) {
  Choices choices{{"T", type}};
  add_operator(choices, reduction, type);
  add_transform(choices, reduction, inputs);
  if (!is_floating(type) && (reduction.finish == Finish::Mean || reduction.finish == Finish::Root)) {
    refuse_reduction(
        fmt::format("the finish '{}' is of floating-point elements, and these are {}; finish the sum on the host, or in another kernel",
                    word(reduction.finish), type));
  }
  choices["finish"] = word(reduction.finish);
  return choices;
}

Choices reproducible_choices(const Reduction& reduction, const Reproducible& how, const std::string& type, Inputs inputs) {
  Choices choices = reduce_choices(reduction, type, inputs);
  if (how.accumulate != Accumulate::FixedOrder && choices["op"] != "sum") {
    refuse_reduction(fmt::format("the accumulation '{}' is of sums, and the operator is '{}'; use Accumulate::FixedOrder",
                                 word(how.accumulate), choices["op"]));
  }
  check_resolution(how, type);
  choices["accumulate"] = word(how.accumulate);
  return choices;
}

}  // namespace attune::detail
