#include "tuner/gpu/handles.hpp"

namespace attune::gpu {

void Graph::begin(const Stream& stream) {
  // Relaxed: the worker is single-threaded and its own; a stricter mode would refuse lazily loaded kernels.
  check(Driver::get().cuStreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture", "capturing a graph");
}

void Graph::abandon(const Stream& stream) noexcept {
  const Driver& driver = Driver::get();
  CUgraph graph = nullptr;
  driver.cuStreamEndCapture(stream.get(), &graph);  // an invalidated capture gives no graph
  if (graph != nullptr) driver.cuGraphDestroy(graph);
}

Graph Graph::finish(const Stream& stream) {
  const Driver& driver = Driver::get();
  CUgraph graph = nullptr;
  check(driver.cuStreamEndCapture(stream.get(), &graph), "cuStreamEndCapture", "capturing a graph");
  CUgraphExec exec = nullptr;
  const CUresult result = driver.cuGraphInstantiateWithFlags(&exec, graph, 0);
  driver.cuGraphDestroy(graph);
  check(result, "cuGraphInstantiateWithFlags", "instantiating a graph");
  Graph executable(exec);
  check(driver.cuGraphUpload(exec, stream.get()), "cuGraphUpload", "uploading a graph");
  return executable;
}

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(exec_, other.exec_);
  return *this;
}

Graph::~Graph() {
  if (exec_ != nullptr) Driver::get().cuGraphExecDestroy(exec_);
}

void Graph::launch(const Stream& stream) const {
  check(Driver::get().cuGraphLaunch(exec_, stream.get()), "cuGraphLaunch", "launching a graph");
}

}  // namespace attune::gpu
