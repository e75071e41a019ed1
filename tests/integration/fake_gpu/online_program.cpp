// A program that dispatches, for test_on_miss.cpp and test_ranks.cpp: runs steps given on its command line and prints one JSON object a
// line. Whatever a step throws is an "error" event, and the next step follows.
#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "attune/runtime.hpp"
#include "bench/support/command_line.hpp"
#include "tests/integration/fake_gpu/file_exchange.hpp"
#include "tuner/base/json.hpp"
#include "tuner/gpu/handles.hpp"

namespace {

using namespace attune;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kPatience_s = 240;  ///< background tuning is nice, and a test machine may be busy

void tell(const char* event, json fields) {
  fields["event"] = event;
  fmt::print("{}\n", base::dump_json_replacing(fields));
  std::fflush(stdout);
}

json to_json(const Decision& decision) {
  return {{"tier", name(decision.tier)},    {"configuration", base::parse_json(decision.configuration)},
          {"layer", decision.layer},        {"donor", decision.donor_problem},
          {"tuning", decision.tuning},      {"cubin_source", decision.cubin_source},
          {"agreement", decision.agreement}};
}

/// Device memory of a copy, on the context that is current.
struct Data {
  explicit Data(std::int64_t n) : values(static_cast<std::size_t>(n)), in(bytes() + 1), out(bytes() + 1) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * 7 + 1);
    const auto& driver = gpu::Driver::get();
    driver.cuMemsetD8Async(out.address(), 0, out.bytes(), stream.get());
    driver.cuMemcpyHtoDAsync(in.address(), values.data(), bytes(), stream.get());
    stream.synchronize();
  }
  [[nodiscard]] std::size_t bytes() const { return values.size() * sizeof(std::int32_t); }
  void launch(const Kernel& kernel) const {
    kernel.launch({static_cast<std::int64_t>(values.size())},
                  {Argument::pointer(reinterpret_cast<void*>(in.address())), Argument::pointer(reinterpret_cast<void*>(out.address()))},
                  stream.get());
  }
  [[nodiscard]] bool right() const {
    stream.synchronize();
    std::vector<std::int32_t> result(values.size());
    gpu::Driver::get().cuMemcpyDtoHAsync(result.data(), out.address(), bytes(), stream.get());
    stream.synchronize();
    return result == values;
  }
  std::vector<std::int32_t> values;
  gpu::Buffer in, out;
  gpu::Stream stream;
};

class Program {
 public:
  Program(const Options& options, std::string end, std::shared_ptr<test::FileExchange> exchange)
      : options_(options), end_(std::move(end)), exchange_(std::move(exchange)) {
    contexts_.resize(static_cast<std::size_t>(gpu::device_count()));
    device(0);
    restart();
  }

  void run(const std::string& step) {
    const std::size_t colon = step.find(':');
    const std::string verb = step.substr(0, colon);
    const std::int64_t number = colon == std::string::npos ? 0 : std::stoll(step.substr(colon + 1));
    try {
      act(verb, number);
    } catch (const NotTunedError& error) {
      tell("error", {{"step", step}, {"type", "NotTunedError"}, {"what", error.what()}});
    } catch (const AgreementError& error) {
      tell("error", {{"step", step}, {"type", "AgreementError"}, {"what", error.what()}});
    } catch (const UsageError& error) {
      tell("error", {{"step", step}, {"type", "UsageError"}, {"what", error.what()}});
    } catch (const Error& error) {
      tell("error", {{"step", step}, {"type", "Error"}, {"what", error.what()}});
    } catch (const std::exception& error) {
      tell("error", {{"step", step}, {"type", "exception"}, {"what", error.what()}});
    }
  }

 private:
  void act(const std::string& verb, std::int64_t number) {
    if (verb == "launch") return launch(number);
    if (verb == "bound") return launch_bound(number);
    if (verb == "race") return race(number);
    if (verb == "meanwhile") return launch_meanwhile(number);
    if (verb == "capture") return capture(number);
    if (verb == "adopt_during_capture") return adopt_during_capture(number);
    if (verb == "prepare") return kernel().prepare({number});
    if (verb == "explain") return tell("explain", to_json(kernel().explain({number})));
    if (verb == "device") return device(static_cast<int>(number));
    if (verb == "wait") return tell("waited", {{"idle", runtime_->wait_for_tuning(kPatience_s)}});
    if (verb == "counters") return counters();
    if (verb == "restart") return restart();
    if (verb == "hold") return std::this_thread::sleep_for(std::chrono::seconds(number));
    if (verb == "end") return end();
    throw UsageError("no step " + verb);
  }

  [[nodiscard]] Kernel kernel() const { return runtime_->kernel("brief", {{"T", "i32"}, {"end", end_}}); }

  void launch(std::int64_t n) {
    const Data data(n);
    data.launch(kernel());
    json fields = to_json(kernel().explain({n}));
    fields["right"] = data.right();
    tell("launch", std::move(fields));
  }

  /// With one bound kernel, kept from step to step.
  void launch_bound(std::int64_t n) {
    const Data data(n);
    if (!bound_stream_) bound_stream_.emplace();
    if (!bound_) bound_.emplace(kernel().on(bound_stream_->get()));
    bound_->launch({n}, {Argument::pointer(reinterpret_cast<void*>(data.in.address())),
                         Argument::pointer(reinterpret_cast<void*>(data.out.address()))});
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto* const last_block = reinterpret_cast<unsigned (*)()>(::dlsym(driver, "fake_cuda_last_block"));
    const unsigned block = last_block();
    bound_stream_->synchronize();
    tell("bound", {{"right", data.right()}, {"block_size", block}});
  }

