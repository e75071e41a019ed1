#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/importing/index_reach.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/spec/element.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using Role = ImportedArgument::Role;

bool is_zero(const Tokens& index) { return index.size() == 1 && index[0].is("0"); }
bool is_block_number(const Tokens& index) { return index.size() == 3 && index[0].is("blockIdx") && index[2].is("x"); }

/// Each factor is a name, a number or in parentheses.
std::string product_of(const std::vector<std::string>& factors) {
  std::string product;
  for (const std::string& factor : factors) {
    const bool plain = std::all_of(factor.begin(), factor.end(), base::is_name_part);
    product += fmt::format("{}{}", product.empty() ? "" : " * ", plain ? factor : fmt::format("({})", factor));
  }
  return product;
}

/// As the template says them: sizes by its names, blocks and threads by the launch; both together are what the blocks cover.
std::vector<std::string> factors_of(const InitDraft& draft, const Reach& reach) {
  std::vector<std::string> factors;
  const auto add = [&](const std::string& name, const std::string& text) {
    const auto found = reach.find(name);
    if (text != "1" && found != reach.end()) factors.insert(factors.end(), static_cast<std::size_t>(found->second), text);
  };
  for (std::size_t axis = 0; axis < draft.kernel.grid.size(); ++axis) add(fmt::format("blockIdx.{}", "xyz"[axis]), draft.kernel.grid[axis]);
  for (std::size_t axis = 0; axis < draft.kernel.block.size(); ++axis) {
    const bool covers =
        axis < draft.per_block.size() && draft.per_block[axis] != "1" && reach.contains(fmt::format("blockIdx.{}", "xyz"[axis]));
    add(fmt::format("threadIdx.{}", "xyz"[axis]), covers ? draft.per_block[axis] : draft.kernel.block[axis]);
  }
  for (const std::string& name : draft.size_order) add(name, draft.size_names.at(name));
  return factors;
}

/// How many elements a pointer has, as its indices show.
std::string count_of(const InitDraft& draft, const PointerUse& use) {
  const auto all = [&](auto&& is) {
    return !use.escapes && !use.indices.empty() && std::all_of(use.indices.begin(), use.indices.end(), is);
  };
  if (all(is_zero)) return "1";
  if (all(is_block_number)) return draft.kernel.grid.front();
  Reach reach = index_reach(draft.usage, use.indices, draft.sizes);
  if (reach.empty()) {
    for (const std::string& name : draft.size_order) reach[name] = 1;
  }
  const std::string product = product_of(factors_of(draft, reach));
  return product.empty() ? draft.kernel.sizes.front().name : product;
}

const char* text_of_role(Role role) { return role == Role::Input ? "input" : role == Role::Output ? "output" : "both"; }

std::string role_fault(const std::string& text) {
  return text == "input" || text == "output" || text == "both" ? "" : "say input, output or both";
}

Role role_of(const KernelArgument& argument, const PointerUse& use) {
  if (argument.to_const) return Role::Input;
  if (use.updated || use.escapes) return Role::Both;
  if (use.written) return use.read || argument.layout.struct_bytes > 0 ? Role::Both : Role::Output;  // it may not write all of a struct
  return use.read ? Role::Input : Role::Both;
}

std::string why_of(const PointerUse& use, Role role) {
  if (use.updated) return "the kernel adds to what is in it";
  if (use.escapes) return "it is handed on, and not all uses show";
  if (role == Role::Both)
    return use.read      ? "the kernel reads and writes it"
           : use.written ? "the kernel may not write all bytes of a struct"
                         : "no use of it shows";
  return role == Role::Output ? "the kernel only writes it" : "the kernel only reads it";
}

/// An index that may lead beyond that many elements, as the source writes it; empty: none shows.
std::string index_beyond(const InitDraft& draft, const PointerUse& use) {
  for (const Tokens& index : use.indices) {
    const Tokens beyond = beyond_sizes(draft.usage, index, draft.sizes);
    if (!beyond.empty()) return shown(beyond);
  }
  return "";
}

