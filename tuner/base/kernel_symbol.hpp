#pragma once
#include <string>
#include <vector>

namespace attune::base {

/// Which of the symbols in compiled code is the kernel that a launch names: the name itself where it is there (`extern "C"`), else the one
/// mangled name that says it, "scale", "ns::scale" or "gemm<128, true, float>". A name without template arguments is that of a function
/// that is no template. Inline namespaces, unnamed ones, and arguments at the end that stand at their defaults, may be left out; so may any
/// other namespace, since a symbol does not say which are inline, but a name with none is that of a function outside of all where there is
/// one. Where only one instance of the template is compiled it is meant, however its arguments are spelt. An instance whose arguments
/// cannot be read stands behind one whose arguments are read and fit. Empty: none is. Throws: Error where several are (overloads).
[[nodiscard]] std::string kernel_symbol(const std::vector<std::string>& symbols, const std::string& asked);

/// A symbol for people: "gemm<128, 1, float>" of a mangled one, any other as it is, at most 200 characters of it.
[[nodiscard]] std::string shown_kernel(const std::string& symbol);

}  // namespace attune::base
