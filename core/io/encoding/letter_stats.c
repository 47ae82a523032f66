/* The small letters outside ASCII of languages in Latin script, see letter_stats.h. */
#include "core/io/encoding/letter_stats.h"

#include "core/base/base.h"
#include "core/base/text/utf8.h"

#define TONGUE_FIRST 0xc0u
#define TONGUE_LAST  0x21bu

static const char *const tongue_letters[] = {
	"àâæçèéêëîïôùûüÿœ", /* French */
	"äöüßéà",           /* German */
	"áéíñóúüçàèòï",     /* Spanish, Catalan */
	"ãáàâçéêíõóôúü",    /* Portuguese */
	"àèéìíîòóùú",       /* Italian */
	"åäöæøéüèà",        /* Scandinavian */
	"áðéíóúýþæö",       /* Icelandic */
	"ëïéèöüáó",         /* Dutch */
	"áčďéěíňóřšťúůýž",  /* Czech */
	"áäčďéíĺľňóôŕšťúýž",
	"ąćęłńóśźż", /* Polish */
	"áéíóöőúüű", /* Hungarian */
	"ăâîşţșț",   /* Romanian */
	"čćđšž",     /* Croatian, Slovene */
	"çğıöşüâî",  /* Turkish */
	"ąčęėįšųūžāēģīķļņõäöü",
};

/* The small letter for a capital; other characters stay. */
static uint32_t tongue_small(uint32_t cp)
{
	bool odd_pairs = (cp >= 0x139 && cp <= 0x148) || (cp >= 0x179 && cp <= 0x17e);

	if (cp >= 0xc0 && cp <= 0xde && cp != 0xd7)
		return cp + 0x20;
	if (cp == 0x178)
		return 0xff;
	if (odd_pairs)
		return cp & 1 ? cp + 1 : cp;
	return cp >= 0x100 ? cp | 1 : cp;
}

static bool tongue_is_letter(uint32_t cp)
{
	return ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z') ||
	       (cp >= TONGUE_FIRST && cp != 0xd7 && cp != 0xf7);
}

static void tongue_fill(uint32_t mask[TONGUE_LAST + 1])
{
	size_t i, at, len;

	for (i = 0; i < DTX_COUNT(tongue_letters); i++) {
		len = strlen(tongue_letters[i]);
		for (at = 0; at < len;) {
			uint32_t cp = dtx_utf8_next(tongue_letters[i], len, &at);

			if (cp <= TONGUE_LAST)
				mask[cp] |= UINT32_C(1) << i;
		}
	}
}

int64_t dtx_enc_tongue(struct dtx_str utf8)
{
	uint32_t mask[TONGUE_LAST + 1] = { 0 }, before = ' ', after;
	int64_t count[DTX_COUNT(tongue_letters)] = { 0 }, n = 0, best = 0;
	size_t at = 0, next, i;

	tongue_fill(mask);
	while (at < utf8.len) {
		uint32_t cp = tongue_small(dtx_utf8_next(utf8.ptr, utf8.len, &at)), last = before;

		before = cp;
		next = at;
		after = next < utf8.len ? dtx_utf8_next(utf8.ptr, utf8.len, &next) : ' ';
		if (!tongue_is_letter(cp) || cp < TONGUE_FIRST || cp > TONGUE_LAST ||
		    (!tongue_is_letter(last) && !tongue_is_letter(after)))
			continue;
		n++;
		for (i = 0; i < DTX_COUNT(tongue_letters); i++)
			count[i] += mask[cp] >> i & 1;
	}
	for (i = 0; i < DTX_COUNT(tongue_letters); i++)
		best = DTX_MAX(best, count[i]);
	return 2 * best - n;
}
