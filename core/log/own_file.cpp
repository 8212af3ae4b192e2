#include "core/log/own_file.hpp"

#include <sys/stat.h>

namespace cuward {

OwnFile::OwnFile(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0) {
        descriptor_ = descriptor;
        device_ = status.st_dev;
        inode_ = status.st_ino;
    }
}

bool OwnFile::is_same() const {
    struct stat status {};
    return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && status.st_dev == device_ &&
           status.st_ino == inode_;
}

}  // namespace cuward
