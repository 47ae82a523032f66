/* Tables of parameters: from JSON object to C struct, to canonical JSON, to JSON Schema and to help
 * text.
 *
 * One table per op or object drives binding, error texts, schema, usage and man text.  Each kind of
 * parameter has one C type in the struct:
 *
 *   DTX_P_INT      int64_t          DTX_P_NUMBER  double
 *   DTX_P_BOOL     bool             DTX_P_TEXT    const char * (NULL: absent)
 *   DTX_P_CHOICE   int (index into choices; -1: absent and without default)
 *   DTX_P_COLUMN   const char *     DTX_P_TABLE   const char *
 *   DTX_P_REGEX    const char *     DTX_P_TYPE    const char * (the type's canonical name)
 *   DTX_P_EXPR     struct dtx_expr * (parsed by a callback; NULL: absent)
 *   DTX_P_COLUMNS  struct dtx_cols * (selector, parsed by a callback; NULL: absent)
 *   DTX_P_VALUE    const json_t * (any scalar; borrowed from the plan; NULL: absent.  A default
 *                  appears only in the canonical form)
 *   DTX_P_LIST     struct dtx_plist (items described by `rows`, or of one scalar kind)
 *   DTX_P_FRAME    struct dtx_row_frame (rows of a window; `set` is false: absent)
 *   DTX_P_SETS     struct dtx_psets (sets of names; `how` is 0: absent)
 *   DTX_P_TEXTS    struct dtx_plist whose items are const char * (list of text)
 *   DTX_P_VALUES   struct dtx_plist whose items are const json_t * (scalars, as DTX_P_VALUE)
 *
 * A number or bool that is absent and has no default is 0, and it is left out of the canonical
 * form.  Where a list is expected, a single scalar is a list of one item.  null means absent. */
#ifndef DTX_BASE_PARAM_PARAM_H
#define DTX_BASE_PARAM_PARAM_H

#include "core/base/memory/arena.h"
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

/* The rows around a row that a window covers, as distances from that row.  An open end reaches to
 * the end of the group.  With `range` the distance is measured in the order key, from (exclusive)
 * to (inclusive): a duration with a sign, or a number. */
