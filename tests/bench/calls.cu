// Times one kind of CUDA call, as often as asked, and prints nanoseconds per call.
#include <chrono>
#include <string>

#include "app.hpp"
#include "tests/simgpu/twin.hpp"

__global__ void nothing() {}

__global__ void four_pointers(const float* a, const float* b, float* c, float* d) {
    if (a == b) *c = *d;
}
SIMGPU_TWIN(four_pointers,
            [](const simgpu::Launch&, const float*, const float*, float*, float*) {});

namespace {

/// When the calls began; a benchmark that has something to prepare sets it anew.
std::chrono::steady_clock::time_point begin;

void begin_now() {
    begin = std::chrono::steady_clock::now();
}

void launch_empty(long calls) {
    Stream stream;
    for (long i = 0; i < calls; ++i) nothing<<<1, 32, 0, stream>>>();
    CHECK(cudaStreamSynchronize(stream));
}

void launch_with_pointers(long calls) {
    Stream stream;
    float* blocks[4];
    for (float*& block : blocks) CHECK(cudaMalloc(&block, kBytes));
    for (long i = 0; i < calls; ++i) {
        four_pointers<<<1, 32, 0, stream>>>(blocks[0], blocks[1], blocks[2], blocks[3]);
    }
    CHECK(cudaStreamSynchronize(stream));
    for (float* block : blocks) CHECK(cudaFree(block));
}

/// Every stream has a chunk of one array to itself, which a tool that goes by blocks cannot know.
void launch_on_chunks(long calls) {
    constexpr int kChunks = 4;
    Stream streams[kChunks];
    float* array;
    CHECK(cudaMalloc(&array, kChunks * kBytes));
    for (long i = 0; i < calls; ++i) {
        float* const chunk = array + i % kChunks * kCount;
        four_pointers<<<1, 32, 0, streams[i % kChunks]>>>(chunk, nullptr, chunk, chunk);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(array));
}

void allocate_and_free(long calls) {
    for (long i = 0; i < calls; ++i) {
        void* block;
        CHECK(cudaMalloc(&block, 1 << 20));
        CHECK(cudaFree(block));
    }
}

void allocate_use_free(long calls) {
    Stream stream;
    for (long i = 0; i < calls; ++i) {
        float* block;
        CHECK(cudaMalloc(&block, 1 << 20));
        four_pointers<<<1, 32, 0, stream>>>(block, nullptr, block, block);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaFree(block));
    }
}

void copy_small(long calls) {
    Stream stream;
    void *device, *host;
    CHECK(cudaMalloc(&device, 256));
    CHECK(cudaMallocHost(&host, 256));
    for (long i = 0; i < calls; ++i) {
        CHECK(cudaMemcpyAsync(device, host, 256, cudaMemcpyHostToDevice, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
}

constexpr int kNodes = 10'000;

/// Node after node; each has the four addresses `apart` further on than the one before.
cudaGraphExec_t build_graph(cudaStream_t stream, float* const (&blocks)[4], int apart = 0) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int node = 0; node < kNodes; ++node) {
        const int at = node * apart;
        four_pointers<<<1, 32, 0, stream>>>(blocks[0] + at, blocks[1] + at, blocks[2] + at,
                                            blocks[3] + at);
    }
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return executable;
}

/// Captures and instantiates 10,000 nodes.
void graph_build(long calls) {
    Stream stream;
    float* blocks[4];
    for (float*& block : blocks) CHECK(cudaMalloc(&block, kBytes));
    for (long i = 0; i < calls; ++i) CHECK(cudaGraphExecDestroy(build_graph(stream, blocks)));
    for (float* block : blocks) CHECK(cudaFree(block));
}

/// Launches a graph of 10,000 nodes and waits for it.
void launch_graph(long calls, int apart) {
    Stream stream;
    float* blocks[4];
    for (float*& block : blocks) CHECK(cudaMalloc(&block, kBytes));
    const cudaGraphExec_t executable = build_graph(stream, blocks, apart);
    begin_now();
    for (long i = 0; i < calls; ++i) {
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaGraphExecDestroy(executable));
    for (float* block : blocks) CHECK(cudaFree(block));
}

void graph_launch(long calls) {
    launch_graph(calls, 0);
}

/// The same where every node works on other addresses of the same blocks.
void graph_launch_on_chunks(long calls) {
    launch_graph(calls, 4);
}

struct Benchmark {
    const char* name;
    void (*run)(long calls);
};

constexpr Benchmark kBenchmarks[] = {{"launch-empty", launch_empty},
                                     {"launch-four-pointers", launch_with_pointers},
                                     {"launch-chunks", launch_on_chunks},
                                     {"malloc-free", allocate_and_free},
                                     {"malloc-kernel-free", allocate_use_free},
                                     {"copy-small", copy_small},
                                     {"graph-build", graph_build},
                                     {"graph-launch", graph_launch},
                                     {"graph-launch-chunks", graph_launch_on_chunks}};

double nanoseconds_per_call(const Benchmark& benchmark, long calls) {
    begin_now();
    benchmark.run(calls);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / static_cast<double>(calls);
}

}  // namespace

int main(int argc, char** argv) {
    for (const Benchmark& benchmark : kBenchmarks) {
        if (argc != 3 || std::string(argv[1]) != benchmark.name) continue;
        const long calls = std::strtol(argv[2], nullptr, 10);
        CHECK(cudaFree(nullptr));
        benchmark.run(calls / 10 + 1);
        std::printf("%.1f\n", nanoseconds_per_call(benchmark, calls));
        return 0;
    }
    std::fprintf(stderr, "usage: calls BENCHMARK CALLS; benchmarks are:");
    for (const Benchmark& benchmark : kBenchmarks) std::fprintf(stderr, " %s", benchmark.name);
    std::fprintf(stderr, "\n");
    return 2;
}
