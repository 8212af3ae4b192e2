// Measures the tables of measured.hpp on the device that is there; `probe` runs it, bare for what
// the driver does and under cuward for what cuward makes of the same calls.
//
//     probe IMAGE MILLISECONDS BYTES TRIES
//
// IMAGE is a file with a module; a kernel runs for MILLISECONDS while a call is made; copies of
// BYTES are made TRIES times, or with 0 nothing is measured and only the questions below are asked.
// One line for each line of the tables, fields separated by tabs:
//
//     wait  CALL  RECORDED-BLOCKING  RECORDED-NON-BLOCKING  MEASURED-BLOCKING MEASURED-NON-BLOCKING
//     copy  CALL  RECORDED  how many of TRIES were seen incomplete when the call had returned
//
// After each line the question to cuward: a kernel ask<N> touches what the work before has touched,
// on a stream of its own. It races unless the host knows that work complete. Questions are counted
// from 0: two of each wait, blocking first, then one of each copy.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "measured.hpp"
#include "tests/simgpu/twin.hpp"

using measured::must;
using measured::Place;

// Runs for a while, then says so to the host.
__global__ void hold(float* touched, unsigned milliseconds, unsigned* finished) {
    const auto now = [] {
        unsigned long long nanoseconds;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
        return nanoseconds;
    };
    const unsigned long long begin = now();
    while (now() - begin < milliseconds * 1000000ULL) {
    }
    *touched = 1.0F;
    __threadfence_system();
    *static_cast<volatile unsigned*>(finished) = 1;
}
SIMGPU_TWIN(hold, [](const simgpu::Launch&, float*, unsigned milliseconds, unsigned* finished) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    *static_cast<volatile unsigned*>(finished) = 1;
});

// Looks at memory that a copy should have filled.
__global__ void look(const unsigned* word, unsigned expected, unsigned* misses) {
    if (*static_cast<const volatile unsigned*>(word) != expected) {
        ++*misses;
    }
}
SIMGPU_TWIN(look, [](const simgpu::Launch&, const unsigned* word, unsigned expected,
                     unsigned* misses) { *misses += *word != expected ? 1 : 0; });

template <int kQuestion>
__global__ void ask(float* touched) {
    *touched = kQuestion;
}

namespace {

constexpr std::size_t kMostQuestions = 160;

template <std::size_t... kNumbers>
std::array<const void*, sizeof...(kNumbers)> make_questions(std::index_sequence<kNumbers...>) {
    return {reinterpret_cast<const void*>(&ask<static_cast<int>(kNumbers)>)...};
}

struct Options {
    const char* image;
    unsigned milliseconds;
    std::size_t bytes;
    unsigned tries;
};

class Asker {
  public:
    Asker() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Asker() { must(cudaStreamDestroy(stream_)); }
    Asker(const Asker&) = delete;
    Asker& operator=(const Asker&) = delete;

    void ask(std::size_t question, void* touched) {
        static const auto questions = make_questions(std::make_index_sequence<kMostQuestions>{});
        void* arguments[] = {&touched};
        must(cudaLaunchKernel(questions.at(question), {1, 1, 1}, {1, 1, 1}, arguments, 0, stream_));
    }

