/* The fuzz targets by name; the table is made from file names. */
#ifndef TESTS_FUZZ_REPLAY_H
#define TESTS_FUZZ_REPLAY_H

#include <stddef.h>
#include <stdint.h>

struct replay_target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
};
extern const struct replay_target replay_targets[]; /* NULL name at the end */

#endif
