#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/reference_definition.hpp"

namespace attune::spec {

/// A problem that a reference does not compute, or a configuration where it depends on parameters.
class ReferenceRefusal : public SpecError {
 public:
  using SpecError::SpecError;
};

/// A reference filled in for one problem of a template.
class ReferenceProblem {
 public:
  /// `buffers`: of the template, for this problem; scratch is not read. `configuration`: read where the template's reference depends on
  /// parameters. Keeps references to the kernel and the device. Requires: a Defined reference.
  /// Throws: ReferenceRefusal (also of buffers of other lengths than it needs), SpecError (what cannot be computed).
  ReferenceProblem(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                   const std::vector<ResolvedBuffer>& buffers, const DeviceInfo& device);

  [[nodiscard]] const ReferenceDefinition& definition() const noexcept { return *definition_; }
  /// Whether there is such a data set for the problem: its condition holds and, where it alters another, that one is there and the template
  /// has the buffer.
  [[nodiscard]] bool has(std::size_t data_set) const;
  /// Throws: SpecError (none, or more than 64).
  [[nodiscard]] int groups() const;
  /// The value of an expression over the reference's names, for a data set. Throws: SpecError at the expression (no integer, no number).
  [[nodiscard]] std::int64_t integer(const Expression& expression, std::size_t data_set = 0) const;
  [[nodiscard]] double number(const Expression& expression, std::size_t data_set = 0) const;
  /// The buffers of the reference and the steps that compute what is expected of a data set.
  [[nodiscard]] LaunchPlan expectation(std::size_t data_set) const;
  /// The arguments that a kernel takes behind attune's own; nothing where its condition does not hold.
  [[nodiscard]] std::optional<LaunchPlan> arguments(const ReferenceKernel& kernel, std::size_t data_set, int group = 0) const;
  /// How many elements a row of the buffer that is planted into has: a factor of the number of its elements. Requires: there is one.
  /// Throws: SpecError at the row.
  [[nodiscard]] std::int64_t planted_row(std::size_t data_set) const;
  /// Every launch of every data set, and of every kernel whose threads attune chooses, one after the other: what can be said of them
  /// without a device. Throws: SpecError at what cannot be computed or launched.
  void for_each_plan(const std::function<void(const LaunchPlan&)>& use) const;
  /// The template's buffer of each of the reference's, -1: a workspace, or one that the template lacks.
  [[nodiscard]] const std::vector<int>& template_buffers() const noexcept { return template_buffers_; }
  /// Where an input, output or workspace stands among the reference's buffers.
  [[nodiscard]] std::size_t form_buffer(const std::string& name) const;
  /// The template's buffer of an input or output; -1: it lacks it.
  [[nodiscard]] int template_buffer(const std::string& role) const { return template_buffers_[form_buffer(role)]; }
  /// What it depends on, in one form: equal texts, equal answers.
  [[nodiscard]] std::string text() const;
  /// The program to compile for it.
  [[nodiscard]] std::string source() const;

 private:
  void take_axes(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration);
  void take_scalars(const KernelTemplate& kernel, const Problem& problem);
  void take_buffers(const KernelTemplate& kernel, const std::vector<ResolvedBuffer>& buffers);
  void check(const KernelTemplate& kernel, const Problem& problem, const std::vector<ResolvedBuffer>& buffers) const;
  [[nodiscard]] Problem with(std::size_t data_set, int group) const;
  template <class Use>
  auto in_scope(std::size_t data_set, int group, Use use) const;

  std::shared_ptr<const ReferenceDefinition> definition_;
  const DeviceInfo* device_;
  KernelTemplate form_;  ///< the definition's, with the template's scalars as lets and without its files
  Problem problem_;      ///< of the form, but for `data` and `group`
  std::vector<int> template_buffers_;
};

/// What stands before the code of a reference: the numbers of element types, and of the data sets; of one that is compiled once also
/// those of its types' and choices' words. ATTUNE_TYPE_F32, ATTUNE_DATA_RANDOM, ATTUNE_OP_SUM.
[[nodiscard]] std::string reference_prelude(const ReferenceDefinition& definition);
/// What stands before attune's own device code: the numbers of element types, how many there are, and those of DataValues.
/// ATTUNE_TYPES, ATTUNE_VALUES_ZEROS.
[[nodiscard]] std::string support_prelude();

}  // namespace attune::spec
