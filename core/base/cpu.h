/* The SIMD instruction sets that dtx has code for, in ascending order per architecture. */
#ifndef DTX_BASE_CPU_H
#define DTX_BASE_CPU_H

#include "core/base/base.h"

enum dtx_cpu { DTX_CPU_ANY, DTX_CPU_SSE2, DTX_CPU_AVX2, DTX_CPU_AVX512, DTX_CPU_NEON };
/* The best variant that this machine runs.  DTX_SIMD=any|sse2|avx2|avx512|neon selects a lower one,
 * so that tests can compare the variants.  AVX2 also requires BMI, BMI2, PCLMUL and POPCNT; AVX512
 * requires the F, BW and VL subsets. */
enum dtx_cpu dtx_cpu_best(void);
const char *dtx_cpu_name(enum dtx_cpu cpu);

#endif
