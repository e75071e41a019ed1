#pragma once
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/append_table.hpp"

namespace attune::runtime {

/// Scratch memory of one stream that one launch at a time may use. Work of one stream is serialised, so scratch is free
/// again as soon as its launch is enqueued; two threads that enqueue on one stream at once get two of these.
/// Two buffers, because `zero_once` scratch must never be where another plan's unspecified scratch lies.
struct alignas(128) Scratch {  // streams of different threads share no cache line
  Scratch(CUcontext its_context, std::uint64_t its_stream) : context(its_context), stream_id(its_stream) {}
  CUcontext context;
  std::uint64_t stream_id;
  std::atomic<bool> busy{true};
  gpu::Buffer zero;   ///< all zero between launches
  gpu::Buffer plain;  ///< anything
};

/// Scratch by (context, stream). Grows by doubling and keeps outgrown memory until the end: enqueued work may still use
/// it, and freeing device memory would synchronise.
class ScratchPool {
 public:
  /// Exclusive use until destroyed.
  class Claim {
   public:
    explicit Claim(Scratch* scratch) : scratch_(scratch) {}
    Claim(Claim&& other) noexcept : scratch_(std::exchange(other.scratch_, nullptr)) {}
    Claim& operator=(Claim&&) = delete;
    ~Claim() {
      if (scratch_ != nullptr) scratch_->busy.store(false, std::memory_order_release);
    }
    [[nodiscard]] CUdeviceptr zero() const noexcept { return scratch_->zero.address(); }
    [[nodiscard]] CUdeviceptr plain() const noexcept { return scratch_->plain.address(); }
    [[nodiscard]] bool holds(std::size_t zero_bytes, std::size_t plain_bytes) const noexcept {
      return scratch_->zero.bytes() >= zero_bytes && scratch_->plain.bytes() >= plain_bytes;
    }
    /// After a failed launch: the zero part may have been left in any state.
    void clean(const gpu::Driver& driver, CUstream stream) const noexcept;

   private:
    friend class ScratchPool;
    Scratch* scratch_;
  };

  /// Lock-free once this stream has scratch of that size. Requires: `context` is current, `stream` is not capturing.
  /// Throws: EnvironmentError (device memory), CudaError.
  [[nodiscard]] Claim claim(const gpu::Driver& driver, CUcontext context, CUstream stream, std::size_t zero_bytes, std::size_t plain_bytes);
  /// Claims for a claim that is kept. Requires and throws: as `claim`.
  void enlarge(const Claim& claim, const gpu::Driver& driver, CUstream stream, std::size_t zero_bytes, std::size_t plain_bytes);
  /// Frees what belongs to a context. Requires: it is current and idle.
  void release(CUcontext context) noexcept;

 private:
  [[nodiscard]] Scratch* add(std::uint64_t hash, CUcontext context, std::uint64_t stream_id);
  void grow(const gpu::Driver& driver, Scratch& scratch, CUstream stream, std::size_t zero_bytes, std::size_t plain_bytes);

  std::mutex mutex_;
  AppendTable<Scratch> table_;
  std::vector<std::unique_ptr<Scratch>> all_;
  std::vector<std::pair<CUcontext, gpu::Buffer>> outgrown_;
};

}  // namespace attune::runtime
