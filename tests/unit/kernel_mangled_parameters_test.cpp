// The C++ runtime's demangler is the reference wherever it can read the name.
#include "core/kernel/mangled_parameters.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace cuward {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr ParameterType kValue{PointerKind::Value};
constexpr ParameterType kPointer{PointerKind::Pointer};
constexpr ParameterType kConst{PointerKind::PointerToConst};

/// A pointer of one kind to pointers of another.
constexpr ParameterType to(ParameterType pointer, ParameterType pointee) {
    return {pointer.kind, pointee.kind};
}

void expect_unreadable(const std::string& name) {
    EXPECT_EQ(mangled_parameters(name), std::nullopt) << name;
}

TEST(MangledParameters, PlainPointersAndValues) {
    // kernel(float const*, float*, int)
    EXPECT_THAT(mangled_parameters("_Z6kernelPKfPfi"),
                Optional(ElementsAre(kConst, kPointer, kValue)));
}

TEST(MangledParameters, NoParameters) {
    EXPECT_THAT(mangled_parameters("_Z5emptyv"), Optional(IsEmpty()));
}

TEST(MangledParameters, QualifiersOfThePointee) {
    // f(float const volatile*, int volatile*, float const* const*, float* const*, float**)
    EXPECT_THAT(mangled_parameters("_Z1fPVKfPViPKPKfPKPfPS7_"),
                Optional(ElementsAre(kConst, kPointer, to(kConst, kConst), to(kConst, kPointer),
                                     to(kPointer, kPointer))));
}

TEST(MangledParameters, ReferencesArePointers) {
    // f(int const&, float&, int&&, float (&) [4], float const (&) [4])
    EXPECT_THAT(mangled_parameters("_Z1fRKiRfOiRA4_fRA4_Kf"),
                Optional(ElementsAre(kConst, kPointer, kPointer, kPointer, kConst)));
}

TEST(MangledParameters, FunctionAndMemberPointersAreValues) {
    // f(void (*)(float*), int S::*, void (S::*)(int) const, float*)
    EXPECT_THAT(mangled_parameters("_Z1fPFvPfEM1SiMS1_KFviES_"),
                Optional(ElementsAre(kValue, kValue, kValue, kPointer)));
}

TEST(MangledParameters, VoidPointers) {
    EXPECT_THAT(mangled_parameters("_Z4copyPvPKvm"),
                Optional(ElementsAre(kPointer, kConst, kValue)));
}

TEST(MangledParameters, Variadic) {
    EXPECT_THAT(mangled_parameters("_Z5printPKcz"), Optional(ElementsAre(kConst, kValue)));
}

TEST(MangledParameters, ReturnTypeOfTemplatesIsNoParameter) {
    // void at::native::(anonymous namespace)::kernel<float>(float const*, float*)
    EXPECT_THAT(mangled_parameters("_ZN2at6native12_GLOBAL__N_16kernelIfEEvPKT_PS3_"),
                Optional(ElementsAre(kConst, kPointer)));
}

TEST(MangledParameters, TemplateParametersStandForTheirArguments) {
    // void f<float const>(float const*), void f<float*>(float*), void f<float const*>(float
    // const*&)
    EXPECT_THAT(mangled_parameters("_Z1fIKfEvPT_"), Optional(ElementsAre(kConst)));
    EXPECT_THAT(mangled_parameters("_Z1fIPfEvT_"), Optional(ElementsAre(kPointer)));
    EXPECT_THAT(mangled_parameters("_Z1fIPKfEvRT_"), Optional(ElementsAre(to(kPointer, kConst))));
    EXPECT_THAT(mangled_parameters("_Z1fIPKfEvT_"), Optional(ElementsAre(kConst)));
}

TEST(MangledParameters, ReferencesCollapse) {
    // void f<float const&>(float const&)
    EXPECT_THAT(mangled_parameters("_Z1fIRKfEvOT_"), Optional(ElementsAre(kConst)));
}