struct dtx_winedge {
	bool open;
	int64_t rows;
	const char *span; /* for `range`: the duration as text, borrowed from the plan; NULL: the
	                   * number in `units` */
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

/* Sets of names (grouping sets): given by a word (rollup, cube) or listed one by one. */
enum dtx_psets_how { DTX_SETS_NONE, DTX_SETS_ROLLUP, DTX_SETS_CUBE, DTX_SETS_LIST };
struct dtx_psets {
	enum dtx_psets_how how;
	struct dtx_plist *set; /* the names of each set, const char * */
	size_t n;
};

/* Short forms of lists that users may write; `rows` is the table of an item's members. */
enum dtx_psugar {
	DTX_SUGAR_NONE,
	/* {"k": v} -> [{rows[0]: k, rows[1]: v}] and {"k": {...}} -> [{rows[0]: k, ...}].  An
	 * object that has all required members of an item is taken as that item. */
	DTX_SUGAR_MAP,
	DTX_SUGAR_SCALAR, /* a scalar item -> {rows[0]: scalar} */
	DTX_SUGAR_SORT,   /* "a", "-a" -> {"col": "a", "desc": true} */
	DTX_SUGAR_AGG,    /* like MAP, and {"hours": "sum"} -> {as: hours, expr: sum(hours)} */
	DTX_SUGAR_BOTH,   /* a scalar "k" -> {rows[0]: k, rows[1]: k} (join on) */
	DTX_SUGAR_FALSE   /* for a text: false -> "" */
};

/* One row of a table: one parameter. */
struct dtx_param {
	const char *name;
	enum dtx_pkind kind;
	bool required;
	size_t offset;       /* of the value in the struct */
	const char *aliases; /* other accepted names, "id_vars,keep_cols"; NULL: none */
	const char *help;
	int64_t min, max;             /* INT: bounds; both 0: no bounds */
	const char *choices;          /* CHOICE: the words, "true,not_true" */
	const char *synonyms;         /* CHOICE: other words for one, "outer=full,one_to_one=1:1" */
	const char *unsupported;      /* choices or members that the catalogue lists but this build
	                               * lacks */
	const char *def;              /* default as JSON text; NULL: null (absent) */
	const struct dtx_param *rows; /* LIST: the members of an item */
	size_t nrows, item_size;
	enum dtx_psugar sugar;
	bool nonempty; /* LIST, TEXTS, COLUMNS: at least one item */
	int hole;      /* required CHOICE: the index that is used for an unknown word */
	/* JSON Schema as text where the kind says too little (for TEXTS: of one item); NULL */
	const char *schema;
};

static inline bool dtx_param_named(const struct dtx_param *p, const char *key)
{
	return !strcmp(p->name, key) || dtx_str_in_list(p->aliases, key);
}

/* Callbacks of core/plan, which knows how to parse expressions, selectors and types. */
struct dtx_param_hooks {
	void *arg;
	enum dtx_code (*expr)(void *arg, const json_t *value, const char *pointer, void *out,
	                      struct dtx_err *err);
	/* adds its findings to errs itself and returns what it could parse; fails only without
	 * memory */
	enum dtx_code (*columns)(void *arg, const json_t *value, const char *pointer,
	                         struct dtx_errlist *errs, void *out, struct dtx_err *err);
	/* The canonical name of a type, in the arena.  *out is NULL if it is not a type. */
	enum dtx_code (*type)(void *arg, const char *text, const char **out, struct dtx_err *err);
	/* The value with what stands in it for other values replaced: a new reference; NULL: out of
	 * memory. Not called for expressions. */
	json_t *(*fill)(void *arg, const json_t *value);
	/* The canonical JSON of what the first two callbacks returned, as new references. */
	json_t *(*expr_json)(const void *made);
	json_t *(*columns_json)(const void *made);
	/* What an expression or a selector that cannot be parsed is replaced by: see
	 * dtx_param_hole. */
	const void *expr_hole, *columns_hole;
};

/* The placeholder ("hole") for a text, name or table that cannot be read or is missing though
 * required.  The rest of the object is still checked, and later checks report nothing about a hole,
 * because the cause was reported already.  It is an empty text that is recognized by its address.
 * NULL counts as a hole too. */
extern const char dtx_param_hole[];
static inline bool dtx_param_is_hole(const char *text)
{
	return !text || text == dtx_param_hole;
}

struct dtx_param_ctx {
	struct dtx_arena *arena; /* owns everything that is made */
	const struct dtx_param_hooks *hooks;
	struct dtx_errlist *errs; /* receives all findings */
	const char *skip;         /* members that are not parameters: "op,in,out,note" */
	int step;
	const char *op;
	const char *unsupported; /* parameters of the catalogue that this build lacks:
	                          * "sets,frame" */
	json_t *kept;            /* array that owns the JSON which sugar made and which values
	                          * borrow; lives as long as the arena */
};

/* Fills `args` (zeroed by the caller) from `object` and fills in defaults.  Findings go to
 * ctx->errs: unknown_param (with did_you_mean), missing_param, bad_param_type, bad_param_value,
 * param_conflict (a name and its alias both given), unsupported_param.  Returns DTX_OK even with
 * findings; a value that cannot be read becomes a hole, 0, the default or an empty list.  The only
 * failure is no_memory.  `pointer` is the JSON pointer of the object. */
DTX_MUSTUSE enum dtx_code dtx_param_fill(const struct dtx_param *params, size_t n,
                                         const json_t *object, const char *pointer,
                                         struct dtx_param_ctx *ctx, void *args,
                                         struct dtx_err *err);
/* Adds the members of `args` to object in canonical form: values that are not null and defaults, by
 * their own names and without sugar.  False: out of memory. */
DTX_MUSTUSE bool dtx_param_canonical(const struct dtx_param *params, size_t n, const void *args,
                                     const struct dtx_param_hooks *hooks, json_t *object);
/* The `properties` of a JSON Schema (2020-12) for the rows.  New reference; NULL: out of memory. */
json_t *dtx_param_schema(const struct dtx_param *params, size_t n);
/* The sets as the user wrote them.  New reference; NULL: out of memory. */
json_t *dtx_param_sets_json(const struct dtx_psets *s);
/* JSON Schemas of a window frame and of sets.  strict: the form that providers of language models
 * accept, in which every member is required. */
json_t *dtx_param_frame_schema(bool strict);
json_t *dtx_param_sets_schema(void);
/* Appends one line per parameter: name, kind, default, help. */
void dtx_param_help(const struct dtx_param *params, size_t n, struct dtx_buf *out);
/* Appends the kind, such as "list of {as, expr}". */
void dtx_param_kind_text(const struct dtx_param *param, struct dtx_buf *out);
/* The same as part of a sentence: "a list of {as, expr}", "a whole number". */
void dtx_param_wants_text(const struct dtx_param *param, struct dtx_buf *out);

#endif
