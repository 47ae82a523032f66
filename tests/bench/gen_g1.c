/* Prints the group-by table of the db-benchmark (G1_1e7_1e2_0_0 by default) as CSV.
 *
 *   gen_g1 [ROWS [GROUPS [SEED]]] > G1.csv
 *
 * id1 id2: GROUPS texts, id3: ROWS / GROUPS texts, id4 id5: 1..GROUPS, id6: 1..ROWS / GROUPS,
 * v1: 1..5, v2: 1..15, v3: 0..100 with at most six decimals.  Same arguments, same bytes. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX  2000000000u
#define ROW_BYTES 160
#define OUT_BYTES (1u << 20)

static uint64_t rng;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = (rng += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(((next() >> 32) * n) >> 32);
}

static char *put_int(char *to, uint32_t v, int width)
{
	char tmp[16];
	int n = 0;

	do {
		tmp[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v || n < width);
	while (n)
		*to++ = tmp[--n];
	return to;
}

static char *put_id(char *to, uint32_t v, int width)
{
	memcpy(to, "id", 2);
	to = put_int(to + 2, v, width);
	*to++ = ',';
	return to;
}

/* micros / 10^6 as Python prints round(x, 6). */
static char *put_micros(char *to, uint32_t micros)
{
	to = put_int(to, micros / 1000000, 1);
	*to++ = '.';
	to = put_int(to, micros % 1000000, 6);
	while (to[-1] == '0' && to[-2] != '.')
		to--;
	return to;
}

static char *put_row(char *to, uint32_t groups, uint32_t small)
{
	uint32_t id[6] = { below(groups), below(groups), below(small),
		           below(groups), below(groups), below(small) };
	int i;

	to = put_id(to, id[0] + 1, 3);
	to = put_id(to, id[1] + 1, 3);
	to = put_id(to, id[2] + 1, 10);
	for (i = 3; i < 6; i++) {
		to = put_int(to, id[i] + 1, 1);
		*to++ = ',';
	}
	to = put_int(to, below(5) + 1, 1);
	*to++ = ',';
	to = put_int(to, below(15) + 1, 1);
	*to++ = ',';
	to = put_micros(to, below(100000001));
	*to++ = '\n';
	return to;
}

static uint32_t argument(int argc, char **argv, int i, uint32_t fallback, uint32_t max)
{
	unsigned long v = i < argc ? strtoul(argv[i], NULL, 10) : fallback;

	if (v < 1 || v > max) {
		fprintf(stderr, "gen_g1: argument %d must be 1 to %" PRIu32 "\n", i, max);
		exit(2);
	}
	return (uint32_t)v;
}

int main(int argc, char **argv)
{
	static char out[OUT_BYTES + ROW_BYTES];
	uint32_t rows = argument(argc, argv, 1, 10000000, ROWS_MAX);
	uint32_t groups = argument(argc, argv, 2, 100, rows);
	uint32_t i;
	char *at = out;

	rng = argument(argc, argv, 3, 108, UINT32_MAX);
	at += sprintf(at, "id1,id2,id3,id4,id5,id6,v1,v2,v3\n");
	for (i = 0; i < rows; i++) {
		at = put_row(at, groups, rows / groups);
		if (at - out >= (long)OUT_BYTES) {
			if (fwrite(out, 1, (size_t)(at - out), stdout) != (size_t)(at - out))
				break;
			at = out;
		}
	}
	if (i < rows || fwrite(out, 1, (size_t)(at - out), stdout) != (size_t)(at - out) ||
	    fclose(stdout) != 0) {
		perror("gen_g1");
		return 1;
	}
	return 0;
}
