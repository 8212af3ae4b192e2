// A file descriptor that the tool opened or found, and whether it still is the same file: programs
// close and reuse descriptors that are not theirs.
#pragma once

#include <sys/types.h>

namespace cuward {

class OwnFile {
  public:
    OwnFile() = default;
    /// Remembers what `descriptor` refers to now.
    explicit OwnFile(int descriptor);

    bool is_known() const { return descriptor_ >= 0; }
    /// Whether the descriptor still refers to it.
    bool is_same() const;
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_ = -1;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace cuward
