#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace attune::runtime {

/// A hash table that only grows: readers probe without locks while one writer appends or replaces. Entries live
/// elsewhere, are never removed and may share a hash. Growing publishes a larger slot array and keeps the old ones, because a reader
/// may still be in one; doubling keeps them smaller together than the current one (a copy for every insertion would
/// not).
template <class T>
class AppendTable {
 public:
  AppendTable() { grow(16); }
  AppendTable(const AppendTable&) = delete;
  AppendTable& operator=(const AppendTable&) = delete;

  /// The first entry of this hash that `accept` takes, or null. Lock-free; an entry being inserted now may be missed.
  template <class Accept>
  [[nodiscard]] T* find(std::uint64_t hash, Accept&& accept) const {
    const Slots& slots = *current_.load(std::memory_order_acquire);
    for (std::size_t i = hash & slots.mask;; i = (i + 1) & slots.mask) {
      const Slot& slot = slots.slots[i];
      T* entry = slot.entry.load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (slot.hash == hash && accept(*entry)) return entry;
    }
  }

  /// Requires: one inserting thread at a time (the caller's mutex); `entry` outlives the table.
  void insert(std::uint64_t hash, T* entry) {
    Slots* slots = current_.load(std::memory_order_relaxed);
    if ((count_ + 1) * 2 > slots->mask + 1) slots = grow((slots->mask + 1) * 2);
    place(*slots, hash, entry);
    ++count_;
  }

  /// Readers find `fresh` where they found `stale`; one that has just found `stale` goes on with it. False when `stale`
  /// is not in the table. Requires: as insert; `stale` too outlives the table; both are accepted for the same questions.
  bool replace(std::uint64_t hash, const T* stale, T* fresh) {
    Slots& slots = *current_.load(std::memory_order_relaxed);
    for (std::size_t i = hash & slots.mask;; i = (i + 1) & slots.mask) {
      std::atomic<T*>& entry = slots.slots[i].entry;
      T* const found = entry.load(std::memory_order_relaxed);
      if (found == nullptr) return false;
      if (found != stale) continue;
      entry.store(fresh, std::memory_order_release);
      return true;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }  ///< Requires: as insert

 private:
  struct Slot {
    std::uint64_t hash = 0;  ///< written before `entry` is published
    std::atomic<T*> entry{nullptr};
  };
  struct Slots {
    explicit Slots(std::size_t capacity) : mask(capacity - 1), slots(capacity) {}
    std::size_t mask;
    std::vector<Slot> slots;
  };

  static void place(Slots& slots, std::uint64_t hash, T* entry) {
    std::size_t i = hash & slots.mask;
    while (slots.slots[i].entry.load(std::memory_order_relaxed) != nullptr) i = (i + 1) & slots.mask;
    slots.slots[i].hash = hash;
    slots.slots[i].entry.store(entry, std::memory_order_release);
  }

  Slots* grow(std::size_t capacity) {
    auto larger = std::make_unique<Slots>(capacity);
    if (!all_.empty()) {
      for (const auto& slot : all_.back()->slots) {
        if (T* entry = slot.entry.load(std::memory_order_relaxed)) place(*larger, slot.hash, entry);
      }
    }
    Slots* const raw = larger.get();
    all_.push_back(std::move(larger));
    current_.store(raw, std::memory_order_release);
    return raw;
  }

  std::atomic<Slots*> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> all_;
  std::size_t count_ = 0;
};

/// Mixes one more word into a hash (the finaliser of SplitMix64).
[[nodiscard]] inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  std::uint64_t z = hash + 0x9e3779b97f4a7c15U + word;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace attune::runtime
