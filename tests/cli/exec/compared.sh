# Whole programs print, write and fail in the jail as they do with plain python3: a tenth of them here,
# as each takes a third of a second; all with `tests/jail/compare.py build/dtx`.
# numpy without AVX-512, as in the jail: the last bits of exp and log differ with it
export PYTHONHASHSEED=0 NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
# and OpenBLAS, where it is numpy's BLAS: one thread, and the sums of AVX2
export OPENBLAS_NUM_THREADS=1
! grep -qw avx2 /proc/cpuinfo || export OPENBLAS_CORETYPE=Haswell
/usr/bin/python3 -W ignore "$FIX/../tests/jail/compare.py" "$DTX" every=10
