/* Prints a table of two columns for joins: every key 1..ROWS once, in an order that looks random.
 *
 *   gen_pairs ROWS SEED KEY VALUE > pairs.csv
 *
 * KEY and VALUE are the columns' names; values are integers below a million.  Same arguments, same
 * bytes. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* A permutation of [0, 2^bits): an odd factor and xor-shifts. */
static uint64_t shuffle(uint64_t i, unsigned bits, uint64_t seed)
{
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	for (int round = 0; round < 3; round++) {
		i = (i * (mix(seed + (uint64_t)round) | 1)) & mask;
		i ^= i >> (bits / 2 + 1);
	}
	return i;
}

int main(int argc, char **argv)
{
	uint64_t rows, seed, i;
	unsigned bits = 2;

	if (argc != 5 || (rows = strtoull(argv[1], NULL, 10)) < 1 || rows > 2000000000u) {
		fprintf(stderr, "usage: gen_pairs ROWS SEED KEY VALUE\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	while ((uint64_t)1 << bits < rows)
		bits++;
	printf("%s,%s\n", argv[3], argv[4]);
	for (i = 0; i < (uint64_t)1 << bits; i++) {
		uint64_t key = shuffle(i, bits, seed);

		if (key < rows)
			printf("%" PRIu64 ",%" PRIu64 "\n", key + 1, mix(key + seed) % 1000000);
	}
	if (ferror(stdout) || fclose(stdout) != 0) {
		perror("gen_pairs");
		return 1;
	}
	return 0;
}
