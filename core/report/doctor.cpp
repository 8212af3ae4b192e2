#include "core/report/doctor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/report/text.hpp"
#include "core/settings.hpp"

namespace cuward::report {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

/// A library opened for the time of a check. It stays loaded: a driver does not bear being
/// unloaded.
class Library {
  public:
    bool open(const std::string& name) {
        handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ == nullptr) {
            const char* why = ::dlerror();
            error_ = why == nullptr ? "unknown error" : why;
        }
        return handle_ != nullptr;
    }
    const std::string& error() const { return error_; }

    template <typename Function>
    Function* find(const char* name) const {
        return reinterpret_cast<Function*>(::dlsym(handle_, name));
    }

    std::string path_of(const char* function) const {
        Dl_info info{};
        void* address = ::dlsym(handle_, function);
        return address != nullptr && ::dladdr(address, &info) != 0 ? info.dli_fname : std::string();
    }

  private:
    void* handle_ = nullptr;
    std::string error_;
};

class Doctor {
  public:
    Doctor(const DoctorOptions& options, std::ostream& out) : options_(options), out_(out) {}

    int examine() {
        check_tool();
        check_simulated_device();
        check_driver();
        check_cupti();
        check_toolkit();
        check_log_folder();
        check_settings();
        check_preloads();
        return problems_ == 0 ? 0 : 1;
    }

  private:
    void ok(const std::string& what, const std::string& detail) {
        out_ << fmt::format("ok       {:<18} {}\n", what, escape(detail));
    }

    void problem(const std::string& what, const std::string& detail, const std::string& remedy) {
        ++problems_;
        out_ << fmt::format("problem  {:<18} {}: {}\n", what, escape(detail), escape(remedy));
    }

    bool simulated() const { return options_.device == "sim"; }

    // The simulated libraries have the names of the real ones, so they are opened by path.
    std::string library(const std::string& name) const {
        return simulated() ? options_.simgpu + "/" + name : name;
    }

    void check_tool() {
        if (options_.library.empty()) {
            return;
        }
        if (::access(options_.library.c_str(), R_OK) == 0) {
            ok("preload library", options_.library);
        } else {
            problem("preload library", options_.library + " cannot be read",
                    "build it (scripts/build) or install again");
        }
    }

    void check_simulated_device() {
        if (options_.simgpu.empty()) {
            return;
        }
        if (::access((options_.simgpu + "/libcuda.so.1").c_str(), R_OK) == 0) {
            ok("simulated device", options_.simgpu);
        } else if (simulated()) {
            problem("simulated device", "no libcuda.so.1 in " + options_.simgpu,
                    "build with CUWARD_BUILD_TESTS on");
        } else {
            ok("simulated device", "not built (only --device sim needs it)");
        }
    }

    void check_driver() {
        Library driver;
        if (!driver.open(library("libcuda.so.1"))) {
            problem("driver", driver.error(),
                    "install NVIDIA's driver (in a container: run it with --gpus all), or use "
                    "--device sim");
            return;
        }
        const auto init = driver.find<int(unsigned)>("cuInit");
        const auto version = driver.find<int(int*)>("cuDriverGetVersion");
        const auto count = driver.find<int(int*)>("cuDeviceGetCount");
        if (init == nullptr || version == nullptr || count == nullptr) {
            problem("driver", driver.path_of("cuInit") + " lacks basic functions",
                    "install NVIDIA's driver anew");
            return;
        }
        int number = 0;
        version(&number);
        const std::string name = fmt::format("CUDA {}.{}, {}", number / 1000, number % 1000 / 10,
                                             driver.path_of("cuInit"));
        if (number < 12000) {
            problem("driver", name, "cuward needs a driver for CUDA 12 or later");
        } else {
            ok("driver", name);
        }
        int devices = 0;
        const int started = init(0);
        if (started != 0 || count(&devices) != 0 || devices == 0) {
            problem("devices", fmt::format("none usable (cuInit returned {})", started),
                    "look at nvidia-smi, and at CUDA_VISIBLE_DEVICES; or use --device sim");
            return;
        }
        for (int device = 0; device < devices; ++device) {
            describe_device(driver, device);
        }
    }

