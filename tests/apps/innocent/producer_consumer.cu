// Innocent: two host threads and two streams hand buffers round a ring, ordered by events alone.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

#include "app.hpp"
#include "kernels.hpp"

struct Buffer {
    float* data;
    Event filled, drained;
};

class Channel {
  public:
    void put(Buffer* buffer) {
        const std::lock_guard lock(mutex_);
        buffers_.push(buffer);
        changed_.notify_one();
    }
    Buffer* take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !buffers_.empty(); });
        Buffer* const buffer = buffers_.front();
        buffers_.pop();
        return buffer;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::queue<Buffer*> buffers_;
};

int main() {
    constexpr int kRounds = 40;
    Buffer ring[3];
    Channel empty, full;
    float *total, *host_total;
    CHECK(cudaMalloc(&total, kBytes));
    CHECK(cudaMallocHost(&host_total, kBytes));
    for (Buffer& buffer : ring) {
        CHECK(cudaMalloc(&buffer.data, kBytes));
        empty.put(&buffer);
    }

    std::thread producer([&] {
        Stream stream;
        for (int round = 0; round < kRounds; ++round) {
            Buffer* const buffer = empty.take();
            CHECK(cudaStreamWaitEvent(stream, buffer->drained, 0));
            fill<<<kGrid, kThreads, 0, stream>>>(buffer->data, kCount, static_cast<float>(round));
            add_one<<<kGrid, kThreads, 0, stream>>>(buffer->data, kCount);
            CHECK(cudaEventRecord(buffer->filled, stream));
            full.put(buffer);
        }
        CHECK(cudaStreamSynchronize(stream));
    });
    std::thread consumer([&] {
        Stream stream;
        for (int round = 0; round < kRounds; ++round) {
            Buffer* const buffer = full.take();
            CHECK(cudaStreamWaitEvent(stream, buffer->filled, 0));
            copy_all<<<kGrid, kThreads, 0, stream>>>(buffer->data, total, kCount);
            CHECK(cudaEventRecord(buffer->drained, stream));
            empty.put(buffer);
        }
        CHECK(cudaMemcpyAsync(host_total, total, kBytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
    });
    producer.join();
    consumer.join();

    std::printf("last %.0f\n", host_total[kCount - 1]);
    for (Buffer& buffer : ring) CHECK(cudaFree(buffer.data));
    return finish({total}, {host_total});
}
