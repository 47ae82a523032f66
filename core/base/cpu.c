/* Detects the instruction sets of the processor.  The environment variable DTX_SIMD selects a lower
 * one.  The loader has asked the processor already, and glibc passes its answers on: asking again,
 * as gcc's __builtin_cpu_init does, costs a virtual machine 5 us for each of a dozen questions. */
#include "core/base/cpu.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <sys/platform/x86.h>
#endif

static const char *const cpu_names[] = {
	[DTX_CPU_ANY] = "any",       [DTX_CPU_SSE2] = "sse2", [DTX_CPU_AVX2] = "avx2",
	[DTX_CPU_AVX512] = "avx512", [DTX_CPU_NEON] = "neon",
};

#if defined(__x86_64__)
static enum dtx_cpu cpu_detect(void)
{
	bool avx2 = CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) &&
	            CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(PCLMULQDQ) &&
	            CPU_FEATURE_ACTIVE(POPCNT);
	bool avx512 = avx2 && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
	              CPU_FEATURE_ACTIVE(AVX512VL);

	return avx512 ? DTX_CPU_AVX512 : avx2 ? DTX_CPU_AVX2 : DTX_CPU_SSE2;
}
#elif defined(__aarch64__)
static enum dtx_cpu cpu_detect(void)
{
	return DTX_CPU_NEON;
}
#else
static enum dtx_cpu cpu_detect(void)
{
	return DTX_CPU_ANY;
}
#endif

enum dtx_cpu dtx_cpu_best(void)
{
	const char *want = getenv("DTX_SIMD");
	enum dtx_cpu best = cpu_detect(), cpu;

	if (!want)
		return best;
	for (cpu = DTX_CPU_ANY; cpu < best; cpu++) {
		if (!strcmp(want, cpu_names[cpu]) && (best != DTX_CPU_NEON || cpu == DTX_CPU_ANY))
			return cpu;
	}
	return best;
}

const char *dtx_cpu_name(enum dtx_cpu cpu)
{
	return cpu_names[cpu];
}
