// Ends with the status given, by return or by exit from another thread, or by a signal.
#include <csignal>
#include <cstring>
#include <thread>

#include "app.hpp"

int main(int argc, char** argv) {
    void* lost;
    CHECK(cudaMalloc(&lost, 1000));  // ALLOC
    const char* how = argc > 1 ? argv[1] : "return";
    const int status = argc > 2 ? std::atoi(argv[2]) : 0;
    char line[80];
    if (std::fgets(line, sizeof line, stdin) != nullptr) std::printf("read %s", line);
    std::fflush(stdout);
    if (std::strcmp(how, "exit-in-thread") == 0) std::thread([&] { std::exit(status); }).join();
    if (std::strcmp(how, "quick") == 0) std::_Exit(status);
    if (std::strcmp(how, "signal") == 0) std::raise(status);
    return status;
}
