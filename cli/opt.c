/* The parser for the option rows of all commands, see opt.h. */
#include "cli/opt.h"
#include "cli/wrap.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"

#define OPT_NAMES_MAX 128
#define HELP_COLUMN   30

struct opt_hit {
	const struct dtx_opt *opt;
	char *field; /* where the value is stored */
};

/* the position of the parser in argv */
struct opt_args {
	char **argv;
	int argc, i;
};

static struct opt_hit opt_find(const struct dtx_opttable *table, size_t n, struct dtx_str name,
                               char key)
{
	size_t t, i;

	for (t = 0; t < n; t++) {
		for (i = 0; i < table[t].n; i++) {
			const struct dtx_opt *o = &table[t].opt[i];

			if (key ? o->key == key : dtx_str_is(name, o->name))
				return (struct opt_hit){ o, (char *)table[t].args + o->offset };
		}
	}
	return (struct opt_hit){ NULL, NULL };
}

static enum dtx_code opt_unknown(const struct dtx_opttable *table, size_t n, struct dtx_str name,
                                 const char *text, struct dtx_err *err)
{
	const char *names[OPT_NAMES_MAX];
	enum dtx_code rc;
	char want[64], option[64];
	size_t t, i, have = 0;

	for (t = 0; t < n; t++) {
		for (i = 0; i < table[t].n && have < OPT_NAMES_MAX; i++)
			names[have++] = table[t].opt[i].name;
	}
	dtx_str_copy(want, sizeof(want), name);
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__, "no option '%s%s' here",
	                 name.len > 1 ? "--" : "-", want);
	dtx_err_suggest(err, want, names, have);
	for (i = 0; err && i < DTX_COUNT(err->did_you_mean) && err->did_you_mean[i][0]; i++) {
		snprintf(option, sizeof(option), "--%.60s", err->did_you_mean[i]);
		dtx_str_copy(err->did_you_mean[i], sizeof(err->did_you_mean[i]),
		             dtx_str_of(option));
	}
	if (strchr(text, '.') || access(text, F_OK) == 0)
		dtx_err_hint(err, "the file is './%.120s', or give it after '--'", text);
	return rc;
}

bool dtx_opt_size(struct dtx_str text, int64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit = text.len ? strchr(units, text.ptr[text.len - 1]) : NULL;
	int shift = 0;

	if (unit && *unit) {
		shift = (int)(unit - units + 1) * 10;
		text.len--;
	}
	if (!dtx_num_parse_i64(text.ptr, text.len, out) || *out < 0 || *out > INT64_MAX >> shift)
		return false;
	*out <<= shift;
	return true;
}

static enum dtx_code opt_number(struct opt_hit hit, const char *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_opt *o = hit.opt;
	int64_t v = 0;
	bool ok = o->kind == DTX_O_SIZE ? dtx_opt_size(dtx_str_of(value), &v)
	                                : dtx_num_parse_i64(value, strlen(value), &v);

	if (!ok)
		DTX_FAIL(err, DTX_E_USAGE, "option '--%s' takes %s, got '%s'", o->name,
		         o->kind == DTX_O_SIZE ? "a size like 256M" : "a whole number", value);
	if (o->kind == DTX_O_SIZE && v < o->min)
		DTX_FAIL(err, DTX_E_USAGE, "option '--%s' takes a size of at least %lldM, got '%s'",
		         o->name, (long long)(o->min >> 20), value);
	if (o->max == INT64_MAX && v < o->min)
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--%s' takes a whole number of at least %lld, got %lld", o->name,
		         (long long)o->min, (long long)v);
	if ((o->min || o->max) && (v < o->min || v > o->max))
		DTX_FAIL(err, DTX_E_USAGE,
		         "option '--%s' takes a whole number from %lld to %lld, got %lld", o->name,
		         (long long)o->min, (long long)o->max, (long long)v);
	memcpy(hit.field, &v, sizeof(v));
out:
	return rc;
}

static enum dtx_code opt_choice(struct opt_hit hit, const char *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(hit.opt->choices), piece;
	int i;

	for (i = 0; dtx_str_next(&rest, ',', &piece); i++) {
		if (dtx_str_is(piece, value)) {
			memcpy(hit.field, &i, sizeof(i));
			return DTX_OK;
		}
	}
	DTX_FAIL(err, DTX_E_USAGE, "option '--%s' takes one of %s, got '%s'", hit.opt->name,
	         hit.opt->choices, value);
out:
	return rc;
}

