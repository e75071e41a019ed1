#pragma once
#include <string>
#include <string_view>

namespace attune::spec {

/// Why a template may not give this option to the compiler; empty when it may. Only what is known to change nothing but the code or the
/// warnings of this one source passes, in one of NVRTC's own two spellings and with its value behind '=': templates come from
/// databases and exchange files of others, and options of NVRTC write files (-create-pch), append to files (-time) and
/// read them (-I). A list of what is refused would have to know every version of NVRTC.
/// Source: options and values of NVRTC 13.0; docs/template-format.md names those that pass.
[[nodiscard]] std::string why_no_option(std::string_view option);

}  // namespace attune::spec
