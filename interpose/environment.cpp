#include "interpose/environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/log/process.hpp"

namespace cuward {
namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool exists(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0;
}

}  // namespace

bool is_disabled() {
    enum : int { Unknown, No, Yes };
    static std::atomic<int> answer{Unknown};
    int known = answer.load(std::memory_order_relaxed);
    if (known == Unknown) {
        known = variable("CUWARD_DISABLE") == "1" ? Yes : No;
        answer.store(known, std::memory_order_relaxed);
    }
    return known == Yes;
}

bool wants_summary() {
    return variable("CUWARD_SUMMARY") != "0";
}

std::string choose_log_path() {
    const std::string_view wanted = variable("CUWARD_LOG_DIR");
    const std::string folder(wanted.empty() ? "." : wanted);
    const std::string stem = folder + "/cuward." + host_name() + "." + std::to_string(getpid());
    std::string path = stem + ".jsonl";
    for (int i = 1; exists(path); ++i) {
        path = stem + "." + std::to_string(i) + ".jsonl";
    }
    return path;
}

}  // namespace cuward