static enum dtx_code opt_list(struct opt_hit hit, const char *value, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_optlist *list = (void *)hit.field;

	if (list->n == DTX_OPTLIST_MAX)
		DTX_FAIL(err, DTX_E_USAGE, "option '--%s' is given more than %d times",
		         hit.opt->name, DTX_OPTLIST_MAX);
	list->item[list->n++] = value;
out:
	return rc;
}

static enum dtx_code opt_set(struct opt_hit hit, const char *value, struct dtx_err *err)
{
	switch (hit.opt->kind) {
	case DTX_O_FLAG: *(bool *)(void *)hit.field = true; return DTX_OK;
	case DTX_O_TEXT: memcpy(hit.field, &value, sizeof(value)); return DTX_OK;
	case DTX_O_INT:
	case DTX_O_SIZE: return opt_number(hit, value, err);
	case DTX_O_CHOICE: return opt_choice(hit, value, err);
	case DTX_O_LIST: return opt_list(hit, value, err);
	}
	return DTX_OK;
}

/* The value of an option: attached to it, or the next argument. */
static enum dtx_code opt_value(struct opt_hit hit, const char *attached, struct opt_args *a,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!attached && hit.opt->kind != DTX_O_FLAG) {
		if (a->i + 1 >= a->argc)
			DTX_FAIL(err, DTX_E_USAGE, "option '--%s' needs a value: %s", hit.opt->name,
			         hit.opt->metavar   ? hit.opt->metavar
			         : hit.opt->choices ? hit.opt->choices
			                            : "VALUE");
		attached = a->argv[++a->i];
	}
	DTX_TRY(opt_set(hit, attached, err));
out:
	return rc;
}

/* Parses --name, --name=value and --name value. */
static enum dtx_code opt_long(const struct dtx_opttable *table, size_t n, struct opt_args *a,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *text = a->argv[a->i] + 2, *eq = strchr(text, '=');
	struct dtx_str name = { text, eq ? (size_t)(eq - text) : strlen(text) };
	struct opt_hit hit = opt_find(table, n, name, 0);

	if (!hit.opt)
		return opt_unknown(table, n, name, a->argv[a->i], err);
	if (hit.opt->kind == DTX_O_FLAG && eq)
		DTX_FAIL(err, DTX_E_USAGE, "option '--%s' takes no value", hit.opt->name);
	DTX_TRY(opt_value(hit, eq ? eq + 1 : NULL, a, err));
out:
	return rc;
}

/* Parses -o FILE, -oFILE and -qv. */
static enum dtx_code opt_short(const struct dtx_opttable *table, size_t n, struct opt_args *a,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *p = a->argv[a->i] + 1;

	for (; *p; p++) {
		struct opt_hit hit = opt_find(table, n, (struct dtx_str){ p, 1 }, *p);

		if (!hit.opt)
			return opt_unknown(table, n, (struct dtx_str){ p, 1 }, a->argv[a->i], err);
		DTX_TRY(opt_value(hit, hit.opt->kind != DTX_O_FLAG && p[1] ? p + 1 : NULL, a, err));
		if (hit.opt->kind != DTX_O_FLAG)
			break;
	}
out:
	return rc;
}

/* Whether the argument is an operand: "-" is stdin, and what cannot be an option may be a
 * formula such as -7 // 2. */
static bool opt_is_operand(const char *text)
{
	return text[0] != '-' || !text[1] || strchr("0123456789.( ", text[1]);
}

enum dtx_code dtx_opt_parse(const struct dtx_opttable *table, size_t ntables, int *argc,
                            char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct opt_args a = { argv, *argc, 0 };
	int kept = 0;

	for (; a.i < a.argc; a.i++) {
		const char *text = argv[a.i];

		if (!strcmp(text, "--")) {
			while (++a.i < a.argc)
				argv[kept++] = argv[a.i];
			break;
		}
		if (opt_is_operand(text))
			argv[kept++] = argv[a.i];
		else if (text[1] == '-')
			DTX_TRY(opt_long(table, ntables, &a, err));
		else
			DTX_TRY(opt_short(table, ntables, &a, err));
	}
	*argc = kept;
out:
	return rc;
}

/* Where the options after the words begin; argc: no options follow. */
static int opt_after_words(const struct dtx_opttable *table, size_t ntables, const char *sep,
                           int from, int argc, char **argv)
{
	for (int i = from; i < argc; i++)
		if (!strcmp(argv[i], sep))
			from = i + 1;
	for (; from < argc; from++) {
		const char *text = argv[from];

		if (!strncmp(text, "--", 2))
			break;
		if (text[0] == '-' && text[1] && !text[2] &&
		    opt_find(table, ntables, DTX_STR(""), text[1]).opt)
			break;
	}
	return from;
}

