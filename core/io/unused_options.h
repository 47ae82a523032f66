/* Finds members of a plan that a format does not use, so that they are not ignored silently. */
#ifndef DTX_IO_UNUSED_OPTIONS_H
#define DTX_IO_UNUSED_OPTIONS_H

#include "core/base/memory/buf.h"

/* An option that some formats do not use. Neighbours may have the same name. */
struct dtx_unused_options {
	const char *name;
	size_t offset, size;
	bool text; /* a const char *, whose text is compared */
};
#define DTX_UNUSED_OPTIONS(type, member, name)                                                     \
	{                                                                                          \
		name, offsetof(struct type, member), sizeof(((struct type *)0)->member), false     \
	}
#define DTX_UNUSED_OPTIONS_TEXT(type, member, name)                                                \
	{                                                                                          \
		name, offsetof(struct type, member), sizeof(const char *), true                    \
	}

/* Appends "name", "name" for the options that differ from `usual` although they are not in `uses`,
 * the list of names of a reader or writer. */
void dtx_unused_options_names(const struct dtx_unused_options *option, size_t n, const char *uses,
                              const void *opts, const void *usual, struct dtx_buf *out);

#endif
