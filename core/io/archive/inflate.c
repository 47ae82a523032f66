/* The list of inflaters in this build. */
#include "core/io/archive/inflate.h"

const struct dtx_inflate_class *const dtx_inflates[] = {
#ifdef DTX_HAVE_ISAL
	&dtx_inflate_isal,
#endif
	&dtx_inflate_zlib,
	NULL,
};

const struct dtx_inflate_class *dtx_inflate_best(void)
{
	size_t i = 0;

	while (!dtx_inflates[i]->ready())
		i++;
	return dtx_inflates[i];
}