TEST(MangledParameters, PacksExpand) {
    // void f<float*, int const*>(float*, int const*), void f<>(int)
    EXPECT_THAT(mangled_parameters("_Z1fIJPfPKiEEvDpT_"), Optional(ElementsAre(kPointer, kConst)));
    EXPECT_THAT(mangled_parameters("_Z1fIJEEviDpT_"), Optional(ElementsAre(kValue)));
    // void f<float, int>(float const*, int const*)
    EXPECT_THAT(mangled_parameters("_Z1fIJfiEEvDpPKT_"), Optional(ElementsAre(kConst, kConst)));
    // void f<float, int>(S<float>, S<int>)
    EXPECT_THAT(mangled_parameters("_Z1fIJfiEEvDp1SIT_E"), Optional(ElementsAre(kValue, kValue)));
}

TEST(MangledParameters, DeviceLambdasInTemplateArguments) {
    // void apply<main::{lambda(int, float*, float const*)#1}, float*, float
    // const*>(main::{lambda…}, int, float*, float const*)
    EXPECT_THAT(mangled_parameters("_Z5applyIZ4mainEUliPfPKfE_JS0_S2_EEvT_iDpT0_"),
                Optional(ElementsAre(kValue, kValue, kPointer, kConst)));
}

TEST(MangledParameters, PyTorchStyleNames) {
    EXPECT_THAT(mangled_parameters("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
                                   "11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_"),
                Optional(ElementsAre(kValue, kValue, kValue)));
    EXPECT_THAT(mangled_parameters(
                    "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_21copy_device_to_device"
                    "ERNS_14TensorIteratorEbbENKUlvE_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EELi4E23"
                    "TrivialOffsetCalculatorILi1EjESA_NS0_6memory15LoadWithoutCastENSB_"
                    "16StoreWithoutCastEEE"
                    "viT_T0_T2_T3_T4_T5_"),
                Optional(ElementsAre(kValue, kValue, kValue, kValue, kValue, kValue, kValue)));
    // vectorized_layer_norm_kernel<float, float>(int, float, float const*, float const*, float
    // const*, float*, float*, float*)
    EXPECT_THAT(mangled_parameters("_ZN2at6native28vectorized_layer_norm_kernelIffEEviT0_PKT_S5_S5_"
                                   "PS2_S6_PS3_"),
                Optional(ElementsAre(kValue, kValue, kConst, kConst, kConst, kPointer, kPointer,
                                     kPointer)));
}

TEST(MangledParameters, ReturnTypesComputedByExpressions) {
    EXPECT_THAT(
        mangled_parameters("_Z1fIiENSt9enable_ifIXsrSt7is_sameIT_iE5valueEvE4typeEPKS2_PS2_"),
        Optional(ElementsAre(kConst, kPointer)));
}

// As nvcc 13.0 names them.
TEST(MangledParameters, KernelsOfThrustAndCub) {
    EXPECT_THAT(mangled_parameters("_Z8internalPVKiRA4_iPKPKd"),
                Optional(ElementsAre(kConst, kPointer, to(kConst, kConst))));
    EXPECT_THAT(
        mangled_parameters("_ZN34_GLOBAL__N__9b438270_5_th_cu_plain4anonIfEEvNS_1SIT_EEPKS2_PS2_PF"
                           "vS6_E"),
        Optional(ElementsAre(kValue, kConst, kPointer, kValue)));
    EXPECT_THAT(
        mangled_parameters("_ZN3cub17CUB_300001_SM_8006detail10radix_sort29DeviceRadixSortOnesweep"
                           "KernelINS1_5radix10policy_hubIfNS0_8NullTypeEyE10Policy1000ELNS0_9Sort"
                           "OrderE0EfS6_yiiNS1_21identity_decomposer_tEEEvPT5_SC_PT3_PKSD_PT1_PKSH"
                           "_PT2_PKSL_T4_iiT6_"),
        Optional(ElementsAre(kPointer, kPointer, kPointer, kConst, kPointer, kConst, kPointer,
                             kConst, kValue, kValue, kValue, kValue)));
    EXPECT_THAT(
        mangled_parameters("_ZN3cub17CUB_300001_SM_8006detail4scan16DeviceScanKernelINS2_10policy_"
                           "hubIfffmN4cuda3std3__44plusIvEEE10Policy1000EN6thrust23THRUST_300001_S"
                           "M_800_NS6detail15normal_iteratorINSD_10device_ptrIfEEEESI_NS0_13ScanTi"
                           "leStateIfLb1EEES9_NS0_8NullTypeEmfLb0ESL_EEvT0_T1_T2_iT3_T4_T5_"),
        Optional(ElementsAre(kValue, kValue, kValue, kValue, kValue, kValue, kValue)));
    EXPECT_THAT(
        mangled_parameters("_ZN3cub17CUB_300001_SM_8006detail6reduce28DeviceReduceSingleTileKernel"
                           "INS2_10policy_hubIfjN4cuda3std3__44plusIfEEE10Policy1000EPfSC_iS9_ffNS"
                           "7_10__identityEEEvT0_T1_T2_T3_T4_T6_"),
        Optional(ElementsAre(kPointer, kPointer, kValue, kValue, kValue, kValue)));
    EXPECT_THAT(
        mangled_parameters("_ZN3cub17CUB_300001_SM_8006detail6reduce28DeviceReduceSingleTileKernel"
                           "INS2_10policy_hubIfyN4cuda3std3__44plusIfEEE10Policy1000EPfSC_iS9_ffNS"
                           "7_10__identityEEEvT0_T1_T2_T3_T4_T6_"),
        Optional(ElementsAre(kPointer, kPointer, kValue, kValue, kValue, kValue)));
    EXPECT_THAT(
        mangled_parameters("_ZN3cub17CUB_300001_SM_8006detail9transform16transform_kernelINS2_10po"
                           "licy_hubILb1EN4cuda3std3__45tupleIJN6thrust23THRUST_300001_SM_800_NS6d"
                           "etail15normal_iteratorINSA_10device_ptrIfEEEEEEEE10policy1000ElZ4mainE"
                           "UlfE_SF_JPfEEEvT0_iT1_T2_DpNS2_10kernel_argIT3_EE"),
        Optional(ElementsAre(kValue, kValue, kValue, kValue, kValue)));
}

