// Which frames people are spared.
#include <gmock/gmock.h>

#include "core/report/frames.hpp"

namespace cuward::report {
namespace {

using ::testing::ElementsAre;

Frame frame(const std::string& function, const std::string& module, const std::string& file = "") {
    return {function, file, file.empty() ? 0U : 1U, module, 1};
}

std::vector<std::string> functions(const Stack& stack) {
    std::vector<std::string> names;
    for (const Frame& shown : stack.frames) {
        names.push_back(shown.function);
    }
    return names;
}

TEST(Frames, HidesCudaThisToolAndStartUp) {
    const Stack shown = without_noise(
        {{frame("hook", "/l/libcuward.so"), frame("", "/l/libcuda.so.580"),
          frame("cudaMalloc", "/l/libcudart.so.13"), frame("main", "/app"),
          frame("__libc_start_call_main", "/l/libc.so.6"),
          frame("__libc_start_main@@GLIBC_2.34", "/l/libc.so.6"), frame("_start", "/app")},
         ""},
        "");
    EXPECT_THAT(functions(shown), ElementsAre("main"));
    EXPECT_EQ(shown.entry, "cudaMalloc");
}

TEST(Frames, HidesAStaticRuntimeByItsNames) {
    const Stack shown = without_noise(
        {{frame("libcudart_static_0123abcd", "/app"), frame("__cudart516", "/app"),
          frame("cudaMemcpy", "/app"), frame("load()", "/app", "/app.cu"), frame("main", "/app")},
         ""},
        "");
    EXPECT_THAT(functions(shown), ElementsAre("load()", "main"));
    EXPECT_EQ(shown.entry, "cudaMemcpy");
}

TEST(Frames, KeepsFunctionsOfTheProgramThatAreNamedLikeCuda) {
    const Stack shown =
        without_noise({{frame("cudaMalloc", "/app"),
                        frame("cudaMallocChecked", "/app", "/helpers.c"), frame("main", "/app")},
                       ""},
                      "");
    EXPECT_THAT(functions(shown), ElementsAre("cudaMallocChecked", "main"));
}

TEST(Frames, HidesTheLaunchCodeOfNvcc) {
    const Stack stack{
        {frame("cudaLaunchKernel", "/app"),
         frame("cudaError cudaLaunchKernel<char>(char*, dim3)", "/app", "/t/cuda_runtime.h"),
         frame("__device_stub__Z3addPf(float*)", "/app", "/tmp/x.cudafe1.stub.c"),
         frame("add(float*)", "/app", "/app.cu"), frame("main", "/app", "/app.cu")},
        ""};
    EXPECT_THAT(functions(without_noise(stack, "add(float*)")), ElementsAre("main"));
}

TEST(Frames, HidesTheStubOfAKernelHoweverItIsNamed) {
    for (const std::string stub : {"void ns::add<float>(float*)", "add<float>", "ns::add<float>"}) {
        const Stack stack{{frame("helper", "/app", "/cuda/include/crt/device_functions.h"),
                           frame(stub, "/app", "/app.cu"), frame("main", "/app", "/app.cu")},
                          ""};
        EXPECT_THAT(functions(without_noise(stack, "void ns::add<float>(float*)")),
                    ElementsAre("main"));
    }
    const Stack anonymous{{frame("(anonymous namespace)::add(float*)", "/app", "/app.cu"),
                           frame("main", "/app", "/app.cu")},
                          ""};
    EXPECT_THAT(functions(without_noise(anonymous, "(anonymous namespace)::add(float*)")),
                ElementsAre("main"));
}

TEST(Frames, KeepsAFunctionThatIsNamedLikeTheKernelItLaunches) {
    const Stack stack{{frame("add(float*)", "/app", "/app.cu"),
                       frame("add(int)", "/app", "/app.cu"), frame("main", "/app", "/app.cu")},
                      ""};
    EXPECT_THAT(functions(without_noise(stack, "add(float*)")), ElementsAre("add(int)", "main"));
}

TEST(Frames, AStackOfNothingElseIsShownWhole) {
    const Stack shown = without_noise({{frame("", "/l/libcuda.so.1")}, ""}, "");
    EXPECT_EQ(shown.frames.size(), 1U);
}

}  // namespace
}  // namespace cuward::report
