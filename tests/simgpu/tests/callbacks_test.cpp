#include <cupti.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "simgpu.hpp"

// CUPTI's callbacks, as a subscriber sees them.
namespace {

struct Seen {
    CUpti_ApiCallbackSite site;
    std::string function;
    std::string symbol;
    uint32_t correlation;
    uint64_t data;
    CUcontext context;
    CUresult result;
};

struct Log {
    std::mutex mutex;
    std::vector<Seen> seen;
    std::vector<uint32_t> resources;
    size_t allocation_bytes = 0;
    bool nest = false;
    uint64_t next_data = 100;
};

void CUPTIAPI callback(void* userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                       const void* raw) {
    Log& log = *static_cast<Log*>(userdata);
    const std::unique_lock lock(log.mutex);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        log.resources.push_back(cbid);
        return;
    }
    const auto& data = *static_cast<const CUpti_CallbackData*>(raw);
    const bool enter = data.callbackSite == CUPTI_API_ENTER;
    if (enter) {
        *data.correlationData = ++log.next_data;
    }
    log.seen.push_back(
        {data.callbackSite, data.functionName, data.symbolName != nullptr ? data.symbolName : "",
         data.correlationId, *data.correlationData, data.context,
         enter ? CUDA_SUCCESS : *static_cast<const CUresult*>(data.functionReturnValue)});
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2) {
        log.allocation_bytes =
            static_cast<const cuMemAlloc_v2_params*>(data.functionParams)->bytesize;
    }
}

class Callbacks : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_CUDA(cudaFree(nullptr));
        ASSERT_EQ(cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(callback), &log),
                  CUPTI_SUCCESS);
    }
    void TearDown() override { cuptiUnsubscribe(subscriber); }

    void enable(CUpti_CallbackId cbid) {
        ASSERT_EQ(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid),
                  CUPTI_SUCCESS);
    }

    Log log;
    CUpti_SubscriberHandle subscriber = nullptr;
};

TEST_F(Callbacks, EnterAndExitBelongTogether) {
    enable(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    void* pointer = nullptr;
    ASSERT_CUDA(cudaMalloc(&pointer, 12345));
    ASSERT_EQ(log.seen.size(), 2U);
    EXPECT_EQ(log.seen[0].site, CUPTI_API_ENTER);
    EXPECT_EQ(log.seen[1].site, CUPTI_API_EXIT);
    EXPECT_EQ(log.seen[0].function, "cuMemAlloc_v2");
    EXPECT_EQ(log.seen[0].correlation, log.seen[1].correlation);
    EXPECT_EQ(log.seen[0].data, log.seen[1].data);
    EXPECT_EQ(log.allocation_bytes, 12345U);
    CUcontext context = nullptr;
    ASSERT_CU(cuCtxGetCurrent(&context));
    EXPECT_EQ(log.seen[0].context, context);
    EXPECT_CUDA(cudaFree(pointer));
    EXPECT_EQ(log.seen.size(), 2U) << "only what is enabled is reported";
}

TEST_F(Callbacks, LaunchesCarryTheKernelsName) {
    int* pointer = nullptr;
    ASSERT_CUDA(cudaMalloc(&pointer, 4));
    enable(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    kernels::launch_without_twin(nullptr, pointer);
    ASSERT_EQ(log.seen.size(), 2U);
    EXPECT_EQ(log.seen[0].symbol, "_ZN7kernels12without_twinEPi");
    EXPECT_CUDA(cudaFree(pointer));
}

TEST_F(Callbacks, ExitSeesInjectedFailures) {
    const simtest::Setting fail("SIMGPU_FAIL", "cuMemAlloc_v2:1=2");
    enable(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 64), cudaErrorMemoryAllocation);
    cudaGetLastError();
    ASSERT_EQ(log.seen.size(), 2U);
    EXPECT_EQ(log.seen[1].result, CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Callbacks, SecondSubscriberIsRefused) {
    CUpti_SubscriberHandle second = nullptr;
    EXPECT_EQ(cuptiSubscribe(&second, reinterpret_cast<CUpti_CallbackFunc>(callback), &log),
              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    ASSERT_EQ(cuptiUnsubscribe(subscriber), CUPTI_SUCCESS);
    EXPECT_EQ(cuptiUnsubscribe(subscriber), CUPTI_ERROR_INVALID_PARAMETER);
    ASSERT_EQ(cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(callback), &log),
              CUPTI_SUCCESS);
}

TEST_F(Callbacks, ResourcesAreReported) {
    ASSERT_EQ(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE), CUPTI_SUCCESS);
    cudaStream_t stream = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&stream));
    ASSERT_CUDA(cudaStreamDestroy(stream));
    CUmodule module = nullptr;
    ASSERT_CU(cuModuleLoad(&module, SIMGPU_LAYOUTS));
    ASSERT_CU(cuModuleUnload(module));
    CUcontext context = nullptr;
    ASSERT_CU(cuCtxCreate(&context, nullptr, 0, 0));
    ASSERT_CU(cuCtxDestroy(context));
    EXPECT_EQ(
        log.resources,
        (std::vector<uint32_t>{
            CUPTI_CBID_RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
            CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
            CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}));
}

int nested_calls = 0;

void CUPTIAPI nesting(void*, CUpti_CallbackDomain, CUpti_CallbackId cbid, const void* raw) {
    ++nested_calls;
    const auto& data = *static_cast<const CUpti_CallbackData*>(raw);
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2 && data.callbackSite == CUPTI_API_ENTER) {
        size_t free = 0;
        size_t total = 0;
        cuMemGetInfo(&free, &total);
    }
}

TEST(NestedCallbacks, CallsInsideACallbackAreReportedToo) {
    ASSERT_CUDA(cudaFree(nullptr));
    CUpti_SubscriberHandle subscriber = nullptr;
    ASSERT_EQ(cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(nesting), nullptr),
              CUPTI_SUCCESS);
    ASSERT_EQ(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), CUPTI_SUCCESS);
    void* pointer = nullptr;
    ASSERT_CUDA(cudaMalloc(&pointer, 64));
    EXPECT_EQ(nested_calls, 4);
    ASSERT_EQ(cuptiUnsubscribe(subscriber), CUPTI_SUCCESS);
    EXPECT_CUDA(cudaFree(pointer));
    EXPECT_EQ(nested_calls, 4);
}

TEST(CallbackNames, AreTheFunctionsNames) {
    const char* name = nullptr;
    ASSERT_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API,
                                   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, &name),
              CUPTI_SUCCESS);
    EXPECT_STREQ(name, "cuLaunchKernel_ptsz");
    EXPECT_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 100000, &name),
              CUPTI_ERROR_INVALID_PARAMETER);
}

}  // namespace
