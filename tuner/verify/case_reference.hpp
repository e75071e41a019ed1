#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tuner/spec/reference_problem.hpp"
#include "tuner/verify/buffer_layout.hpp"
#include "tuner/verify/expectation.hpp"
#include "tuner/verify/reference_error.hpp"

namespace attune::verify {

/// A kernel of a reference with its arguments, which stand behind attune's own.
class ReferenceLaunch {
 public:
  /// `plan`: of spec::ReferenceProblem::arguments; `own_bytes`: the sizes of attune's arguments.
  /// Throws: ReferenceError (arguments differ from the compiled kernel).
  ReferenceLaunch(const spec::ReferenceDefinition& reference, const spec::LaunchPlan& plan, const gpu::Module& module,
                  const std::vector<int>& own_bytes);

  /// `addresses`: of the reference's buffers; `work`: elements that the kernel strides over.
  void enqueue(Support& support, const std::vector<void*>& own, const Addresses& addresses, std::uint64_t work);

 private:
  gpu::Function function_;
  std::vector<std::uint64_t> values_;
  std::vector<int> buffers_;  ///< buffer of each argument, -1: a value
};

/// Elements that are planted into a data set, in the order in which they are, with what is expected then.
struct Plants {
  bool descending = false;  ///< what was planted stays, from the last position on
  std::vector<reference::Plant> plants;
  gpu::Buffer memory;  ///< the same in device memory
};

/// Device memory of answers, in bytes.
struct AnswerMemory {
  std::size_t kept = 0;     ///< for as long as the answers are
  std::size_t scratch = 0;  ///< while they are computed
};

/// The reference of a template for one case: fills inputs, computes what is expected, plants.
class CaseReference {
 public:
  /// `module`: the reference's code; `asked`: whether the case is the asked one. Throws: ReferenceError, CudaError (a kernel that the code
  /// lacks or that takes other arguments than it is given), SpecError (what cannot be computed for this problem).
  CaseReference(spec::ReferenceProblem problem, const gpu::Module& module, Support& support, bool asked);

  [[nodiscard]] const spec::ReferenceProblem& problem() const noexcept { return problem_; }
  /// Whether the case is verified with a data set.
  [[nodiscard]] bool uses(std::size_t data) const;
  /// Fills a buffer of the template where the reference has a kernel for it, or, with `what`, checks whether it still holds what filling
  /// put there. Returns false where there is none.
  bool fill(std::size_t buffer, const Elements& target, std::size_t data, int group, std::uint64_t seed, const std::string* what);
  /// What stands around a buffer of the template; nothing: the extremes of its type.
  [[nodiscard]] std::optional<GuardValues> guards(std::size_t buffer, spec::ElementType type) const;
  /// What is expected for the data that is in the buffers now. Throws: ReferenceError (it does not say so of every element), LimitError.
  /// `base`: the same of the data set that this one alters. Waits. The launches may run twice.
  [[nodiscard]] Expectation expect(std::size_t data, const Addresses& addresses, const Expectation* base);
  /// The elements in which a data set differs from its base, which is in the buffers now, with its answers; an expectation that has nothing
  /// else, and nothing at all where the data set does not exist. Waits. Throws: ReferenceError (more elements than an Alteration holds, or
  /// elements that the buffer does not have).
  [[nodiscard]] std::optional<Expectation> alteration(std::size_t data, const Addresses& addresses, const Elements& input,
                                                      const Expectation& base);
  /// The template's buffer whose elements are altered. Requires: some data set alters another.
  [[nodiscard]] std::size_t altered_buffer() const;
  /// The template's buffer that elements are planted into; nothing: into none of this data set.
  [[nodiscard]] std::optional<std::size_t> planted_buffer(std::size_t data);
  /// Elements at these positions, as the reference plants them into the data, which is in the buffers now. Waits.
  /// Throws: ReferenceError (changes of what no output has).
  [[nodiscard]] Plants plant(std::size_t data, const Addresses& addresses, const std::vector<std::int64_t>& positions,
                             const Elements& input, const Expectation& expectation);
  /// What the answers of one data set take.
  [[nodiscard]] AnswerMemory answer_memory(std::size_t data) const;

 private:
  using Key = std::tuple<std::string, std::size_t, int>;  ///< what for, data set, group
  /// Nothing where its condition does not hold.
  ReferenceLaunch* bound(const Key& key, const spec::ReferenceKernel& kernel, const std::vector<int>& own_bytes);
  ReferenceLaunch* bind_fill(const spec::RoleSpec& input, std::size_t data, int group);
  ReferenceLaunch& bind_alter(std::size_t data);
  /// Addresses of the reference's buffers: those of the template's, what is expected, what is kept; scratch is 0.
  [[nodiscard]] Addresses reference_addresses(const Addresses& addresses, const Expectation* expectation) const;
  /// An output of which values are expected, and a mark for each that may not have been written.
  struct SaidValues {
    Elements values;
    gpu::Buffer marks;
  };
  [[nodiscard]] std::vector<SaidValues> said_values(const spec::LaunchPlan& plan, const Addresses& all) const;
  /// Of which elements what is expected was not written; after the first pass also values that are right. Waits.
  [[nodiscard]] std::optional<Finding> unsaid(const Expectation& expectation, const std::vector<SaidValues>& values, Pass pass) const;
  void check_changes(const reference::Plant& plant, const Expectation& expectation) const;
  /// Throws: ReferenceError.
  [[noreturn]] void refuse(const spec::ReferenceKernel& kernel, const std::string& why) const;
  void allocate(Expectation& expectation, std::size_t data, const spec::LaunchPlan& plan);

  spec::ReferenceProblem problem_;
  const gpu::Module* module_;
  Support* support_;
  bool asked_;
  std::map<Key, std::optional<ReferenceLaunch>> launches_;
};

}  // namespace attune::verify