std::string buffer_remark(const KernelArgument& argument, const PointerUse& use, Role role, const std::string& beyond) {
  if (use.is_index) return "decide: what indices it holds; zeros are in range of everything";
  if (role == Role::Both && use.updated)
    return fmt::format(
        "decide: it adds to random numbers; to begin at zero drop \"input\" and put {{\"memset\": \"{}\", \"byte\": 0}} before the launch",
        argument.name);
  if (use.escapes) return "decide: its number of elements, and whether it is input, output or both; the source does not show all uses";
  if (!beyond.empty()) return fmt::format("decide: its number of elements; the kernel counts '{}' in its index", beyond);
  if (argument.layout.struct_bytes > 0 && role != Role::Output)
    return fmt::format(
        "decide: what is in it; its bits are random, whatever the members of {} are: \"fill\": {{\"file\": \"{}.bin\"}} takes a file",
        argument.type, argument.name);
  return argument.layout.remark;
}

/// Empty: it is always the same type.
std::string axis_of_type(const InitDraft& draft, const KernelArgument& argument) {
  for (const TemplateParameter& parameter : draft.template_parameters) {
    if (argument.of_template && parameter.name == argument.type) return parameter.own_name;
  }
  return "";
}

std::string shown_type(const ImportedArgument& made) { return made.type_axis.empty() ? spec::name(made.type) : made.type_axis; }

/// Bytes of one element of an array in shared memory, an expression; empty: its type is not known.
std::string element_bytes(const InitDraft& draft, const std::string& type) {
  for (const TemplateParameter& parameter : draft.template_parameters) {
    if (parameter.is_type && parameter.name == type) return fmt::format("sizeof({})", parameter.own_name);
  }
  const auto layout = find_element_layout(type);
  return layout ? std::to_string(layout->lanes * spec::size_bytes(layout->type)) : "";
}

ImportedArgument buffer_of(InitDraft& draft, const KernelArgument& argument) {
  const PointerUse& use = draft.usage.pointers.at(argument.name);
  const std::string about = fmt::format("the buffer '{}'", argument.name);
  ImportedArgument made;
  made.name = argument.name;
  made.type = argument.layout.type;
  made.type_axis = axis_of_type(draft, argument);
  made.align_bytes = argument.layout.align_bytes;
  made.struct_bytes = argument.layout.struct_bytes;
  const std::string type = made.struct_bytes > 0 ? argument.type : shown_type(made);
  made.role = role_of(argument, use);
  if (!argument.to_const) {
    const std::string answer = draft.guess({about, "input, output or both", text_of_role(made.role), role_fault});
    made.role = answer == "input" ? Role::Input : answer == "output" ? Role::Output : Role::Both;
  }
  std::string count = count_of(draft, use);
  if (argument.layout.lanes > 1) count = fmt::format("{} * {}", count, argument.layout.lanes);
  made.count = draft.guess({about, fmt::format("its number of elements of {}", type), count, expression_fault});
  const std::string beyond = made.count == count ? index_beyond(draft, use) : "";
  made.remark = buffer_remark(argument, use, made.role, beyond);
  if (use.is_index) made.fill = spec::Fill::Zeros;
  if (argument.type == "bool") made.fill = spec::Fill::Ones;
  draft.note(
      argument.to_const ? Note::Kind::Taken : Note::Kind::Guessed, about,
      fmt::format("{}, {}", text_of_role(made.role), argument.to_const ? "since it points to const" : "since " + why_of(use, made.role)));
  draft.note(Note::Kind::Guessed, about, fmt::format("{}[{}]", type, made.count));
  if (made.struct_bytes > 0)
    draft.note(Note::Kind::Taken, about,
               fmt::format("structs of {} bytes at multiples of {}, as the compiler says", made.struct_bytes, made.align_bytes));
  if (!beyond.empty())
    draft.note(Note::Kind::Decide, about,
               fmt::format("whether {} elements are enough: the kernel counts '{}' in its index", made.count, beyond));
  return made;
}

