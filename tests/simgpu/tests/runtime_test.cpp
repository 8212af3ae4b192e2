#include <cuda.h>

#include <cstring>
#include <vector>

#include "simgpu.hpp"

// The runtime as compiled programs use it.
namespace {

class Runtime : public testing::Test {
  protected:
    void TearDown() override {
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
        cudaDeviceReset();
    }
};

TEST_F(Runtime, KernelsComputeThroughTheirTwins) {
    std::vector<int> host(500, 2);
    int* device = nullptr;
    ASSERT_CUDA(cudaMalloc(&device, 2000));
    ASSERT_CUDA(cudaMemcpy(device, host.data(), 2000, cudaMemcpyHostToDevice));
    kernels::launch_add(nullptr, device, device, 5, 500);
    kernels::launch_triple(nullptr, device, 500);  // a template's twin
    kernels::launch_without_twin(nullptr, device);
    ASSERT_CUDA(cudaMemcpy(host.data(), device, 2000, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host, std::vector<int>(500, 21));
}

TEST_F(Runtime, ExplicitLaunchTakesTheHostSymbol) {
    int* device = nullptr;
    ASSERT_CUDA(cudaMalloc(&device, 4));
    ASSERT_CUDA(cudaMemset(device, 0, 4));
    int value = 4;
    int count = 1;
    void* arguments[] = {&device, &device, &value, &count};
    ASSERT_CUDA(
        cudaLaunchKernel(kernels::add_function(), {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr));
    cudaLaunchConfig_t config{};
    config.gridDim = {1, 1, 1};
    config.blockDim = {32, 1, 1};
    ASSERT_CUDA(cudaLaunchKernelExC(&config, kernels::add_function(), arguments));
    int result = 0;
    ASSERT_CUDA(cudaMemcpy(&result, device, 4, cudaMemcpyDefault));
    EXPECT_EQ(result, 8);
    EXPECT_EQ(cudaLaunchKernel(&result, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(
        cudaLaunchKernel(kernels::add_function(), {1, 1, 1}, {2048, 1, 1}, arguments, 0, nullptr),
        cudaErrorInvalidConfiguration);
    cudaGetLastError();
}

TEST_F(Runtime, SymbolsAreVariablesOfTheProgram) {
    int values[4] = {};
    ASSERT_CUDA(cudaMemcpyFromSymbol(values, kernels::counters_symbol(), sizeof values, 0,
                                     cudaMemcpyDeviceToHost));
    EXPECT_EQ(values[3], 4);
    values[1] = 20;
    ASSERT_CUDA(
        cudaMemcpyToSymbol(kernels::counters_symbol(), &values[1], 4, 4, cudaMemcpyHostToDevice));
    void* address = nullptr;
    ASSERT_CUDA(cudaGetSymbolAddress(&address, kernels::counters_symbol()));
    int second = 0;
    ASSERT_CUDA(cudaMemcpy(&second, static_cast<int*>(address) + 1, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(second, 20);
    size_t size = 0;
    ASSERT_CUDA(cudaGetSymbolSize(&size, kernels::factors_symbol()));
    EXPECT_EQ(size, 32U);
    EXPECT_EQ(cudaGetSymbolSize(&size, &size), cudaErrorInvalidSymbol);
    cudaGetLastError();
}

TEST_F(Runtime, PitchedCopiesMoveRows) {
    constexpr size_t width = 100;
    constexpr size_t height = 7;
    void* device = nullptr;
    size_t pitch = 0;
    ASSERT_CUDA(cudaMallocPitch(&device, &pitch, width, height));
    EXPECT_EQ(pitch % 512, 0U);
    std::vector<unsigned char> in(width * height);
    for (size_t index = 0; index < in.size(); ++index) {
        in[index] = static_cast<unsigned char>(index);
    }
    ASSERT_CUDA(
        cudaMemcpy2D(device, pitch, in.data(), width, width, height, cudaMemcpyHostToDevice));
    ASSERT_CUDA(cudaMemset2D(static_cast<char*>(device) + 3 * pitch, pitch, 1, width, 1));
    std::vector<unsigned char> out(in.size());
    ASSERT_CUDA(
        cudaMemcpy2D(out.data(), width, device, pitch, width, height, cudaMemcpyDeviceToHost));
    std::memset(in.data() + 3 * width, 1, width);
    EXPECT_EQ(in, out);
}

TEST_F(Runtime, ArraysAndVolumes) {
    const cudaChannelFormatDesc channel{32, 0, 0, 0, cudaChannelFormatKindFloat};
    const cudaExtent extent{8, 4, 3};
    cudaArray_t array = nullptr;
    ASSERT_CUDA(cudaMalloc3DArray(&array, &channel, extent, 0));
    std::vector<float> in(8 * 4 * 3);
    for (size_t index = 0; index < in.size(); ++index) {
        in[index] = static_cast<float>(index);
    }
    cudaMemcpy3DParms parms{};
    parms.srcPtr = {in.data(), 8 * sizeof(float), 8, 4};
    parms.dstArray = array;
    parms.extent = extent;
    parms.kind = cudaMemcpyHostToDevice;
    ASSERT_CUDA(cudaMemcpy3D(&parms));
    std::vector<float> slice(8 * 4);
    cudaMemcpy3DParms back{};
    back.srcArray = array;
    back.srcPos = {0, 0, 2};
    back.dstPtr = {slice.data(), 8 * sizeof(float), 8, 4};
    back.extent = {8, 4, 1};
    back.kind = cudaMemcpyDeviceToHost;
    ASSERT_CUDA(cudaMemcpy3D(&back));
    EXPECT_EQ(slice.front(), 64.0F);
    EXPECT_EQ(slice.back(), 95.0F);
    cudaExtent told{};
    cudaChannelFormatDesc description{};
    ASSERT_CUDA(cudaArrayGetInfo(&description, &told, nullptr, array));
    EXPECT_EQ(told.depth, 3U);
    EXPECT_EQ(description.x, 32);
    ASSERT_CUDA(cudaFreeArray(array));
}

TEST_F(Runtime, PointersAreKnownByKind) {
    void* device = nullptr;
    void* pinned = nullptr;
    void* managed = nullptr;
    int pageable = 0;
    ASSERT_CUDA(cudaMalloc(&device, 64));
    ASSERT_CUDA(cudaMallocHost(&pinned, 64));
    ASSERT_CUDA(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    const std::pair<void*, cudaMemoryType> expected[] = {
        {device, cudaMemoryTypeDevice},
        {pinned, cudaMemoryTypeHost},
        {managed, cudaMemoryTypeManaged},
        {&pageable, cudaMemoryTypeUnregistered},
    };
    for (const auto& [pointer, type] : expected) {
        cudaPointerAttributes attributes{};
        ASSERT_CUDA(cudaPointerGetAttributes(&attributes, pointer));
        EXPECT_EQ(attributes.type, type);
    }
    EXPECT_EQ(cudaMemcpy(device, device, 65, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_F(Runtime, HostFunctionsRunInOrder) {
    std::vector<int> order;
    struct Item {
        std::vector<int>* order;
        int value;
    };
    Item items[] = {{&order, 1}, {&order, 2}};
    cudaStream_t stream = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&stream));
    for (Item& item : items) {
        ASSERT_CUDA(cudaLaunchHostFunc(
            stream,
            [](void* data) {
                auto* mine = static_cast<Item*>(data);
                mine->order->push_back(mine->value);
            },
            &item));
    }
    ASSERT_CUDA(cudaStreamAddCallback(
        stream,
        [](cudaStream_t, cudaError_t status, void* data) {
            static_cast<std::vector<int>*>(data)->push_back(status == cudaSuccess ? 3 : -1);
        },
        &order, 0));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_F(Runtime, PropertiesAndVersions) {
    cudaDeviceProp prop{};
    ASSERT_CUDA(cudaGetDeviceProperties(&prop, 0));
    EXPECT_STREQ(prop.name, "Simulated GPU");
    EXPECT_EQ(prop.major, 9);
    int version = 0;
    ASSERT_CUDA(cudaRuntimeGetVersion(&version));
    EXPECT_EQ(version, CUDART_VERSION);
    ASSERT_CUDA(cudaDriverGetVersion(&version));
    EXPECT_EQ(version, 13000);
    EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST_F(Runtime, PoolsCountWhatTheyHold) {
    cudaMemPool_t pool = nullptr;
    ASSERT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    void* pointer = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&pointer, 1024, nullptr));
    uint64_t used = 0;
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT_EQ(used, 1024U);
    ASSERT_CUDA(cudaFreeAsync(pointer, nullptr));
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT_EQ(used, 0U);
    ASSERT_CUDA(cudaStreamSynchronize(nullptr));
    ASSERT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &used));
    EXPECT_EQ(used, 0U);
}

}  // namespace
