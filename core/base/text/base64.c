/* Base64: three bytes become four characters. */
#include "core/base/text/base64.h"

#include <string.h>

static const char base64_set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void dtx_base64_put(struct dtx_str bytes, struct dtx_buf *out)
{
	size_t i, k, n;

	for (i = 0; i < bytes.len; i += 3) {
		uint32_t word = 0;

		n = DTX_MIN(bytes.len - i, (size_t)3);
		for (k = 0; k < 3; k++)
			word = word << 8 | (k < n ? (unsigned char)bytes.ptr[i + k] : 0u);
		for (k = 0; k < 4; k++)
			dtx_buf_addc(out, k <= n ? base64_set[word >> (18 - 6 * k) & 63] : '=');
	}
}

static bool base64_four(const char *text, bool last, struct dtx_buf *out)
{
	uint32_t word = 0;
	size_t k, pad = 0;

	for (k = 0; k < 4; k++) {
		const char *at = text[k] ? strchr(base64_set, text[k]) : NULL;

		if (last && k >= 2 && text[k] == '=') {
			pad++;
			word <<= 6;
			continue;
		}
		if (!at || pad)
			return false;
		word = word << 6 | (uint32_t)(at - base64_set);
	}
	for (k = 0; k + pad < 3; k++)
		dtx_buf_addc(out, (char)(word >> (16 - 8 * k) & 255));
	return !pad || !(word & (pad == 1 ? 255u : 65535u)); /* the unused bits must be zero, so
	                                                      * that each value has one text only */
}

bool dtx_base64_get(struct dtx_str text, struct dtx_buf *out)
{
	size_t i;

	if (text.len % 4)
		return false;
	for (i = 0; i < text.len; i += 4) {
		if (!base64_four(text.ptr + i, i + 4 == text.len, out))
			return false;
	}
	return dtx_buf_ok(out);
}
