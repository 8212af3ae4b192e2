// Call stacks of the program, each captured cheaply and written to the log once.
#pragma once

#include <cstdint>
#include <memory>

#include "core/types.hpp"

namespace cuward {

class Log;

class Stacks {
  public:
    explicit Stacks(Log& log);
    ~Stacks();
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    /// The stack of the calling thread. A stack seen before costs a load for each frame: the saved
    /// return-address slots are compared instead of unwinding anew. Never throws; StackId{0} on
    /// failure.
    StackId capture();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cuward
