// Streams, events and graphs. Everything runs when it is put on a stream; only the clock is a stream's own.
#include <utility>

#include "tests/support/fake_cuda/process.hpp"

using namespace attune::fake_cuda;

CUresult cuStreamCreate(CUstream* handle, unsigned) {
  return entry([&](Process& process) {
    static std::uint64_t next_id = 1;
    auto stream = std::make_unique<Stream>();
    stream->device = &process.current_device();
    stream->id = next_id++;
    *handle = reinterpret_cast<CUstream>(process.streams.add(std::move(stream)));
  });
}

CUresult cuStreamDestroy(CUstream handle) {
  return entry([&](Process& process) { process.streams.remove(handle); });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return entry([&](Process& process) { process.synchronize(process.stream(handle)); });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return entry_beside([&](Process& process) { *id = process.stream(handle).id; });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return entry([&](Process& process) { *context = reinterpret_cast<CUcontext>(process.stream(handle).device); });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return entry_beside([&](Process& process) {
    *status = process.stream(handle).capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return entry([&](Process&) { std::swap(*mode, thread_capture_mode()); });
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return entry([&](Process& process) {
    Stream& stream = process.stream(handle);
    if (stream.capturing) throw CallFailed{CUDA_ERROR_ILLEGAL_STATE};
    stream.capturing = true;
    stream.capture_mode = mode;
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return entry([&](Process& process) {
    Stream& stream = process.stream(handle);
    if (!stream.capturing) throw CallFailed{CUDA_ERROR_ILLEGAL_STATE};
    stream.capturing = false;
    *graph = reinterpret_cast<CUgraph>(process.graphs.add(std::make_unique<Graph>(Graph{std::move(stream.captured)})));
    stream.captured.clear();
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  return entry([&](Process& process) {
    *executable = reinterpret_cast<CUgraphExec>(process.executable_graphs.add(std::make_unique<Graph>(process.graphs.at(graph))));
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return entry([&](Process& process) { process.graphs.remove(graph); });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return entry([&](Process& process) { process.executable_graphs.remove(executable); });
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return entry([&](Process& process) {
    static_cast<void>(process.executable_graphs.at(executable));
    static_cast<void>(process.stream(stream));
  });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return entry([&](Process& process) { process.submit(process.stream(stream), process.executable_graphs.at(executable).operations); });
}

CUresult cuEventCreate(CUevent* handle, unsigned) {
  return entry([&](Process& process) { *handle = reinterpret_cast<CUevent>(process.events.add(std::make_unique<Event>())); });
}

CUresult cuEventDestroy(CUevent handle) {
  return entry([&](Process& process) { process.events.remove(handle); });
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return entry([&](Process& process) {
    Event& event = process.events.at(handle);
    event.stream = &process.stream(stream);
    event.at_us = event.stream->now_us;
  });
}

/// Everything is over as soon as it is asked about: time passes only where work is submitted.
CUresult cuEventQuery(CUevent handle) { return cuEventSynchronize(handle); }

CUresult cuEventSynchronize(CUevent handle) {
  return entry([&](Process& process) {
    Stream* const stream = process.events.at(handle).stream;
    if (stream != nullptr) process.synchronize(*stream);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return entry([&](Process& process) {
    const Event& from = process.events.at(start);
    const Event& to = process.events.at(end);
    if (from.stream == nullptr || to.stream == nullptr) throw CallFailed{CUDA_ERROR_INVALID_HANDLE};
    *milliseconds = static_cast<float>((to.at_us - from.at_us) * 1e-3);
  });
}