    void describe_device(const Library& driver, int device) {
        const auto get_name = driver.find<int(char*, int, int)>("cuDeviceGetName");
        const auto get_bytes = driver.find<int(std::size_t*, int)>("cuDeviceTotalMem_v2");
        std::array<char, 256> name{};
        std::size_t bytes = 0;
        if (get_name != nullptr) {
            get_name(name.data(), static_cast<int>(name.size()) - 1, device);
        }
        if (get_bytes != nullptr) {
            get_bytes(&bytes, device);
        }
        ok(fmt::format("device {}", device), fmt::format("{}, {}{}", name.data(), bytes_text(bytes),
                                                         remark_on_pools(driver, device)));
    }

    static std::string remark_on_pools(const Library& driver, int device) {
        constexpr int kMemoryPoolsSupported = 115;  // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        const auto attribute = driver.find<int(int*, int, int)>("cuDeviceGetAttribute");
        int supported = 0;
        const bool known =
            attribute != nullptr && attribute(&supported, kMemoryPoolsSupported, device) == 0;
        return known && supported != 0 ? "" : ", without memory pools (no --backend async there)";
    }

    void check_cupti() {
        Library cupti;
        for (const std::string& name : cupti_names()) {
            if (cupti.open(name)) {
                report_cupti(cupti);
                return;
            }
        }
        problem("CUPTI",
                "not found, so kernel launches and copies cannot be watched; leaks still can",
                "install the CUDA toolkit, or put the folder of libcupti.so into LD_LIBRARY_PATH");
    }

    void report_cupti(const Library& cupti) {
        const auto get_version = cupti.find<int(std::uint32_t*)>("cuptiGetVersion");
        std::uint32_t version = 0;
        if (get_version != nullptr && get_version(&version) == 0) {
            ok("CUPTI",
               fmt::format("API version {}, {}", version, cupti.path_of("cuptiGetVersion")));
        } else {
            problem("CUPTI", cupti.path_of("cuptiGetVersion") + " does not work",
                    "install the CUPTI that belongs to the driver's CUDA version");
        }
    }

    std::vector<std::string> cupti_names() const {
        static constexpr std::array<const char*, 3> kNames{"libcupti.so.13", "libcupti.so.12",
                                                           "libcupti.so"};
        std::vector<std::string> names;
        for (const char* name : kNames) {
            names.push_back(library(name));
        }
        if (!simulated()) {
            for (const std::string& toolkit : toolkits()) {
                for (const char* name : kNames) {
                    names.push_back(toolkit + "/extras/CUPTI/lib64/" + name);
                    names.push_back(toolkit + "/lib64/" + name);
                }
            }
        }
        return names;
    }

    static std::vector<std::string> toolkits() {
        std::vector<std::string> folders;
        for (const std::string& folder :
             {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
            if (!folder.empty()) {
                folders.push_back(folder);
            }
        }
        return folders;
    }

    void check_toolkit() {
        for (const std::string& folder : toolkits()) {
            if (::access((folder + "/bin/nvcc").c_str(), X_OK) == 0) {
                ok("toolkit", folder);
                return;
            }
        }
        ok("toolkit", "not found (only needed to build programs; CUPTI comes with it)");
    }

    void check_log_folder() {
        std::string folder = options_.log_dir;
        if (folder.empty()) {
            folder = environment("CUWARD_LOG_DIR");
        }
        if (folder.empty()) {
            std::error_code error;
            folder = fs::temp_directory_path(error).string();
        }
        if (::access(folder.c_str(), W_OK | X_OK) == 0 && fs::is_directory(folder)) {
            ok("log folder", folder + " is writable");
        } else {
            const std::string why = errno == 0 ? "not a folder" : std::strerror(errno);
            problem("log folder", folder + " is not writable (" + why + ")",
                    "choose another with --log-dir");
        }
    }

    void check_settings() {
        const auto settings = read_settings(environment_variable);
        if (settings) {
            ok("settings", "every CUWARD_* variable that is set is understood");
        } else {
            problem("settings", settings.error(), "correct or unset it");
        }
    }

    void check_preloads() {
        const std::string preloads = environment("LD_PRELOAD");
        if (preloads.empty()) {
            ok("other preloads", "none");
        } else {
            ok("other preloads", preloads + " (LD_PRELOAD; kept, and loaded after cuward)");
        }
    }

    const DoctorOptions& options_;
    std::ostream& out_;
    int problems_ = 0;
};

}  // namespace

int doctor(const DoctorOptions& options, std::ostream& out) {
    return Doctor(options, out).examine();
}

}  // namespace cuward::report
