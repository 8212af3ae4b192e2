#pragma once

// Lists of "type, name" pairs, so that a signature written once yields a parameter list, an
// argument list and a struct initialiser. CUDA's longest signature has eleven parameters.

#define SIM_CAT_(a, b) a##b
#define SIM_CAT(a, b) SIM_CAT_(a, b)

#define SIM_COUNT_(a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, \
                   b10, a11, b11, n, ...)                                                       \
    n
// Number of pairs; an odd position cannot occur in a well-formed list.
#define SIM_COUNT(...)                                                                            \
    SIM_COUNT_(__VA_ARGS__ __VA_OPT__(, ) 11, x, 10, x, 9, x, 8, x, 7, x, 6, x, 5, x, 4, x, 3, x, \
               2, x, 1, x, 0)

#define SIM_DECL_0()
#define SIM_DECL_1(t, n) t n
#define SIM_DECL_2(t, n, ...) t n, SIM_DECL_1(__VA_ARGS__)
#define SIM_DECL_3(t, n, ...) t n, SIM_DECL_2(__VA_ARGS__)
#define SIM_DECL_4(t, n, ...) t n, SIM_DECL_3(__VA_ARGS__)
#define SIM_DECL_5(t, n, ...) t n, SIM_DECL_4(__VA_ARGS__)
#define SIM_DECL_6(t, n, ...) t n, SIM_DECL_5(__VA_ARGS__)
#define SIM_DECL_7(t, n, ...) t n, SIM_DECL_6(__VA_ARGS__)
#define SIM_DECL_8(t, n, ...) t n, SIM_DECL_7(__VA_ARGS__)
#define SIM_DECL_9(t, n, ...) t n, SIM_DECL_8(__VA_ARGS__)
#define SIM_DECL_10(t, n, ...) t n, SIM_DECL_9(__VA_ARGS__)
#define SIM_DECL_11(t, n, ...) t n, SIM_DECL_10(__VA_ARGS__)

// The same with unused-parameter warnings off: a body may ignore what it does not simulate.
#define SIM_BODY_0()
#define SIM_BODY_1(t, n) , [[maybe_unused]] t n
#define SIM_BODY_2(t, n, ...) , [[maybe_unused]] t n SIM_BODY_1(__VA_ARGS__)
#define SIM_BODY_3(t, n, ...) , [[maybe_unused]] t n SIM_BODY_2(__VA_ARGS__)
#define SIM_BODY_4(t, n, ...) , [[maybe_unused]] t n SIM_BODY_3(__VA_ARGS__)
#define SIM_BODY_5(t, n, ...) , [[maybe_unused]] t n SIM_BODY_4(__VA_ARGS__)
#define SIM_BODY_6(t, n, ...) , [[maybe_unused]] t n SIM_BODY_5(__VA_ARGS__)
#define SIM_BODY_7(t, n, ...) , [[maybe_unused]] t n SIM_BODY_6(__VA_ARGS__)
#define SIM_BODY_8(t, n, ...) , [[maybe_unused]] t n SIM_BODY_7(__VA_ARGS__)
#define SIM_BODY_9(t, n, ...) , [[maybe_unused]] t n SIM_BODY_8(__VA_ARGS__)
#define SIM_BODY_10(t, n, ...) , [[maybe_unused]] t n SIM_BODY_9(__VA_ARGS__)
#define SIM_BODY_11(t, n, ...) , [[maybe_unused]] t n SIM_BODY_10(__VA_ARGS__)

#define SIM_NAMES_0()
#define SIM_NAMES_1(t, n) n
#define SIM_NAMES_2(t, n, ...) n, SIM_NAMES_1(__VA_ARGS__)
#define SIM_NAMES_3(t, n, ...) n, SIM_NAMES_2(__VA_ARGS__)
#define SIM_NAMES_4(t, n, ...) n, SIM_NAMES_3(__VA_ARGS__)
#define SIM_NAMES_5(t, n, ...) n, SIM_NAMES_4(__VA_ARGS__)
#define SIM_NAMES_6(t, n, ...) n, SIM_NAMES_5(__VA_ARGS__)
#define SIM_NAMES_7(t, n, ...) n, SIM_NAMES_6(__VA_ARGS__)
#define SIM_NAMES_8(t, n, ...) n, SIM_NAMES_7(__VA_ARGS__)
#define SIM_NAMES_9(t, n, ...) n, SIM_NAMES_8(__VA_ARGS__)
#define SIM_NAMES_10(t, n, ...) n, SIM_NAMES_9(__VA_ARGS__)
#define SIM_NAMES_11(t, n, ...) n, SIM_NAMES_10(__VA_ARGS__)

#define SIM_DECL(...) SIM_CAT(SIM_DECL_, SIM_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SIM_BODY(...) SIM_CAT(SIM_BODY_, SIM_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SIM_NAMES(...) SIM_CAT(SIM_NAMES_, SIM_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SIM_ARGS(...) __VA_OPT__(, ) SIM_NAMES(__VA_ARGS__)
