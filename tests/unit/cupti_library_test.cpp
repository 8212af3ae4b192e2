// Which CUPTI is chosen.
#include "cupti/library.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace cuward::cupti {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::size_t place_of(const std::vector<std::string>& paths, const std::string& path) {
    return static_cast<std::size_t>(std::find(paths.begin(), paths.end(), path) - paths.begin());
}

TEST(CuptiSearch, TheLoadedCopyComesFirst) {
    const SearchPlaces places{.loaded_libraries = {"/lib/libc.so.6", "/app/libcupti.so.12"},
                              .chosen = "",
                              .toolkits = {"/usr/local/cuda"},
                              .driver_major = 13};
    EXPECT_EQ(candidates(places).front(), "/app/libcupti.so.12");
}

TEST(CuptiSearch, TheUsersChoiceIsTheOnlyOneButForALoadedCopy) {
    SearchPlaces places{.loaded_libraries = {"/lib/libc.so.6"},
                        .chosen = "/my/libcupti.so",
                        .toolkits = {"/usr/local/cuda"},
                        .driver_major = 13};
    EXPECT_THAT(candidates(places), ElementsAre("/my/libcupti.so"));
    places.loaded_libraries.emplace_back("/app/libcupti.so.13");
    EXPECT_THAT(candidates(places), ElementsAre("/app/libcupti.so.13", "/my/libcupti.so"));
}

TEST(CuptiSearch, DynamicLinkerThenToolkit) {
    const SearchPlaces places{
        .loaded_libraries = {}, .chosen = "", .toolkits = {"/opt/cuda"}, .driver_major = 13};
    const auto paths = candidates(places);
    EXPECT_EQ(paths[0], "libcupti.so.13");
    EXPECT_EQ(paths[1], "libcupti.so.12") << "a driver serves the CUPTI before its own too";
    EXPECT_THAT(paths, Contains("/opt/cuda/extras/CUPTI/lib64/libcupti.so.13"));
    EXPECT_THAT(paths, Contains("/opt/cuda/targets/x86_64-linux/lib/libcupti.so.13"));
}

TEST(CuptiSearch, PythonPackagesBesideTheLibrariesInUse) {
    const SearchPlaces places{
        .loaded_libraries = {"/v/site-packages/torch/lib/libtorch.so",
                             "/v/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12"},
        .chosen = "",
        .toolkits = {"/usr/local/cuda"},
        .driver_major = 13};
    const auto paths = candidates(places);
    EXPECT_EQ(paths.front(), "/v/site-packages/nvidia/cu13/lib/libcupti.so.13");
    EXPECT_LT(place_of(paths, "/v/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12"),
              place_of(paths, "libcupti.so.13"));
    EXPECT_EQ(std::count(paths.begin(), paths.end(), paths.front()), 1);
}

TEST(CuptiSearch, BesideTheRuntimeLast) {
    const SearchPlaces places{.loaded_libraries = {"/app/lib/libcudart.so.13"},
                              .chosen = "",
                              .toolkits = {"/usr/local/cuda"},
                              .driver_major = 13};
    EXPECT_THAT(candidates(places), Contains("/app/lib/libcupti.so.13"));
    EXPECT_THAT(candidates(places), Not(Contains("/app/lib/libcupti.so.14")));
}

TEST(CuptiSearch, NotFoundSaysHowToGetIt) {
    const SearchPlaces places{.loaded_libraries = {},
                              .chosen = "/nowhere/libcupti.so",
                              .toolkits = {},
                              .driver_major = 13};
    const Library library = load_library(places);
    EXPECT_EQ(library.path, "");
    EXPECT_EQ(library.reason, "CUWARD_CUPTI=/nowhere/libcupti.so cannot be loaded");
}

}  // namespace
}  // namespace cuward::cupti
