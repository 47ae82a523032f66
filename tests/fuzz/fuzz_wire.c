/* Packets of a hostile peer: first byte the serial that is expected, the rest the packet. */
#include <stdlib.h>

#include "sandbox/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_wire_msg msg;
	volatile unsigned sum = 0;
	uint32_t i;

	if (!size || !dtx_wire_parse(data + 1, size - 1, data[0], &msg))
		return 0;
	for (i = 0; i < msg.len; i++)
		sum += msg.payload[i];
	if (msg.len != size - 1 - DTX_WIRE_HEADER)
		abort();
	return 0;
}
