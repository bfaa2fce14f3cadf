// How a function is compiled for several instruction sets, where the compiler can.
#pragma once

// The thread sanitizer instruments the functions that choose between the versions, which run before
// it is ready.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_THREAD__)
#define KEMPE_MULTIVERSION __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define KEMPE_MULTIVERSION
#endif

// A function is compiled for an instruction set only where it is part of the caller.
#if defined(__GNUC__)
#define KEMPE_ALWAYS_INLINE inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define KEMPE_ALWAYS_INLINE __forceinline
#else
#define KEMPE_ALWAYS_INLINE inline
#endif
