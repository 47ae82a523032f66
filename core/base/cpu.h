/* SIMD variants that this machine runs. */
#ifndef DTX_BASE_CPU_H
#define DTX_BASE_CPU_H

#include "core/base/base.h"

enum dtx_cpu { DTX_CPU_ANY, DTX_CPU_SSE2, DTX_CPU_AVX2, DTX_CPU_AVX512, DTX_CPU_NEON };
/* Best variant; DTX_SIMD=any|sse2|avx2|avx512|neon lowers it (tests). avx2 means avx2+bmi2+pclmul,
 * avx512 means f+bw+vl too. */
enum dtx_cpu dtx_cpu_best(void);
const char *dtx_cpu_name(enum dtx_cpu cpu);

#endif