  /// Four threads launch the same new size at once.
  void race(std::int64_t n) {
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        current().make_current();
        const Data data(n);
        data.launch(kernel());
        if (data.right()) ++right;
      });
    }
    for (auto& thread : threads) thread.join();
    tell("race", {{"right", right.load()}});
  }

  /// A thread launches a new size, for which it waits for the other ranks; this one launches one that is known (1000).
  void launch_meanwhile(std::int64_t n) {
    std::thread other([&] {
      current().make_current();
      const Data data(n);
      data.launch(kernel());
    });
    while (!exchange_->under_way()) std::this_thread::yield();
    const Data data(1000);
    data.launch(kernel());
    const bool right = data.right();
    const auto notices = runtime_->notices();
    tell("meanwhile", {{"right", right}, {"under_way", exchange_->under_way()}});
    other.join();
  }

  void capture(std::int64_t n) {
    const Data data(n);
    const auto& driver = gpu::Driver::get();
    gpu::check(driver.cuStreamBeginCapture(data.stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture", "capturing");
    std::optional<std::string> refused;
    try {
      data.launch(kernel());
    } catch (const UsageError& error) {
      refused = error.what();
    }
    CUgraph graph = nullptr;
    gpu::check(driver.cuStreamEndCapture(data.stream.get(), &graph), "cuStreamEndCapture", "capturing");
    driver.cuGraphDestroy(graph);
    tell("capture", {{"refused", refused.value_or("")}});
  }

  /// A global capture is open on this thread from before the tuning ends until its result is used.
  void adopt_during_capture(std::int64_t n) {
    launch(n);
    const gpu::Stream stream;
    const auto& driver = gpu::Driver::get();
    gpu::check(driver.cuStreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture", "capturing");
    const bool idle = runtime_->wait_for_tuning(kPatience_s);
    CUgraph graph = nullptr;
    gpu::check(driver.cuStreamEndCapture(stream.get(), &graph), "cuStreamEndCapture", "capturing");
    driver.cuGraphDestroy(graph);
    tell("waited", {{"idle", idle}});
  }

  void device(int ordinal) {
    auto& context = contexts_.at(static_cast<std::size_t>(ordinal));
    if (!context) context.emplace(ordinal);
    context->make_current();
    current_ = ordinal;
  }
  [[nodiscard]] const gpu::Context& current() const { return *contexts_.at(static_cast<std::size_t>(current_)); }

  void counters() {
    const auto counters = runtime_->counters();
    tell("counters", {{"started", counters.tunings_started},
                      {"finished", counters.tunings_finished},
                      {"failed", counters.tunings_failed},
                      {"compiles", counters.compiles},
                      {"exchanges", counters.exchanges},
                      {"diverged", counters.plans_diverged},
                      {"notices", runtime_->notices()}});
  }

  void restart() {
    bound_.reset();
    runtime_.reset();
    runtime_ = std::make_unique<Runtime>(options_);
  }

  /// Not asserted anywhere but read by people: how long the destructor took.
  void end() {
    const auto begin = Clock::now();
    bound_.reset();
    runtime_.reset();
    tell("ended", {{"seconds", std::chrono::duration<double>(Clock::now() - begin).count()}});
    std::this_thread::sleep_for(std::chrono::seconds(600));  // whoever is left would be seen
  }

  Options options_;
  std::string end_;
  std::shared_ptr<test::FileExchange> exchange_;  ///< null without ranks
  std::vector<std::optional<gpu::Context>> contexts_;
  int current_ = 0;
  std::optional<gpu::Stream> bound_stream_;
  std::unique_ptr<Runtime> runtime_;
  std::optional<BoundKernel> bound_;  ///< after its Runtime
};

}  // namespace

int main(int argc, char** argv) {
  attune::bench::CommandLine line{"dispatches on the fake driver"};
  Options options;
  std::string end = "well";
  std::vector<std::string> steps;
  std::vector<std::string> databases, templates;
  std::string worker;
  const std::map<std::string, OnMiss> modes = {
      {"default", OnMiss::Default}, {"error", OnMiss::Error}, {"background", OnMiss::TuneInBackground}, {"now", OnMiss::TuneNow}};
  std::string mode = "default";
  std::vector<std::string> words;
  for (const auto& [word, value] : modes) words.push_back(word);
  line.option("--on-miss", mode).among(words);
  line.option("--end", end);
  line.option("--db", databases);
  line.option("--template-folder", templates);
  line.option("--worker", worker).last();
  line.option("--reach", options.reach);
  line.option("--share", options.tuning_share);
  line.option("--budget", options.tuning_budget_s).last();
  std::string exchange_folder, fault;
  int rank = 0, ranks = 0, fault_at = 0;
  line.option("--exchange", exchange_folder);
  line.option("--rank", rank);
  line.option("--ranks", ranks);
  line.option("--fault", fault);
  line.option("--fault-at", fault_at);
  line.option("--step", steps);
  if (const auto ended = line.parse(argc, argv)) return *ended;
  options.on_miss = modes.at(mode);
  options.databases.assign(databases.begin(), databases.end());
  options.templates.assign(templates.begin(), templates.end());
  options.worker = worker;
  std::shared_ptr<test::FileExchange> exchange;
  if (ranks > 0) {
    exchange = std::make_shared<test::FileExchange>(exchange_folder, static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks), fault,
                                                    fault_at);
    options.agree = [exchange](const std::string& text) { return exchange->gather(text); };
  }
  try {
    Program program(options, end, exchange);
    for (const auto& step : steps) program.run(step);
  } catch (const Error& error) {
    fmt::print(stderr, "online_program: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
