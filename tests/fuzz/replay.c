/* Feeds files to a fuzz target: how the corpora are replayed without a fuzzer.
 * Usage: replay TARGET FILE... */
#include "tests/fuzz/replay.h"

#include <stdio.h>
#include <string.h>

#include "core/base/text/json.h"

static int replay(const struct replay_target *target, const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return 1;
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	target->run(bytes, n);
	return 0;
}

int main(int argc, char **argv)
{
	const struct replay_target *target = replay_targets;
	int i, failed = 0;

	dtx_json_init();
	while (target->name && (argc < 2 || strcmp(target->name, argv[1]) != 0))
		target++;
	if (!target->name) {
		fprintf(stderr, "usage: replay TARGET FILE...\n");
		return 2;
	}
	for (i = 2; i < argc; i++)
		failed |= replay(target, argv[i]);
	printf("%d replayed\n", argc - 2);
	return failed;
}