enum dtx_code dtx_opt_parse_words(const struct dtx_opttable *table, size_t ntables, const char *sep,
                                  int *argc, char **argv, int *nwords, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int n = *argc, words = 0, options, files;
	char **line = NULL;

	while (words < n && strcmp(argv[words], "--") != 0)
		words++;
	*nwords = 0;
	if (words == n)
		return dtx_opt_parse(table, ntables, argc, argv, err);
	options = opt_after_words(table, ntables, sep, words + 1, n, argv);
	line = dtx_mem_alloc((size_t)n, sizeof(*line));
	if (!line)
		DTX_FAIL_MEM(err);
	/* what follows the words alone, so that a word too many among them is seen */
	files = n - options;
	memcpy(line, argv + options, (size_t)files * sizeof(*line));
	DTX_TRY(dtx_opt_parse(table, ntables, &files, line, err));
	if (files)
		DTX_FAIL_NEXT(err, DTX_E_USAGE, "options come before '--', or last of all",
		              "'%s' follows the options", line[0]);
	memcpy(line, argv, (size_t)words * sizeof(*line));
	files = words;
	DTX_TRY(dtx_opt_parse(table, ntables, &files, line, err));
	*nwords = options - words - 1;
	memmove(argv + files, argv + words + 1, (size_t)*nwords * sizeof(*argv));
	memcpy(argv, line, (size_t)files * sizeof(*argv));
	*argc = files + *nwords;
out:
	dtx_mem_free(line);
	return rc;
}

static void opt_names(const struct dtx_opt *o, struct dtx_buf *out)
{
	if (o->key)
		dtx_buf_printf(out, "-%c, ", o->key);
	dtx_buf_printf(out, "--%s", o->name);
	if (o->choices)
		dtx_buf_printf(out, " %s", o->choices);
	else if (o->kind != DTX_O_FLAG)
		dtx_buf_printf(out, " %s", o->metavar ? o->metavar : "VALUE");
}

static void opt_help(const struct dtx_opt *opt, struct dtx_buf *out)
{
	size_t start = out->len, width;

	dtx_buf_add(out, opt->key ? "  " : "      ");
	opt_names(opt, out);
	width = out->len - start;
	if (width + 2 > HELP_COLUMN)
		dtx_buf_add(out, "\n");
	dtx_buf_printf(out, "%*s",
	               (int)(width + 2 > HELP_COLUMN ? HELP_COLUMN : HELP_COLUMN - width), "");
	dtx_wrap_words(opt->help, HELP_COLUMN, HELP_COLUMN, DTX_WRAP_WIDTH, out);
	dtx_buf_addc(out, '\n');
}

/* The options of a group: all of their text, or only their names. */
static void opt_group(const struct dtx_opt *opt, size_t n, const char *group, bool all,
                      struct dtx_buf *out)
{
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	for (size_t i = 0; i < n; i++) {
		if (!opt[i].group || strcmp(opt[i].group, group) != 0)
			continue;
		if (all)
			opt_help(&opt[i], out);
		else
			dtx_buf_printf(&names, "%s--%s", names.len ? ", " : "", opt[i].name);
	}
	if (!all) {
		dtx_buf_add(out, "  ");
		dtx_wrap_words(dtx_buf_text(&names), 2, 2, DTX_WRAP_WIDTH, out);
		dtx_buf_addc(out, '\n');
	}
	dtx_buf_clear(&names);
}

void dtx_opt_help(const struct dtx_opt *opt, size_t n, bool all, struct dtx_buf *out)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		if (!opt[i].group)
			opt_help(&opt[i], out);
	for (i = 0; i < n; i++) {
		for (k = 0; k < i && opt[i].group; k++)
			if (opt[k].group && !strcmp(opt[k].group, opt[i].group))
				break;
		if (!opt[i].group || k < i)
			continue; /* its group was shown */
		dtx_buf_printf(out, "\n%s%s:\n", opt[i].group, all ? "" : " (--help-all)");
		opt_group(opt, n, opt[i].group, all, out);
	}
}

void dtx_opt_man(const struct dtx_opt *opt, size_t n, struct dtx_buf *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		dtx_buf_add(out, ".TP\n.B ");
		opt_names(&opt[i], out);
		dtx_buf_printf(out, "\n%s\n", opt[i].help);
	}
}
