/* All inflaters of the build agree: about bytes, about the end, and about damage. */
#include "core/base/memory/mem.h"
#include "core/io/archive/inflate.h"
#include "tests/t.h"
#include "tests/unit/zipmake.h"

/* Inflates in windows of `window` bytes; END only if nothing of `in` is left. */
static enum dtx_inflate_state inflate_all(const struct dtx_inflate_class *c, struct dtx_str in,
                                          size_t window, struct dtx_buf *out)
{
	struct dtx_inflate_io io = { .in = (const unsigned char *)in.ptr, .nin = in.len };
	enum dtx_inflate_state got = DTX_INFLATE_MORE;
	void *state = c->open();

	T_CHECK(state != NULL);
	if (!state)
		return DTX_INFLATE_NO_MEMORY;
	while (got == DTX_INFLATE_MORE && dtx_buf_room(out, window)) {
		io.out = (unsigned char *)out->ptr + out->len;
		io.nout = window;
		got = c->run(state, &io);
		out->len += window - io.nout;
		if (io.nout)
			break;
	}
	c->close(state);
	return got == DTX_INFLATE_END && io.nin ? DTX_INFLATE_BAD : got;
}

static void sample_text(struct dtx_buf *b)
{
	unsigned i, x = 1;

	for (i = 0; i < 20000; i++) {
		x = x * 1103515245u + 12345u;
		dtx_buf_printf(b, i % 50 ? "<c r=\"A%u\"><v>%u</v></c>" : "%u%u", i, x >> 20);
	}
}

static void same_everywhere(struct dtx_str packed, size_t window)
{
	struct dtx_buf a = DTX_BUF_INIT((size_t)1 << 24), b = DTX_BUF_INIT((size_t)1 << 24);
	enum dtx_inflate_state sa, sb;
	size_t i;

	sa = inflate_all(dtx_inflate_best(), packed, window, &a);
	for (i = 0; dtx_inflates[i]; i++) {
		if (!dtx_inflates[i]->ready())
			continue;
		dtx_buf_reset(&b);
		sb = inflate_all(dtx_inflates[i], packed, window, &b);
		T_INT(sa, sb);
		/* what comes out before the damage is detected may differ between libraries */
		if (sa == DTX_INFLATE_END)
			T_CHECK(a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len)));
	}
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
}

void test_inflate_agree(void)
{
	static const size_t windows[] = { 1, 7, 4096, 65536, 1 << 20 };
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 22), packed = DTX_BUF_INIT((size_t)1 << 22);
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 22);
	struct zip_part part = { 0 };
	struct dtx_str in;
	size_t i;

	sample_text(&text);
	part.text = dtx_buf_text(&text);
	zip_pack(&part, text.len, &packed);
	in = (struct dtx_str){ packed.ptr, packed.len };
	for (i = 0; i < DTX_COUNT(windows); i++) {
		dtx_buf_reset(&out);
		T_INT(inflate_all(dtx_inflate_best(), in, windows[i], &out), DTX_INFLATE_END);
		T_CHECK(out.len == text.len && !memcmp(out.ptr, text.ptr, text.len));
		same_everywhere(in, windows[i]);
	}
	T_INT(dtx_inflate_best()->crc(dtx_inflate_best()->crc(0, text.ptr, 1000), text.ptr + 1000,
	                              text.len - 1000),
	      dtx_inflate_zlib.crc(0, text.ptr, text.len));
	dtx_buf_clear(&text);
	dtx_buf_clear(&packed);
	dtx_buf_clear(&out);
}

void test_inflate_damaged(void)
{
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 22), packed = DTX_BUF_INIT((size_t)1 << 22);
	struct zip_part part = { 0 };
	unsigned i, x = 7;

	sample_text(&text);
	dtx_buf_addc(&text, 'x');
	text.len = 6000;
	part.text = dtx_buf_text(&text);
	zip_pack(&part, text.len, &packed);
	for (i = 0; i < 1500; i++) {
		size_t at = (x >> 8) % packed.len;
		char was = packed.ptr[at];

		packed.ptr[at] = (char)(was ^ (1 << x % 8));
		same_everywhere((struct dtx_str){ packed.ptr, packed.len }, 4096);
		packed.ptr[at] = was;
		same_everywhere((struct dtx_str){ packed.ptr, at }, 4096);
		x = x * 1103515245u + 12345u;
	}
	dtx_buf_clear(&text);
	dtx_buf_clear(&packed);
}