ImportedArgument scalar_of(InitDraft& draft, const KernelArgument& argument) {
  ImportedArgument made;
  made.role = Role::Scalar;
  made.name = argument.name;
  made.type = argument.layout.type;
  made.type_axis = axis_of_type(draft, argument);
  const bool fraction = made.type_axis.empty() && spec::is_floating(made.type);
  const std::string about = fmt::format("the scalar '{}'", argument.name);
  made.value = draft.guess({about, "the value that tuning passes", fraction ? "1.5" : "1", expression_fault});
  made.remark = "decide: the value that tuning passes";
  draft.note(Note::Kind::Guessed, about, fmt::format("{} of type {}", made.value, shown_type(made)));
  return made;
}

/// Dynamic shared memory: an element for each thread, unless somebody says otherwise.
void add_dynamic_shared(InitDraft& draft) {
  for (const SharedArray& array : draft.usage.shared) {
    if (!array.dimensions.empty()) continue;
    const std::string bytes = element_bytes(draft, array.type);
    const std::string count = fmt::format("{} * {}", product_of(draft.kernel.block), bytes.empty() ? "1" : bytes);
    const std::string about = fmt::format("the shared array '{}'", array.name);
    draft.kernel.shared_bytes = draft.guess({about, "bytes of dynamic shared memory", count, expression_fault});
    draft.note(Note::Kind::Decide, about,
               fmt::format("its bytes are the launch's to say: {}, an element for each thread", draft.kernel.shared_bytes));
    return;  // a kernel has one such memory, whatever its arrays are called
  }
}

}  // namespace

std::string expression_fault(const std::string& text) {
  try {
    static_cast<void>(spec::Expression::parse(text));
    return "";
  } catch (const SpecError& error) {
    return error.what();
  }
}

void draft_arguments(InitDraft& draft) {
  if (std::none_of(draft.arguments.begin(), draft.arguments.end(), [](const auto& one) { return one.pointer; }))
    spec::fail(
        draft.source.position,
        fmt::format("'{}' takes no pointers, so that nothing shows what it computes; pass it a buffer for its results", draft.source.name));
  for (const KernelArgument& argument : draft.arguments) {
    if (draft.sizes.contains(argument.name)) {
      ImportedArgument made;
      made.role = Role::Size;
      made.name = draft.size_names.at(argument.name);
      made.type = argument.layout.type;
      draft.kernel.arguments.push_back(std::move(made));
    } else {
      draft.kernel.arguments.push_back(argument.pointer ? buffer_of(draft, argument) : scalar_of(draft, argument));
    }
  }
  const auto& made = draft.kernel.arguments;
  if (std::none_of(made.begin(), made.end(), [](const auto& one) { return one.role == Role::Output || one.role == Role::Both; }))
    spec::fail(draft.source.position, fmt::format("'{}' writes to none of its pointers; a template needs an output: a pointer not to const "
                                                  "that it writes to",
                                                  draft.source.name));
  add_dynamic_shared(draft);
}

void draft_constraints(InitDraft& draft) {
  const auto has_parameter = [&](const std::string& text) {
    return std::any_of(draft.kernel.parameters.begin(), draft.kernel.parameters.end(),
                       [&](const auto& one) { return contains_word(cuda_tokens(text), one.name); });
  };
  const std::string threads = product_of(draft.kernel.block);
  if (has_parameter(threads) && threads != "block_size") draft.kernel.constraints.push_back(threads + " <= device.max_threads_per_block");
  std::string bytes;
  for (const SharedArray& array : draft.usage.shared) {
    if (array.dimensions.empty()) continue;
    std::string product = element_bytes(draft, array.type);
    for (const Tokens& dimension : array.dimensions) {
      const auto text = whole_expression(dimension, draft.expressions);
      if (!text || product.empty()) {
        draft.note(Note::Kind::LeftOut, fmt::format("the shared array '{}'", array.name),
                   "its size is no expression of parameters and numbers; no condition is made of it");
        return;
      }
      product = fmt::format("{} * {}", dimension.size() > 1 ? fmt::format("({})", *text) : *text, product);
    }
    bytes += (bytes.empty() ? "" : " + ") + product;
  }
  if (bytes.empty()) return;
  draft.shared_bytes = bytes;
  if (has_parameter(bytes)) draft.kernel.constraints.push_back(bytes + " <= device.shared_per_block_bytes");
}

}  // namespace attune::importing
