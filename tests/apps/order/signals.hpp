// A function that CUDA calls on the host and that the program can hold back and wait for.
#pragma once

#include <atomic>

struct Signals {
    std::atomic<bool> may_run{false};
    std::atomic<bool> has_run{false};

    void run() {
        while (!may_run) {
        }
        has_run = true;
    }
    void let_run_and_wait() {
        may_run = true;
        while (!has_run) {
        }
    }
};
