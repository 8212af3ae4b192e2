// What a kernel's name says of its parameters, and when it says nothing.
#include "core/kernel/directions.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cuward {
namespace {

std::vector<ParameterLayout> layout_of(std::vector<std::uint32_t> sizes) {
    std::vector<ParameterLayout> layout;
    std::uint32_t offset = 0;
    for (const std::uint32_t size : sizes) {
        layout.push_back({.offset = offset, .size = size});
        offset += (size + 7) / 8 * 8;
    }
    return layout;
}

TEST(Directions, ConstPointersAreReadOthersReadAndWritten) {
    const auto kernel = parameter_directions("_Z3addPKfPfi", layout_of({8, 8, 4}));
    ASSERT_EQ(kernel.parameters.size(), 3U);
    EXPECT_EQ(kernel.parameters[0].access, Access::Read);
    EXPECT_TRUE(kernel.parameters[0].direction_known);
    EXPECT_EQ(kernel.parameters[1].access, Access::ReadWrite);
    EXPECT_TRUE(kernel.parameters[1].direction_known);
    EXPECT_FALSE(kernel.parameters[2].direction_known);
}

TEST(Directions, OfPointersToPointersTheMemoryBehindThemToo) {
    // gather(float const* const*, float* const*, float**, S*)
    const auto kernel = parameter_directions("_Z6gatherPKPKfPKPfPS3_P1S", layout_of({8, 8, 8, 8}));
    ASSERT_EQ(kernel.parameters.size(), 4U);
    EXPECT_EQ(kernel.parameters[0].access, Access::Read);
    EXPECT_EQ(kernel.parameters[0].pointee, Access::Read);
    EXPECT_TRUE(kernel.parameters[0].pointee_known);
    EXPECT_EQ(kernel.parameters[1].access, Access::Read);
    EXPECT_EQ(kernel.parameters[1].pointee, Access::ReadWrite);
    EXPECT_TRUE(kernel.parameters[1].pointee_known);
    EXPECT_EQ(kernel.parameters[2].access, Access::ReadWrite);
    EXPECT_EQ(kernel.parameters[2].pointee, Access::ReadWrite);
    EXPECT_TRUE(kernel.parameters[2].pointee_known);
    EXPECT_TRUE(kernel.parameters[3].direction_known);
    EXPECT_FALSE(kernel.parameters[3].pointee_known);
}

TEST(Directions, StructsAreUnknown) {
    const auto kernel = parameter_directions("_Z1f1SIfEPf", layout_of({16, 8}));
    EXPECT_FALSE(kernel.parameters[0].direction_known);
    EXPECT_EQ(kernel.parameters[0].access, Access::ReadWrite);
    EXPECT_TRUE(kernel.parameters[1].direction_known);
}

TEST(Directions, NamesWithoutTypesAreUnknown) {
    const auto kernel = parameter_directions("plain", layout_of({8, 8}));
    ASSERT_EQ(kernel.parameters.size(), 2U);
    EXPECT_FALSE(kernel.parameters[0].direction_known);
    EXPECT_FALSE(kernel.parameters[1].direction_known);
}

TEST(Directions, ANameThatDoesNotFitTheLayoutSaysNothing) {
    const auto more = parameter_directions("_Z3addPKfPf", layout_of({8, 8, 8}));
    EXPECT_FALSE(more.parameters[0].direction_known);
    const auto smaller = parameter_directions("_Z3addPKfPf", layout_of({8, 4}));
    EXPECT_TRUE(smaller.parameters[0].direction_known);
    EXPECT_FALSE(smaller.parameters[1].direction_known);
}

TEST(Directions, TheLayoutIsKept) {
    const auto layout = layout_of({8, 100, 8});
    const auto kernel = parameter_directions("_Z1fPf3BigPKf", layout);
    for (std::size_t i = 0; i < layout.size(); ++i) {
        EXPECT_EQ(kernel.parameters[i].layout, layout[i]);
    }
}

}  // namespace
}  // namespace cuward
