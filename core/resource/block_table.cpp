#include "core/resource/block_table.hpp"

namespace cuward {

BlockTable::Map::iterator BlockTable::locate(const BlockId& id) {
    const auto found = blocks_.find(id.ptr);
    const bool live = found != blocks_.end() && found->second.generation == id.generation;
    return live ? found : blocks_.end();
}

std::optional<BlockRecord> BlockTable::insert(Address address, BlockRecord record) {
    const std::lock_guard lock(mutex_);
    const auto [place, fresh] = blocks_.try_emplace(address, std::move(record));
    if (fresh) {
        return std::nullopt;
    }
    // try_emplace leaves its argument alone when the key exists.
    return std::exchange(place->second, std::move(record));
}

BlockTable::Taken BlockTable::take(const BlockId& id) {
    const std::lock_guard lock(mutex_);
    const auto found = locate(id);
    return found == blocks_.end() ? Taken{} : blocks_.extract(found);
}

void BlockTable::put_back(Taken taken) {
    const std::lock_guard lock(mutex_);
    blocks_.insert(std::move(taken));
}

}  // namespace cuward
