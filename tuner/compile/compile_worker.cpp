#include <memory>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "tuner/base/process.hpp"
#include "tuner/compile/compiler.hpp"

namespace attune::compile {
namespace {

constexpr std::chrono::milliseconds kForEver{-1};

int serve(base::Channel& channel) {
  std::unique_ptr<Nvrtc> nvrtc;
  try {
    nvrtc = std::make_unique<Nvrtc>(Nvrtc::Headers::Precompiled);
  } catch (const Error& error) {  // the parent tells it, once, instead of every worker
    channel.send({{"error", error.what()}});
    return static_cast<int>(error.exit_code());
  }
  channel.send({{"nvrtc", nvrtc->build()}});
  for (;;) {
    const nlohmann::json message = channel.receive(kForEver).value();
    channel.send(to_json(nvrtc->compile(request_from_json(message))));
  }
}

}  // namespace

int compile_worker_main() {
  base::Channel channel = base::enter_worker();
  try {
    return serve(channel);
  } catch (const base::ChannelClosed&) {
    return static_cast<int>(ExitCode::Ok);  // the parent is done
  }
}

}  // namespace attune::compile
