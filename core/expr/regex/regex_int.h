/* Internals of regular expressions: tree, program, automata. */
#ifndef DTX_EXPR_REGEX_REGEX_INT_H
#define DTX_EXPR_REGEX_REGEX_INT_H

#include "core/expr/regex/regex.h"

#define DTX_RE_DEPTH 200
#define DTX_RE_PROG  20000 /* most instructions */

enum dtx_renode {
	DTX_RN_EMPTY,
	DTX_RN_SET,
	DTX_RN_CAT,
	DTX_RN_ALT,
	DTX_RN_REPEAT,
	DTX_RN_GROUP,
	DTX_RN_ASSERT
};
enum dtx_reassert {
	DTX_RA_TEXT_START,
	DTX_RA_TEXT_END,
	DTX_RA_LINE_START,
	DTX_RA_LINE_END,
	DTX_RA_WORD,
	DTX_RA_NOT_WORD
};

struct dtx_rerange {
	uint32_t low, high;
};
struct dtx_retree {
	enum dtx_renode kind;
	struct dtx_retree *a, *b;        /* CAT, ALT: both; REPEAT, GROUP: only a */
	const struct dtx_rerange *range; /* SET: sorted, without overlaps */
	uint32_t nranges;
	int min, max; /* REPEAT; max -1: no limit */
	bool lazy;
	int group; /* GROUP: 1 and up; 0: not capturing */
	enum dtx_reassert assertion;
};
struct dtx_rename {
	struct dtx_str name;
	int group;
};

enum dtx_reop {
	DTX_RO_BYTE,
	DTX_RO_SET,
	DTX_RO_SPLIT,
	DTX_RO_JUMP,
	DTX_RO_SAVE,
	DTX_RO_ASSERT,
	DTX_RO_MATCH
};
struct dtx_reinst {
	enum dtx_reop op;
	uint8_t low, high; /* BYTE */
	uint32_t x, y;     /* next instruction; SPLIT: first choice, second choice */
	uint32_t arg;      /* SAVE: slot; ASSERT: which; SET: index */
};

struct dtx_regex {
	struct dtx_reinst *inst;
	uint32_t ninst;
	const uint64_t (*set)[4]; /* bitmaps of bytes */
	uint32_t nsets;
	uint32_t ngroups;
	const struct dtx_rename *name;
	uint32_t nnames;
	struct dtx_str literal; /* if the whole pattern is a literal text: that text; else ptr is
	                         * NULL */
	struct dtx_str prefix;  /* every match begins with it; may be empty */
	bool has_dfa;           /* it has no assertions except start and end of the text */
	uint8_t cls[256];       /* bytes that no instruction distinguishes are in one class */
	uint32_t ncls;
};

DTX_MUSTUSE enum dtx_code dtx_regex_parse(struct dtx_arena *a, struct dtx_str pattern,
                                          struct dtx_regex *re, struct dtx_retree **out,
                                          struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_regex_program(struct dtx_arena *a, const struct dtx_retree *tree,
                                            struct dtx_regex *re, struct dtx_err *err);

struct dtx_redfa;
struct dtx_redfa *dtx_redfa_new(struct dtx_arena *a, const struct dtx_regex *re);
bool dtx_redfa_test(struct dtx_redfa *d, struct dtx_str text);

static inline bool dtx_re_takes(const struct dtx_regex *re, const struct dtx_reinst *i, uint8_t c)
{
	if (i->op == DTX_RO_BYTE)
		return c >= i->low && c <= i->high;
	return i->op == DTX_RO_SET && (re->set[i->arg][c >> 6] >> (c & 63) & 1);
}

#endif
