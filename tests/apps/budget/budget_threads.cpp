// Many threads that allocate at once never get more together than a budget has.
#include <atomic>
#include <thread>
#include <vector>

#include "app.hpp"

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> most{0};
std::atomic<int> refused{0};

class Pieces {
  public:
    bool add(std::size_t bytes) {
        void* piece = nullptr;
        if (cudaMalloc(&piece, bytes) != cudaSuccess) {
            (void)cudaGetLastError();
            return false;
        }
        const std::size_t now = in_use += bytes;
        std::size_t known = most;
        while (now > known && !most.compare_exchange_weak(known, now)) {
        }
        pieces_.push_back({piece, bytes});
        return true;
    }
    void free_all() {
        for (const auto& [piece, bytes] : pieces_) {
            in_use -= bytes;  // before it is somebody else's
            CHECK(cudaFree(piece));
        }
        pieces_.clear();
    }
    std::size_t size() const { return pieces_.size(); }

  private:
    struct Piece {
        void* piece;
        std::size_t bytes;
    };
    std::vector<Piece> pieces_;
};

int main() {
    std::size_t free_before = 0;
    std::size_t total = 0;
    CHECK(cudaMemGetInfo(&free_before, &total));
    constexpr int kThreads = 8;
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; ++number) {
        threads.emplace_back([number, &started] {
            Pieces pieces;
            pieces.add(1 << 20);
            for (++started; started < kThreads;) std::this_thread::yield();
            for (std::size_t i = 0; i < 300; ++i) {
                const bool got = pieces.add((1 + (i + number) % 4) << 20);
                refused += got ? 0 : 1;
                if (!got || pieces.size() == 4) pieces.free_all();
            }
            pieces.free_all();
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::size_t free_after = 0;
    CHECK(cudaMemGetInfo(&free_after, &total));
    std::printf("%s, %s, %s\n", most <= total ? "within the limit" : "too much",
                refused > 0 ? "some refused" : "none refused",
                free_after == free_before ? "all there again" : "some lost");
    return finish();
}
