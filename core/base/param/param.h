/* Parameter rows: JSON object -> C struct, canonical JSON, JSON Schema, help.
 *
 * One table drives binding, error texts, schema, usage and man text.  A kind has one C type:
 *
 *   DTX_P_INT      int64_t          DTX_P_NUMBER  double
 *   DTX_P_BOOL     bool             DTX_P_TEXT    const char * (NULL: absent)
 *   DTX_P_CHOICE   int (index into choices; -1: absent and without default)
 *   DTX_P_COLUMN   const char *     DTX_P_TABLE   const char *
 *   DTX_P_REGEX    const char *     DTX_P_TYPE    const char * (the type's canonical name)
 *   DTX_P_EXPR     struct dtx_expr * (parsed by a callback; NULL: absent)
 *   DTX_P_COLUMNS  struct dtx_cols * (selector, parsed by a callback; NULL: absent)
 *   DTX_P_VALUE    const json_t * (any scalar; borrowed from the plan; NULL: absent, a default then
 *                  stands in the canonical form only)
 *   DTX_P_LIST     struct dtx_plist (items of `rows`, or of one scalar kind)
 *   DTX_P_FRAME    struct dtx_row_frame (rows of a window; not set: absent)
 *   DTX_P_SETS     struct dtx_psets (sets of names; how 0: absent)
 *   DTX_P_TEXTS    struct dtx_plist whose items are const char * (list of text)
 *   DTX_P_VALUES   struct dtx_plist whose items are const json_t * (scalars, as DTX_P_VALUE)
 *
 * Absent numbers and bools without default are 0 and do not stand in the canonical form.  A scalar
 * stands for a list of one; null is absent.
 */
#ifndef DTX_BASE_PARAM_PARAM_H
#define DTX_BASE_PARAM_PARAM_H

#include "core/base/arena.h"
#include "core/base/text/json.h"

enum dtx_pkind {
	DTX_P_INT,
	DTX_P_NUMBER,
	DTX_P_BOOL,
	DTX_P_TEXT,
	DTX_P_CHOICE,
	DTX_P_COLUMN,
	DTX_P_TABLE,
	DTX_P_REGEX,
	DTX_P_TYPE,
	DTX_P_EXPR,
	DTX_P_COLUMNS,
	DTX_P_VALUE,
	DTX_P_LIST,
	DTX_P_TEXTS,
	DTX_P_VALUES,
	DTX_P_FRAME,
	DTX_P_SETS
};

/* Rows around a row, as distances from it; an open end goes on to the end of its group.  By range
 * the distance is that of the order key, from (not included) to (included): a duration with a sign,
 * or a number. */
struct dtx_winedge {
	bool open;
	int64_t rows;
	const char *span; /* by range: the duration, borrowed from the plan; NULL: `units` */
	double units;
};
struct dtx_row_frame {
	bool set, range;
	struct dtx_winedge from, to;
};

struct dtx_plist {
	void *item; /* n structs of item_size bytes, in the arena */
	size_t n;
};

/* Sets of names: by a word, or listed. */
enum dtx_psets_how { DTX_SETS_NONE, DTX_SETS_ROLLUP, DTX_SETS_CUBE, DTX_SETS_LIST };
struct dtx_psets {
	enum dtx_psets_how how;
	struct dtx_plist *set; /* of each its names, const char * */
	size_t n;
};

enum dtx_psugar {
	DTX_SUGAR_NONE,
	/* {"k": v} -> [{rows[0]: k, rows[1]: v}], {"k": {...}} -> [{rows[0]: k, ...}].  An object
	 * that has all required members of an item is that item. */
	DTX_SUGAR_MAP,
	DTX_SUGAR_SCALAR, /* a scalar item -> {rows[0]: scalar} */
	DTX_SUGAR_SORT,   /* "a", "-a" -> {"col": "a", "desc": true} */
	DTX_SUGAR_AGG,    /* as MAP, and {"hours": "sum"} -> {as: hours, expr: sum(hours)} */
	DTX_SUGAR_BOTH,   /* a scalar "k" -> {rows[0]: k, rows[1]: k} (join on) */
	DTX_SUGAR_FALSE   /* of a text: false -> "" */
};