TEST(MangledParameters, ScopesOfDependentNamesFromBothCompilers) {
    // enable_if<is_ok<int>::value, void>::type f<int>(int const*)
    EXPECT_THAT(mangled_parameters("_Z1fIiENSt9enable_ifIXsr5is_okIT_E5valueEvE4typeEPKS1_"),
                Optional(ElementsAre(kConst)));
    EXPECT_THAT(mangled_parameters("_Z1fIiENSt9enable_ifIXsr5is_okIT_EE5valueEvE4typeEPKS1_"),
                Optional(ElementsAre(kConst)));
    EXPECT_THAT(mangled_parameters("_Z1fIiENSt9enable_ifIXsr2ns5is_okIT_EE5valueEvE4typeEPKS1_"),
                Optional(ElementsAre(kConst)));
}

TEST(MangledParameters, NamesLongerThanTheRuntimesDemanglerReads) {
    std::string name = "_Z1fIJ";
    for (int i = 0; i < 2000; ++i) {
        name += "Li1E";
    }
    name += "EEvPKfPf";
    EXPECT_THAT(mangled_parameters(name), Optional(ElementsAre(kConst, kPointer)));
}

TEST(MangledParameters, InternalLinkageAndClones) {
    EXPECT_THAT(mangled_parameters("_ZL6kernelPKfPf"), Optional(ElementsAre(kConst, kPointer)));
    EXPECT_THAT(mangled_parameters("_Z6kernelPKf.constprop.0"), Optional(ElementsAre(kConst)));
}

TEST(MangledParameters, OtherNamesAreNotRead) {
    for (const char* name :
         {"", "plain", "_Z", "_ZN", "_ZTV3Foo", "_Z3foo", "_ZN3fooE", "_Z9shortPf", "_Z1fPT",
          "_Z1fS5_", "_Z1fIXfoEEvPf", "triton_poi_fused_add_0"}) {
        expect_unreadable(name);
    }
}

TEST(MangledParameters, EveryPrefixOfANameEndsWell) {
    const std::string name =
        "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_21copy_device_to_device"
        "ERNS_14TensorIteratorEbbENKUlvE_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EELi4EEEviT_T0_";
    for (std::size_t length = 0; length <= name.size(); ++length) {
        (void)mangled_parameters(name.substr(0, length));
    }
    (void)mangled_parameters("_Z1f" + std::string(100000, 'P'));
    (void)mangled_parameters("_Z" + std::string(100000, 'N'));
}

}  // namespace
}  // namespace cuward
