/* Feeds files to a fuzz target: how the corpora are replayed without a fuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return 1;
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, n);
	return 0;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	dtx_json_init();
	for (i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("%d replayed\n", argc - 1);
	return failed;
}