struct dtx_param {
	const char *name;
	enum dtx_pkind kind;
	bool required;
	size_t offset;       /* into the args struct */
	const char *aliases; /* "id_vars,keep_cols"; NULL */
	const char *help;
	int64_t min, max;        /* INT; both 0: no bound */
	const char *choices;     /* "true,not_true" */
	const char *synonyms;    /* CHOICE: other words for one, "outer=full,one_to_one=1:1" */
	const char *unsupported; /* choices or members listed in the catalogue that are not built */
	const char *def;         /* default as JSON text; NULL: null (absent) */
	const struct dtx_param *rows; /* LIST: the members of an item */
	size_t nrows, item_size;
	enum dtx_psugar sugar;
	bool nonempty; /* LIST, TEXTS, COLUMNS: at least one */
	int hole;      /* CHOICE that is required: what stands for a word that is none of them */
	/* JSON Schema as text where the kind says too little (TEXTS: of an item); NULL */
	const char *schema;
};

static inline bool dtx_param_named(const struct dtx_param *p, const char *key)
{
	return !strcmp(p->name, key) || dtx_str_in_list(p->aliases, key);
}

/* Filled by core/plan: how an expression and a selector are parsed. */
struct dtx_param_hooks {
	void *arg;
	enum dtx_code (*expr)(void *arg, const json_t *value, const char *pointer, void *out,
	                      struct dtx_err *err);
	/* takes its findings to errs itself and makes what it can; only memory fails */
	enum dtx_code (*columns)(void *arg, const json_t *value, const char *pointer,
	                         struct dtx_errlist *errs, void *out, struct dtx_err *err);
	/* Canonical name of a type, in the arena; NULL in *out: it is none. */
	enum dtx_code (*type)(void *arg, const char *text, const char **out, struct dtx_err *err);
	/* canonical JSON of what the two made; new references */
	json_t *(*expr_json)(const void *made);
	json_t *(*columns_json)(const void *made);
	/* stand for what was given and cannot be read (dtx_param_hole is the same for texts) */
	const void *expr_hole, *columns_hole;
};

/* The text, name or table that was given and cannot be read, or is missing though required: the
 * rest of the object is still checked, and everybody is silent about a hole.  Empty; compared by
 * address.  NULL counts as one too. */
extern const char dtx_param_hole[];
static inline bool dtx_param_is_hole(const char *text)
{
	return !text || text == dtx_param_hole;
}

struct dtx_param_ctx {
	struct dtx_arena *arena; /* everything made lives here */
	const struct dtx_param_hooks *hooks;
	struct dtx_errlist *errs; /* all findings are collected */
	const char *skip;         /* members that are not parameters: "op,in,out,note" */
	int step;
	const char *op;
	const char *unsupported; /* params of the catalogue that this build lacks: "sets,frame" */
	json_t *kept;            /* array: JSON that sugar made and values borrow; as the arena */
};

/* Fills `args` (zeroed by the caller) from `object`; defaults are filled in.  Findings go to
 * ctx->errs: unknown_param (did_you_mean), missing_param, bad_param_type, bad_param_value,
 * param_conflict (alias beside its name), unsupported_param.  Returns no_memory, else DTX_OK even
 * with findings: what cannot be read is left a hole, 0, the default or an empty list. `pointer` is
 * the object's place. */
DTX_MUSTUSE enum dtx_code dtx_param_fill(const struct dtx_param *params, size_t n,
                                         const json_t *object, const char *pointer,
                                         struct dtx_param_ctx *ctx, void *args,
                                         struct dtx_err *err);
/* Adds the canonical members of `args` to object: non-null values and defaults, aliases and sugar
 * gone.  False: out of memory. */
DTX_MUSTUSE bool dtx_param_canonical(const struct dtx_param *params, size_t n, const void *args,
                                     const struct dtx_param_hooks *hooks, json_t *object);
/* JSON Schema (2020-12) properties of the rows; new reference, NULL: out of memory. */
json_t *dtx_param_schema(const struct dtx_param *params, size_t n);
/* As written; new reference, NULL: out of memory. */
json_t *dtx_param_sets_json(const struct dtx_psets *s);
/* Of one frame, one list of sets; strict: for language models, every member there. */
json_t *dtx_param_frame_schema(bool strict);
json_t *dtx_param_sets_schema(void);
/* One line per parameter: name, kind, default, help. */
void dtx_param_help(const struct dtx_param *params, size_t n, struct dtx_buf *out);
/* "list of {as, expr}" and so on. */
void dtx_param_kind_text(const struct dtx_param *param, struct dtx_buf *out);
/* The same in a sentence: "a list of {as, expr}", "a whole number". */
void dtx_param_wants_text(const struct dtx_param *param, struct dtx_buf *out);

#endif
