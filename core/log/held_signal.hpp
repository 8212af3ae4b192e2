// Signals that the tool's own writes may raise and that are not the program's to die of.
#pragma once

#include <csignal>

namespace cuward {

/// While it lives the calling thread does not get `signal`; one that was raised meanwhile is gone.
class HeldSignal {
  public:
    explicit HeldSignal(int signal);
    ~HeldSignal();
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;

  private:
    int signal_;
    sigset_t set_;
    sigset_t before_;
    bool was_pending_ = false;
};

}  // namespace cuward
