// A compile worker without NVRTC: what a request's source says is what happens to it.
//   "ok ..."      answers Ok with the source as the cubin
//   "bad ..."     answers Failed
//   "broken ..."  answers Crashed, as when NVRTC reports an internal error
//   "exit"        leaves with code 7
//   "exit once F" leaves with code 7 unless file F exists, which it makes; then answers Ok
//   "hang ..."    never answers
//   "crowded ..." answers Ok after 60 ms of processor time, of which it gets little at a time, as on an overloaded machine
//   "late MS"     answers Ok after it slept so many milliseconds
//   "endless ..." uses processor time for ever
//   "last words"  prints a line to standard error and leaves with code 8
// $ATTUNE_FAULTY_BUILD names a file that holds the NVRTC build to report; $ATTUNE_FAULTY_START=exit leaves at the
// start.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/process.hpp"
#include "tuner/compile/compiler.hpp"

namespace {

using namespace attune;

std::string build() {
  const char* const file = std::getenv("ATTUNE_FAULTY_BUILD");
  return file == nullptr ? "1.0 test" : base::read_file(file);
}

void be_crowded() {
  for (int i = 0; i < 30; ++i) {
    const std::clock_t begin = std::clock();
    while (std::clock() - begin < CLOCKS_PER_SEC / 500) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

compile::CompileResult answer(const compile::CompileRequest& request) {
  const std::string& source = request.source;
  if (source == "exit") ::_exit(7);
  if (source == "last words") {
    (void)!::write(STDERR_FILENO, "cannot go on\n", 13);
    ::_exit(8);
  }
  if (source.starts_with("hang")) {
    for (;;) ::pause();
  }
  if (source.starts_with("endless")) {
    for (;;) (void)std::clock();
  }
  if (source.starts_with("crowded")) be_crowded();
  if (source.starts_with("late ")) std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(source.substr(5))));
  const std::string once = "exit once ";
  if (source.starts_with(once)) {
    const std::filesystem::path flag = source.substr(once.size());
    if (!std::filesystem::exists(flag)) {
      test::write_bytes(flag, "");
      ::_exit(7);
    }
  }
  compile::CompileResult result;
  result.status = source.starts_with("bad")      ? compile::CompileStatus::Failed
                  : source.starts_with("broken") ? compile::CompileStatus::Crashed
                                                 : compile::CompileStatus::Ok;
  result.key = compile::cubin_key(request, build());
  result.cubin = source;
  result.log = "from process " + std::to_string(::getpid());
  result.compile_ms = 1;
  return result;
}

}  // namespace

int main() {
  base::Channel channel = base::enter_worker();
  const char* const start = std::getenv("ATTUNE_FAULTY_START");
  if (start != nullptr && std::string(start) == "exit") return 9;
  try {
    channel.send({{"nvrtc", build()}});
    for (;;) {
      const auto message = channel.receive(std::chrono::milliseconds(-1));
      channel.send(compile::to_json(answer(compile::request_from_json(message.value()))));
    }
  } catch (const base::ChannelClosed&) {
    return 0;
  }
}
