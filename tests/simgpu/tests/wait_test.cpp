#include <cuda.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "simgpu.hpp"
#include "tests/gpu/measured.hpp"

// The measured table of which calls wait: a kernel runs in stream A, the call is made, and either
// it returns while the kernel is still running or it does not.
namespace measured {

void PrintTo(const Wait& line, std::ostream* out) {
    *out << line.call;
}

}  // namespace measured

namespace {

class WaitTable : public testing::TestWithParam<measured::Wait> {
  protected:
    static void run(unsigned flags, const std::string& expected) {
        measured::Setting setting(flags, SIMGPU_LAYOUTS);
        const simtest::Gate gate;
        kernels::launch_gate(setting.a);
        kernels::await_entry();
        const auto call = [&] { GetParam().make(setting); };
        if (expected == "waits") {
            EXPECT_TRUE(simtest::waits_for_gate(call));
        } else {
            EXPECT_TRUE(simtest::returns_at_closed_gate(call));
            EXPECT_EQ(setting.answer.empty() ? "no" : setting.answer, expected);
        }
    }

    void TearDown() override {
        kernels::open_gate();
        cudaDeviceReset();
    }
};

TEST_P(WaitTable, BlockingStream) {
    run(cudaStreamDefault, GetParam().a_blocking);
}

TEST_P(WaitTable, NonBlockingStream) {
    run(cudaStreamNonBlocking, GetParam().a_non_blocking);
}

INSTANTIATE_TEST_SUITE_P(Measured, WaitTable, testing::ValuesIn(measured::waits()),
                         [](const auto& line) {
                             std::string name = line.param.call;
                             std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
                             return name;
                         });

TEST(WaitTable, KernelLaunchOnIdleStreamDoesNotWait) {
    measured::Setting setting(cudaStreamDefault, SIMGPU_LAYOUTS);
    const simtest::Gate gate;
    kernels::launch_gate(setting.a);
    kernels::await_entry();
    EXPECT_TRUE(simtest::returns_at_closed_gate(
        [&] { kernels::launch_without_twin(setting.idle, static_cast<int*>(setting.device)); }));
}

}  // namespace
