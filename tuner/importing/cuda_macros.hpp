#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/importing/cuda_tokens.hpp"

namespace attune::importing {

/// A number that a source gives a name.
struct SourceName {
  enum class Kind {
    Guarded,   ///< #define behind #ifndef: another definition before it counts instead
    Defined,   ///< #define
    Constant,  ///< constexpr or const
    TemplateArgument,
  } kind = Kind::Defined;
  std::string name, value;             ///< as written
  std::optional<std::int64_t> number;  ///< of a value that is a whole number
  bool used = false;                   ///< anywhere but in its own definition
  spec::SourcePosition position;
  int conditions = 0;  ///< #if that are open around a macro's definition
};

/// Macros without arguments and constants, in the source's order. Requires: a source without comments.
[[nodiscard]] std::vector<SourceName> source_names(const std::string& code, const std::string& file);

/// The whole number that a value is, with `known` names in it.
[[nodiscard]] std::optional<std::int64_t> macro_number(const std::string& value, const std::map<std::string, std::string>& known);

/// What kind of number a name looks like.
enum class NameLook {
  Threads,  ///< of a block: BLOCK_SIZE
  Tile,     ///< elements of a block: TILE_X
  Work,     ///< elements of a thread: ITEMS, UNROLL
  Vector,   ///< of one load: VEC
  Switch,   ///< USE_SHARED
  Changes,  ///< what is computed: RADIUS
  Nothing,
};
[[nodiscard]] NameLook look_of(const std::string& name);
/// Which axis it is of: 'x', 'y', 'z'; 0: the name does not say.
[[nodiscard]] char axis_of(const std::string& name);
/// Values to try around the given one, ascending, which is one of them.
[[nodiscard]] std::vector<std::int64_t> values_around(NameLook look, std::int64_t given);

/// An expression of attune's language that means the same as C++ on whole numbers: names as `replaced` has them, those of `kept` as they
/// are. Nothing where other names or operators occur.
[[nodiscard]] std::optional<std::string> whole_expression(const Tokens& tokens, const std::map<std::string, std::string>& replaced);

}  // namespace attune::importing
