#pragma once
#include <cstddef>

namespace attune::spec {

// How large a template may be. Templates also come from databases and exchange files of others, and are read while somebody waits:
// everything that reads them takes time in proportion to their size, and memory in proportion to these limits, which are far above
// what anybody writes by hand. What passes here can be exported and imported (db/row_check.cpp has wider limits).
// docs/template-format.md, "Limits", names them.

inline constexpr std::size_t kMostSpecBytes = std::size_t{8} << 20;  ///< of each JSON file of a template or reference
inline constexpr std::size_t kMostSpecValues = 200'000;              ///< members and items in one of them
inline constexpr int kMostSpecDepth = 32;
inline constexpr std::size_t kMostNames = 1'000;      ///< axes, types, parameters, lets, buffers and scalars together
inline constexpr std::size_t kMostNameBytes = 128;    ///< of a name, and of the template's own
inline constexpr std::size_t kMostRungs = 1'000;      ///< of a ladder
inline constexpr std::size_t kMostArguments = 4'096;  ///< of a kernel: 8 bytes each are what CUDA passes
inline constexpr std::size_t kMostExpressionBytes = 16'384;
/// All of them together: constraints are evaluated for every row of an import.
inline constexpr std::size_t kMostExpressionsBytes = 262'144;
inline constexpr std::size_t kMostListBytes = 65'536;  ///< of a Python list, in a T1 file or as "values"
/// Steps of computing the lists of a template, in bytes of their texts.
inline constexpr std::size_t kMostListWork = std::size_t{1} << 28;
inline constexpr std::size_t kMostOptions = 256;
inline constexpr std::size_t kMostOptionBytes = 1'024;
/// Options with every value of the names in them, in bytes of their texts.
inline constexpr std::size_t kMostOptionWork = std::size_t{1} << 26;
inline constexpr std::size_t kMostKernelBytes = 512;  ///< of a kernel's name with its namespaces and template arguments
inline constexpr std::size_t kMostTemplateArguments = 64;

inline constexpr std::size_t kMostFiles = 1'000;                        ///< sources and what they include
inline constexpr std::size_t kMostFileBytes = std::size_t{8} << 20;     ///< of all of them together
inline constexpr std::size_t kMostPathBytes = 256;                      ///< of one's path
inline constexpr std::size_t kMostIncludeDepth = 200;                   ///< as compilers have it
inline constexpr std::size_t kMostIncludes = 1'000;                     ///< put in place in one source
inline constexpr std::size_t kMostSourceBytes = std::size_t{16} << 20;  ///< of a source with its includes in place

}  // namespace attune::spec