  private:
    cudaStream_t stream_ = nullptr;
};

template <class T>
class Pinned {
  public:
    Pinned() { must(cudaHostAlloc(&memory_, sizeof(T), 0)); }
    ~Pinned() { must(cudaFreeHost(memory_)); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    T* address() const { return static_cast<T*>(memory_); }
    T now() const { return *static_cast<volatile T*>(memory_); }
    void set(T value) { *static_cast<volatile T*>(memory_) = value; }

  private:
    void* memory_ = nullptr;
};

// What the call does while a kernel runs in stream A.
std::string wait_once(const measured::Wait& line, unsigned flags, const Options& options,
                      unsigned milliseconds, std::size_t question) {
    measured::Setting setting(flags, options.image);
    Pinned<unsigned> finished;
    finished.set(0);
    void* touched = nullptr;
    must(cudaMalloc(&touched, sizeof(float)));
    Asker asker;
    must(cudaDeviceSynchronize());
    hold<<<1, 1, 0, setting.a>>>(static_cast<float*>(touched), milliseconds, finished.address());
    must(cudaGetLastError());
    line.make(setting);
    const bool waited = finished.now() != 0;
    asker.ask(question, touched);
    must(cudaDeviceSynchronize());
    must(cudaFree(touched));
    return !setting.answer.empty() ? setting.answer : waited ? "waits" : "no";
}

// A call that takes long by itself looks like one that waits, until the kernel runs longer.
std::string measure(const measured::Wait& line, unsigned flags, const Options& options,
                    std::size_t question) {
    const std::string first = wait_once(line, flags, options, options.milliseconds, question);
    return first != "waits" || options.tries == 0
               ? first
               : wait_once(line, flags, options, 10 * options.milliseconds, question);
}

// A block of any kind of memory, whose last word is what a copy reaches last.
class Block {
  public:
    Block(Place place, std::size_t bytes) : place_(place), words_(bytes / sizeof(unsigned)) {
        switch (place) {
            case Place::Device:
                must(cudaMalloc(&memory_, bytes));
                break;
            case Place::Managed:
                must(cudaMallocManaged(&memory_, bytes, cudaMemAttachGlobal));
                break;
            case Place::Pinned:
                must(cudaHostAlloc(&memory_, bytes, 0));
                break;
            case Place::Pageable:
                memory_ = std::aligned_alloc(4096, bytes);
                break;
        }
        if (is_host()) {
            std::fill_n(static_cast<unsigned*>(memory_), words_, 0U);
        } else {
            must(cudaMemset(memory_, 0, bytes));
        }
    }
    ~Block() {
        if (place_ == Place::Pageable) {
            std::free(memory_);
        } else {
            must(place_ == Place::Pinned ? cudaFreeHost(memory_) : cudaFree(memory_));
        }
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    bool is_host() const { return place_ == Place::Pinned || place_ == Place::Pageable; }
    bool is_tracked() const { return place_ != Place::Pageable; }
    void* memory() const { return memory_; }
    unsigned* last() const { return static_cast<unsigned*>(memory_) + words_ - 1; }
    void set_last(unsigned value) {
        if (is_host()) {
            *static_cast<volatile unsigned*>(last()) = value;
        } else {
            must(cudaMemcpy(last(), &value, sizeof value, cudaMemcpyDefault));
        }
    }

  private:
    Place place_;
    std::size_t words_;
    void* memory_ = nullptr;
};

unsigned incomplete(const measured::Completion& line, const Options& options,
                    std::size_t question) {
    const bool is_staged = line.source == Place::Pageable && line.destination == Place::Device;
    const std::size_t bytes = is_staged ? measured::kStagedBytes : options.bytes;
    Block source(line.source, bytes), destination(line.destination, bytes);
    cudaStream_t stream = nullptr, reader = nullptr;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
    Pinned<unsigned> misses;
    misses.set(0);
    unsigned seen = 0;
    for (unsigned value = 1; value <= options.tries; ++value) {
        // As a memset leaves it in each byte.
        const unsigned word = (value & 0xFFU) * 0x01010101U;
        source.set_last(word);
        must(cudaDeviceSynchronize());
        line.make(destination.memory(), source.memory(), value & 0xFFU, bytes, stream);
        if (destination.is_host()) {
            seen += *static_cast<volatile unsigned*>(destination.last()) != word ? 1 : 0;
        } else {
            look<<<1, 1, 0, reader>>>(destination.last(), word, misses.address());
            must(cudaGetLastError());
        }
        must(cudaDeviceSynchronize());
    }
    must(cudaDeviceSynchronize());
    line.make(destination.memory(), source.memory(), 0, bytes, stream);
    Asker asker;
    asker.ask(question, destination.is_tracked() ? destination.memory() : source.memory());
    must(cudaDeviceSynchronize());
    must(cudaStreamDestroy(stream));
    must(cudaStreamDestroy(reader));
    return seen + misses.now();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "probe IMAGE MILLISECONDS BYTES TRIES\n");
        return 2;
    }
    const Options options{argv[1], static_cast<unsigned>(std::atoi(argv[2])),
                          static_cast<std::size_t>(std::atoll(argv[3])),
                          static_cast<unsigned>(std::atoi(argv[4]))};
    must(cudaFree(nullptr));
    std::size_t question = 0;
    for (const measured::Wait& line : measured::waits()) {
        const std::string blocking = measure(line, cudaStreamDefault, options, question);
        const std::string non_blocking =
            measure(line, cudaStreamNonBlocking, options, question + 1);
        std::printf("wait\t%s\t%s\t%s\t%s\t%s\n", line.call, line.a_blocking, line.a_non_blocking,
                    blocking.c_str(), non_blocking.c_str());
        question += 2;
    }
    for (const measured::Completion& line : measured::completions()) {
        std::printf("copy\t%s\t%s\t%u\n", line.call, line.known,
                    incomplete(line, options, question));
        ++question;
    }
    return 0;
}
