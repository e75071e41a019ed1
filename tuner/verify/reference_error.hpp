#pragma once
#include <string>

#include "attune/error.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/spec/reference_problem.hpp"

namespace attune::verify {

/// What the code of a reference does and must not: no fault of a configuration.
class ReferenceError : public Error {
 public:
  /// `context_lost`: no other call of the process can succeed.
  explicit ReferenceError(const std::string& message, bool context_lost = false)
      : Error(message, ExitCode::Spec), context_lost_(context_lost) {}
  [[nodiscard]] bool context_lost() const noexcept { return context_lost_; }

 private:
  bool context_lost_;
};

/// What `use` returns, which runs what a reference says and no configuration's code: its errors are the reference's, but for a refusal and
/// a lack of memory. Requires: no kernel of a configuration is under way, whose fault would come to light here.
template <class Use>
auto on_behalf_of_reference(Use use) {
  try {
    return use();
  } catch (const ReferenceError&) {
    throw;
  } catch (const spec::ReferenceRefusal&) {
    throw;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const CudaError& error) {
    throw ReferenceError(std::string("failed running the code of the reference: ") + error.what(),
                         gpu::is_sticky(static_cast<CUresult>(error.result())));
  } catch (const Error& error) {
    throw ReferenceError(error.what());
  }
}

}  // namespace attune::verify
