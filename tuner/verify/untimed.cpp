#include "tuner/verify/untimed.hpp"

#include <fmt/core.h>

namespace attune::verify {
namespace {

constexpr int kNothingPromised = 0xFF;
constexpr std::size_t kCopyAlign = 16;

}  // namespace

UntimedCall::UntimedCall(spec::LaunchPlan plan, const gpu::Module& module)
    : plan_(std::move(plan)), call_(plan_, module), layout_(plan_.buffers, Part::Scratch) {}

void UntimedCall::enqueue(Addresses addresses, Support& support) const {
  place(layout_, scratch_, addresses);
  if (scratch_bytes() > 0) layout_.guard(support, scratch_, Guard::LowFirst);
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const auto& buffer = plan_.buffers[i];
    if (!layout_.holds(i) || buffer.init == spec::WorkspaceInit::ZeroEach) continue;
    support.set_bytes(addresses[i], static_cast<std::size_t>(buffer.bytes),
                      buffer.init == spec::WorkspaceInit::None ? kNothingPromised : 0);
  }
  call_.enqueue(addresses, support.stream().get());
}

void UntimedCall::check_guards(Support& support) const {
  if (scratch_bytes() > 0) layout_.check_guards(support, scratch_, Guard::LowFirst);
}

Untimed::Untimed(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
                 const gpu::Module& module, const spec::DeviceInfo& device) {
  if (spec::has_own_setup(kernel)) setup.emplace(spec::resolve_setup(kernel, problem, configuration, device), module);
  if (!kernel.check.empty()) check.emplace(spec::resolve_check(kernel, problem, configuration, device), module);
}

std::size_t Untimed::scratch_bytes() const { return (setup ? setup->scratch_bytes() : 0) + (check ? check->scratch_bytes() : 0); }

void Untimed::set_scratch(CUdeviceptr start) {
  if (setup) setup->set_scratch(start);
  if (check) check->set_scratch(start + (setup ? setup->scratch_bytes() : 0));
}

PreparedBuffers::PreparedBuffers(const spec::KernelTemplate& kernel, const std::string& setup_cubin, Support& support)
    : kernel_(&kernel), support_(&support) {
  if (!kernel.setup_is_shared) return;
  if (setup_cubin.empty())
    throw Error(fmt::format("failed preparing template \"{}\": the code of its setup was not compiled", kernel.name));
  module_.emplace(setup_cubin);
}

std::optional<UntimedCall> PreparedBuffers::shared_setup(const spec::Problem& problem) const {
  if (!module_) return std::nullopt;
  auto plan = spec::resolve_setup(*kernel_, problem, spec::default_configuration(*kernel_), support_->device());
  try {
    return UntimedCall(std::move(plan), *module_);
  } catch (const CudaError&) {  // whoever ends the worker wants its result
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: \"setup\": {}", kernel_->spec_path, error.what()), error.exit_code());
  }
}

template <class Use>
void PreparedBuffers::for_each(const std::vector<spec::ResolvedBuffer>& buffers, Use use) const {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!kernel_->buffers[i].prepared) continue;
    const auto bytes = static_cast<std::size_t>(buffers[i].bytes);
    use(i, bytes, offset);
    offset += (bytes + kCopyAlign - 1) / kCopyAlign * kCopyAlign;
  }
}

std::size_t PreparedBuffers::copy_bytes(const std::vector<spec::ResolvedBuffer>& buffers) const {
  std::size_t all = 0;
  for_each(buffers, [&](std::size_t, std::size_t bytes, std::size_t offset) { all = offset + bytes; });
  return all;
}

void PreparedBuffers::write(const std::vector<spec::ResolvedBuffer>& buffers, const Addresses& addresses, const UntimedCall& setup) {
  for_each(buffers,
           [&](std::size_t i, std::size_t bytes, std::size_t) { support_->set_bytes(addresses[i], bytes, poison_of(buffers[i].type)); });
  setup.enqueue(addresses, *support_);
}

void PreparedBuffers::keep(const std::vector<spec::ResolvedBuffer>& buffers, const Addresses& addresses) {
  for_each(buffers,
           [&](std::size_t i, std::size_t bytes, std::size_t offset) { support_->copy(copies_.address() + offset, addresses[i], bytes); });
}

void PreparedBuffers::check(const std::vector<spec::ResolvedBuffer>& buffers, const Addresses& addresses) {
  for_each(buffers, [&](std::size_t i, std::size_t, std::size_t offset) {
    reference::Wanted same{};
    same.start = reinterpret_cast<const void*>(copies_.address() + offset);
    static_cast<void>(support_->compare({addresses[i], buffers[i].count, buffers[i].type}, same, 0,
                                        fmt::format("wrote to prepared buffer \"{}\"", buffers[i].name)));
  });
}

}  // namespace attune::verify
