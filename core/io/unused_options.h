/* Members of a plan that a format has no use for, which are not passed over in silence. */
#ifndef DTX_IO_UNUSED_OPTIONS_H
#define DTX_IO_UNUSED_OPTIONS_H

#include "core/base/buf.h"

/* An option and who heeds it: names of classes, parted by commas.  Neighbours may share a name. */
struct dtx_unused_options {
	const char *name, *users;
	size_t offset, size;
	bool text; /* a const char *, compared as such */
};
#define DTX_UNUSED_OPTIONS(type, member, name, users)                                              \
	{                                                                                          \
		name, users, offsetof(struct type, member), sizeof(((struct type *)0)->member),    \
			false                                                                      \
	}
#define DTX_UNUSED_OPTIONS_TEXT(type, member, name, users)                                         \
	{                                                                                          \
		name, users, offsetof(struct type, member), sizeof(const char *), true             \
	}

/* Appends "name", "name" of the options that are not as in `usual` although `user` does not heed
 * them. */
void dtx_unused_options_names(const struct dtx_unused_options *option, size_t n, const char *user,
                              const void *opts, const void *usual, struct dtx_buf *out);

#endif
