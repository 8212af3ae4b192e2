// What is known of each kernel a program launches, by its handle: name, and where its parameters
// may hold pointers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/directions.hpp"
#include "core/types.hpp"
#include "cupti/driver_queries.hpp"

namespace cuward::cupti {

/// A place in the arguments of a launch that may hold a pointer.
struct PointerWord {
    std::uint32_t parameter = 0;      ///< index into kernelParams
    std::uint32_t offset = 0;         ///< bytes from the start of that parameter
    std::uint32_t buffer_offset = 0;  ///< bytes from the start of the parameter buffer
    Access access = Access::ReadWrite;
    bool direction_known = false;
    Access pointee = Access::ReadWrite;  ///< of memory that pointers stored there lead to
    bool pointee_known = false;
    bool operator==(const PointerWord&) const = default;
};

/// A parameter that may be a texture or surface object.
struct ObjectWord {
    std::uint32_t parameter = 0;
    std::uint32_t buffer_offset = 0;
    bool is_known = false;  ///< by its type; else any eight bytes
    bool operator==(const ObjectWord&) const = default;
};

struct KernelInfo {
    KernelId id{};
    bool layout_known = false;
    std::vector<PointerWord> words;
    std::vector<ObjectWord> objects;
};

/// Thread-safe. Looking up a known handle takes no lock.
class KernelCache {
  public:
    using NameKernel = std::function<KernelId(std::string_view mangled_name)>;
    using Note = std::function<void(std::string_view text)>;

    KernelCache(const DriverQueries& driver, NameKernel name_kernel, Note note);
    ~KernelCache();
    KernelCache(const KernelCache&) = delete;
    KernelCache& operator=(const KernelCache&) = delete;

    /// `handle`: a CUfunction or a CUkernel, launches take both. `symbol`: its mangled name where
    /// the caller has it, else null. The result lives as long as the cache.
    const KernelInfo& find(std::uint64_t handle, const char* symbol) {
        const Table* table = table_.load(std::memory_order_acquire);
        for (std::size_t i = first_slot(handle, *table);; i = (i + 1) & table->mask) {
            const Entry* entry = table->slots[i].load(std::memory_order_acquire);
            if (entry == nullptr) {
                return learn(handle, symbol);
            }
            if (entry->handle == handle) {
                return *entry->info;
            }
        }
    }

    /// Forgets all handles: after an unload the driver gives them to other kernels.
    void forget_handles();

  private:
    struct Entry {
        std::uint64_t handle;
        const KernelInfo* info;
    };
    struct Table {
        explicit Table(std::size_t capacity) : mask(capacity - 1), slots(capacity) {}
        std::size_t mask;
        std::vector<std::atomic<const Entry*>> slots;
    };

    static std::size_t first_slot(std::uint64_t handle, const Table& table) {
        constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
        return static_cast<std::size_t>((handle * kSpread) >> 32) & table.mask;
    }

    const KernelInfo& learn(std::uint64_t handle, const char* symbol);
    std::string name_of(std::uint64_t handle, const char* symbol) const;
    bool read_layout(std::uint64_t handle, std::vector<ParameterLayout>& layout) const;
    const KernelInfo* keep(KernelInfo info);
    const Entry* keep(std::uint64_t handle, const KernelInfo* info);
    void insert(const Entry* entry);
    void grow();

    const DriverQueries driver_;
    const NameKernel name_kernel_;
    const Note note_;
    std::atomic<Table*> table_;

    std::mutex mutex_;  ///< guards all below
    bool noted_ = false;
    std::size_t used_ = 0;  ///< entries in the table
    /// Readers hold no lock, so nothing they may look at is freed: outgrown tables, entries and
    /// infos live on. The same kernel under the same handle is kept once, so that loading and
    /// unloading one module for ever needs no more memory.
    std::vector<std::unique_ptr<Table>> tables_;
    std::map<std::pair<std::uint64_t, const KernelInfo*>, std::unique_ptr<Entry>> entries_;
    std::multimap<KernelId, std::unique_ptr<KernelInfo>> infos_;
};

}  // namespace cuward::cupti
