/* Prints a table of an unusual shape.
 *
 *   gen_shapes ROWS wide|one|long|lists > shape.csv
 *
 * wide: 1,000 columns, every third of them texts.  one: one column of integers below a million.
 * long: a number below 7 and a text of a million bytes.  lists: a key below ROWS / 10 and a number.
 * Same arguments, same bytes. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDE 1000u
#define LONG 1000000u

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void wide_row(uint64_t row)
{
	for (unsigned c = 0; c < WIDE; c++) {
		uint64_t v = mix(row * WIDE + c + 1);

		if (c % 3)
			printf("%" PRIu64, c == 1 ? v % 100 : v % 100000);
		else
			printf("t%" PRIu64, v % 10000);
		putchar(c + 1 < WIDE ? ',' : '\n');
	}
}

static void long_row(uint64_t row)
{
	printf("%" PRIu64 ",\"", row % 7);
	for (uint64_t n = 0; n < LONG; n += 20)
		printf("%019" PRIu64 "%c", mix(row * LONG + n + 1) % 1000000007u,
		       n % 300 ? ' ' : ',');
	printf("\"\n");
}

int main(int argc, char **argv)
{
	uint64_t rows = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	const char *shape = argc == 3 ? argv[2] : "";

	if (!rows) {
		fprintf(stderr, "usage: gen_shapes ROWS wide|one|long|lists\n");
		return 2;
	}
	for (unsigned c = 0; !strcmp(shape, "wide") && c < WIDE; c++)
		printf("c%u%c", c, c + 1 < WIDE ? ',' : '\n');
	if (strcmp(shape, "wide"))
		puts(!strcmp(shape, "one") ? "v" : !strcmp(shape, "long") ? "g,t" : "k,v");
	for (uint64_t i = 0; i < rows; i++) {
		if (!strcmp(shape, "wide"))
			wide_row(i);
		else if (!strcmp(shape, "one"))
			printf("%" PRIu64 "\n", mix(i + 1) % 1000000);
		else if (!strcmp(shape, "long"))
			long_row(i);
		else
			printf("%" PRIu64 ",%" PRIu64 "\n", mix(i + 1) % (rows / 10 + 1), i % 97);
	}
	return 0;
}
