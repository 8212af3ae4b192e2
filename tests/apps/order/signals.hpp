// A stream that the program holds back, and a function that CUDA calls on the host behind its work.
#pragma once

#include <atomic>

struct Signals {
    std::atomic<bool> may_go_on{false};
    std::atomic<bool> has_run{false};

    /// Called by the stream before the work; the host learns nothing from it that matters.
    void hold_back() {
        while (!may_go_on) {
        }
    }
    /// Called by the stream behind the work.
    void run() { has_run = true; }

    void go_on_and_wait() {
        may_go_on = true;
        while (!has_run) {
        }
    }
};
