#include "cupti/kernel_cache.hpp"

#include <algorithm>
#include <utility>

namespace cuward::cupti {
namespace {

constexpr std::size_t kFirstCapacity = 1024;
constexpr std::uint32_t kPointerSize = 8;

bool same(const KernelInfo& a, const KernelInfo& b) {
    return a.id == b.id && a.layout_known == b.layout_known && a.words == b.words &&
           a.objects == b.objects;
}

/// Every aligned word of every parameter.
std::vector<PointerWord> pointer_words(const KernelParameters& kernel) {
    std::vector<PointerWord> words;
    for (std::uint32_t index = 0; index < kernel.parameters.size(); ++index) {
        const KernelParameter& parameter = kernel.parameters[index];
        const auto [start, size] = parameter.layout;
        const std::uint32_t first = (start + kPointerSize - 1) / kPointerSize * kPointerSize;
        for (std::uint32_t at = first; at + kPointerSize <= start + size; at += kPointerSize) {
            words.push_back({.parameter = index,
                             .offset = at - start,
                             .buffer_offset = at,
                             .access = parameter.access,
                             .direction_known = parameter.direction_known,
                             .pointee = parameter.pointee,
                             .pointee_known = parameter.pointee_known});
        }
    }
    return words;
}

std::vector<ObjectWord> object_words(const KernelParameters& kernel) {
    std::vector<ObjectWord> words;
    for (std::uint32_t index = 0; index < kernel.parameters.size(); ++index) {
        const KernelParameter& parameter = kernel.parameters[index];
        if (parameter.is_object != Certainty::No) {
            words.push_back({.parameter = index,
                             .buffer_offset = parameter.layout.offset,
                             .is_known = parameter.is_object == Certainty::Yes});
        }
    }
    return words;
}

/// Asks for the parameters one by one until the driver knows no more; its last word.
template <typename Query, typename Handle>
CUresult read_parameters(Query query, Handle handle, std::vector<ParameterLayout>& layout) {
    if (query == nullptr) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    layout.clear();
    for (;;) {
        std::size_t offset = 0;
        std::size_t size = 0;
        const CUresult result = query(handle, layout.size(), &offset, &size);
        if (result != CUDA_SUCCESS) {
            return result;
        }
        layout.push_back({.offset = static_cast<std::uint32_t>(offset),
                          .size = static_cast<std::uint32_t>(size)});
    }
}

}  // namespace

KernelCache::KernelCache(const DriverQueries& driver, NameKernel name_kernel, Note note)
    : driver_(driver), name_kernel_(std::move(name_kernel)), note_(std::move(note)) {
    tables_.push_back(std::make_unique<Table>(kFirstCapacity));
    table_.store(tables_.back().get(), std::memory_order_release);
}

KernelCache::~KernelCache() = default;

const KernelInfo& KernelCache::learn(std::uint64_t handle, const char* symbol) {
    // The driver is asked without our lock, which it might need in a callback of its own.
    const std::string name = name_of(handle, symbol);
    std::vector<ParameterLayout> layout;
    KernelInfo info;
    info.layout_known = read_layout(handle, layout);
    info.id = name_kernel_(name);
    const KernelParameters kernel = parameter_directions(name, layout);
    info.words = pointer_words(kernel);
    info.objects = object_words(kernel);

    bool note_now = false;
    const KernelInfo* kept = nullptr;
    {
        const std::lock_guard lock(mutex_);
        note_now = !info.layout_known && !std::exchange(noted_, true);
        kept = keep(std::move(info));
        insert(keep(handle, kept));
    }
    if (note_now) {
        note_("the driver does not tell the parameters of kernel " + name +
              ": what it and other such kernels touch is unseen");
    }
    return *kept;
}

std::string KernelCache::name_of(std::uint64_t handle, const char* symbol) const {
    if (symbol != nullptr) {
        return symbol;
    }
    const char* name = nullptr;
    if (driver_.function_name != nullptr &&
        driver_.function_name(&name, reinterpret_cast<CUfunction>(handle)) == CUDA_SUCCESS &&
        name != nullptr) {
        return name;
    }
    if (driver_.kernel_name != nullptr &&
        driver_.kernel_name(&name, reinterpret_cast<CUkernel>(handle)) == CUDA_SUCCESS &&
        name != nullptr) {
        return name;
    }
    return "unknown kernel";
}

bool KernelCache::read_layout(std::uint64_t handle, std::vector<ParameterLayout>& layout) const {
    // A launch takes a CUkernel in the place of a CUfunction; the two queries tell them apart.
    const CUresult function =
        read_parameters(driver_.function_parameter, reinterpret_cast<CUfunction>(handle), layout);
    if (!layout.empty()) {
        return true;
    }
    const CUresult kernel =
        read_parameters(driver_.kernel_parameter, reinterpret_cast<CUkernel>(handle), layout);
    // Parameter 0 out of range: a kernel without parameters.
    return !layout.empty() || function == CUDA_ERROR_INVALID_VALUE ||
           kernel == CUDA_ERROR_INVALID_VALUE;
}

const KernelInfo* KernelCache::keep(KernelInfo info) {
    const auto [first, last] = infos_.equal_range(info.id);
    const auto known = std::find_if(
        first, last, [&info](const auto& candidate) { return same(*candidate.second, info); });
    if (known != last) {
        return known->second.get();
    }
    const KernelId id = info.id;
    return infos_.emplace(id, std::make_unique<KernelInfo>(std::move(info)))->second.get();
}

const KernelCache::Entry* KernelCache::keep(std::uint64_t handle, const KernelInfo* info) {
    std::unique_ptr<Entry>& entry = entries_[{handle, info}];
    if (entry == nullptr) {
        entry = std::make_unique<Entry>(Entry{handle, info});
    }
    return entry.get();
}

void KernelCache::insert(const Entry* entry) {
    if (2 * (used_ + 1) > table_.load(std::memory_order_relaxed)->slots.size()) {
        grow();
    }
    Table& table = *table_.load(std::memory_order_relaxed);
    std::size_t i = first_slot(entry->handle, table);
    for (; const Entry* other = table.slots[i].load(std::memory_order_relaxed);
         i = (i + 1) & table.mask) {
        if (other->handle == entry->handle) {
            break;  // another thread has just learnt it too
        }
    }
    used_ += table.slots[i].load(std::memory_order_relaxed) == nullptr ? 1 : 0;
    table.slots[i].store(entry, std::memory_order_release);
}

void KernelCache::grow() {
    const Table& old = *tables_.back();
    auto larger = std::make_unique<Table>(2 * old.slots.size());
    for (const auto& slot : old.slots) {
        const Entry* entry = slot.load(std::memory_order_relaxed);
        if (entry == nullptr) {
            continue;
        }
        std::size_t i = first_slot(entry->handle, *larger);
        while (larger->slots[i].load(std::memory_order_relaxed) != nullptr) {
            i = (i + 1) & larger->mask;
        }
        larger->slots[i].store(entry, std::memory_order_relaxed);
    }
    tables_.push_back(std::move(larger));
    table_.store(tables_.back().get(), std::memory_order_release);
}

void KernelCache::forget_handles() {
    const std::lock_guard lock(mutex_);
    for (auto& slot : table_.load(std::memory_order_relaxed)->slots) {
        slot.store(nullptr, std::memory_order_release);
    }
    used_ = 0;
}

}  // namespace cuward::cupti
