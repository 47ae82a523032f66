/* Puts together the program of `dtx compile --to pandas`, see program.h. */
#include "cli/plan/program.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/io/reader.h"
#include "core/plan/compile/pytext.h"

/* --- the parts that it needs --- */

static int part_find(const char *name, size_t len, bool dx)
{
	for (int i = 0; dtx_program_parts[i].name; i++) {
		const char *has = dx ? dtx_program_parts[i].dx : dtx_program_parts[i].name;

		if (has && strlen(has) == len && memcmp(has, name, len) == 0)
			return i;
	}
	return -1;
}

static void part_need(bool *need, int part)
{
	if (part < 0 || need[part])
		return;
	need[part] = true;
	for (const int16_t *u = dtx_program_parts[part].uses; *u >= 0; u++)
		part_need(need, *u);
}

static size_t word_len(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* Marks what the steps call: dx.NAME, and the formula function of dx.fn("NAME", ...). A text of the
 * plan that looks like a call marks a part too many, which does no harm. */
static void parts_of_text(const char *text, bool *need, bool *direct)
{
	static const char *const tables[] = { "FUNCTIONS", "NULL_FUNCTIONS" };
	char entry[96];

	for (const char *at = text; (at = strstr(at, "dx."));) {
		const char *name = at + 3;
		size_t len = word_len(name);
		int part = part_find(name, len, true);

		at = name;
		if (part < 0)
			continue;
		part_need(need, part);
		direct[part] = true;
		if (len != 2 || strncmp(name, "fn(\"", 4) != 0)
			continue;
		for (size_t t = 0; t < DTX_COUNT(tables); t++) {
			snprintf(entry, sizeof(entry), "%s[%.*s]", tables[t],
			         (int)DTX_MIN(word_len(name + 4), 60), name + 4);
			part_need(need, part_find(entry, strlen(entry), false));
		}
	}
}

/* --- inputs --- */

static enum dtx_code refuse(const struct dtx_plan_input *in, const char *how, const char *member,
                            struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
	            "input '%s' is read %s '%s', which a pandas program does not do", in->name, how,
	            member);
	dtx_err_at(err, in->at);
	dtx_err_hint(err, "write the table that dtx reads as CSV (dtx convert), and compile a plan "
	                  "that reads it; --to snippet writes the steps alone");
	return DTX_E_NO_TRANSLATION;
}

/* Whether a member of an input, or of its dialect, is the same as if it were not given, or is one
 * that the program knows. */
static bool member_fits(const char *key, const json_t *v)
{
	static const char *const known[] = {
		"name",     "types",       "null_values", "requires", "header_sep", "header_fill",
		"hidden",   "bad_cells",   "merged",      "dialect",  "delimiter",  "columns",
		"encoding", "header_rows", "max_rejects", "score",    "runner_up"
	};
	static const struct {
		const char *key, *value;
	} plain[] = { { "names", "suffix" },         { "extra", "allow" }, { "ragged", "error" },
		      { "repeated_header", "keep" }, { "quote", "\"" },    { "decimal", "." },
		      { "quotes", "strict" } };

	for (size_t i = 0; i < DTX_COUNT(known); i++)
		if (strcmp(key, known[i]) == 0)
			return true;
	for (size_t i = 0; json_is_string(v) && i < DTX_COUNT(plain); i++)
		if (strcmp(key, plain[i].key) == 0 &&
		    strcmp(json_string_value(v), plain[i].value) == 0)
			return true;
	if (strcmp(key, "format") == 0) {
		const struct dtx_reader_class *cls = dtx_reader_find(json_string_value(v));

		return strcmp(json_string_value(v), "auto") == 0 ||
		       (cls && cls->uses && strstr(cls->uses, "dialect"));
	}
	return json_is_false(v) || (json_is_integer(v) && json_integer_value(v) == 0);
}

static enum dtx_code check_members(const struct dtx_plan_input *in, const json_t *members,
                                   struct dtx_err *err)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)members, key, v)
	{
		if (!member_fits(key, v))
			return refuse(in, "with", key, err);
	}
	return DTX_OK;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s && *s && strcmp(s, "auto") != 0 ? s : NULL;
}

static void put_text(struct dtx_buf *out, const char *key, const char *text)
{
	dtx_buf_printf(out, "        \"%s\": ", key);
	if (text)
		dtx_py_text(out, text);
	else
		dtx_buf_add(out, "None");
	dtx_buf_add(out, ",\n");
}

static void put_value(struct dtx_buf *out, const char *key, const json_t *value)
{
	dtx_buf_printf(out, "        \"%s\": ", key);
	dtx_py_value(out, value);
	dtx_buf_add(out, ",\n");
}

static void put_columns(struct dtx_buf *out, const struct dtx_schema *s)
{
	dtx_buf_add(out, "        \"columns\": ");
	if (!s) {
		dtx_buf_add(out, "None,\n");
		return;
	}
	for (uint32_t k = 0; k < s->nfields; k++) {
		dtx_buf_add(out, k ? ", " : "[");
		dtx_py_text(out, s->field[k].name);
	}
	dtx_buf_add(out, s->nfields ? "],\n" : "[],\n");
}

/* The entry of INPUTS. `x` is what dtx found out about the file; NULL: it has not seen one. */
static enum dtx_code input_text(const struct dtx_plan_input *in, const struct dtx_exec_input *x,
                                struct dtx_buf *out, struct dtx_err *err)
{
	const json_t *c = in->canonical, *dialect = json_object_get(c, "dialect");
	const json_t *seen = x ? x->describe : NULL, *found = json_object_get(seen, "dialect");
	const json_t *rows = json_object_get(seen ? seen : c, "header_rows");
	json_t *types = json_object_get(c, "types");
	const json_t *mark = json_object_get(found ? found : dialect, "delimiter");
	const char *delimiter = json_string_value(mark);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(check_members(in, c, err));
	DTX_TRY(check_members(in, dialect, err));
	if (in->nfiles > 1 || in->source_file)
		return refuse(in, "with", in->source_file ? "source_file" : "path", err);
	if (json_is_integer(rows) && json_integer_value(rows) > 1)
		return refuse(in, "with", "header_rows", err);
	if (seen && !found) /* a workbook, JSON ... */
		return refuse(in, "as",
		              text_of(seen, "format") ? text_of(seen, "format") : "other than csv",
		              err);
	DTX_TRY(check_members(in, found, err));
	dtx_buf_add(out, "    ");
	dtx_py_text(out, in->name);
	dtx_buf_add(out, ": {\n");
	put_text(out, "delimiter", delimiter);
	put_text(out, "encoding", text_of(seen ? seen : c, "encoding"));
	dtx_buf_printf(out, "        \"header\": %s,\n",
	               json_is_integer(rows) && !json_integer_value(rows) ? "False" : "True");
	put_columns(out, x ? x->schema : NULL);
	put_value(out, "types", types);
	put_value(out, "requires", json_object_get(c, "requires"));
	put_value(out, "null_values", json_object_get(c, "null_values"));
	dtx_buf_add(out, "    },\n");
out:
	return rc;
}

/* --- the output --- */

/* Finds the delimiter of the CSV that the program writes. Other formats are refused: the program
 * would write CSV under their names. */
static enum dtx_code output_delimiter(const struct dtx_plan *plan, char *delimiter,
                                      struct dtx_err *err)
{
	const struct dtx_plan_output *o = plan->output;
	const struct dtx_writer_class *cls;
	struct dtx_str format;

	*delimiter = ',';
	if (!plan->noutputs)
		return DTX_OK;
	cls = dtx_writer_find(o->format, o->path);
	*delimiter = dtx_writer_delimiter(&o->opts, o->format, o->path);
	if (*delimiter)
		return DTX_OK;
	format = cls ? dtx_writer_format(cls, o->format, o->path) : dtx_writer_suffix(o->path);
	dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
	            "the output is written as '%.*s', which a pandas program does not do: it "
	            "writes CSV",
	            (int)format.len, format.ptr);
	dtx_err_at(err, o->at);
	dtx_err_hint(err,
	             "name a .csv, which dtx convert makes a .%.*s of; --to snippet writes the "
	             "steps alone",
	             (int)format.len, format.ptr);
	return DTX_E_NO_TRANSLATION;
}

/* --- the program --- */

static void head_text(const struct dtx_plan *plan, struct dtx_buf *out)
{
	dtx_buf_printf(out,
	               "#!/usr/bin/env python3\n"
	               "\"\"\"The plan %s as a program, written by dtx %s.\n\n"
	               "It needs Python and pandas, nothing else. Usage:\n\n"
	               "    python3 THIS.py",
	               plan->id, DTX_VERSION);
	for (uint32_t i = 0; i < plan->ninputs; i++)
		dtx_buf_printf(out, " INPUT%u.csv", (unsigned)i + 1);
	dtx_buf_add(
		out,
		" [OUT.csv]\n\n"
		"It reads and writes CSV, and stops with an error where a file is not as the plan\n"
		"expects it. Numbers are written in their shortest form and dates as 2024-12-31; "
		"dtx\n"
		"keeps the text of a cell that no step changed. The steps are in transform(). "
		"What\n"
		"follows it comes from dtx (MIT licence) and does what plain pandas does in "
		"another\n"
		"way.\n");
	if (plan->expect_json)
		dtx_buf_add(out, "\nThe plan's \"expect\" is not checked here.\n");
	dtx_buf_add(out, "\"\"\"\n");
}

static void namespace_text(const bool *direct, struct dtx_buf *out)
{
	dtx_buf_add(out, "\n\nclass dx:\n    \"\"\"What transform() uses.\"\"\"\n");
	for (int i = 0; dtx_program_parts[i].name; i++)
		if (direct[i])
			dtx_buf_printf(out, "    %s = %s\n", dtx_program_parts[i].dx,
			               dtx_program_parts[i].name);
}

/* Definitions of functions and classes have two blank lines before them. */
static void part_text(const struct dtx_program_part *part, bool *defined, struct dtx_buf *out)
{
	bool block = !strncmp(part->text, "def ", 4) || !strncmp(part->text, "class ", 6) ||
	             (part->text[0] == '#' && strstr(part->text, "\ndef "));

	if (!part->text[0])
		return;
	dtx_buf_add(out, block || *defined ? "\n\n" : "");
	dtx_buf_add(out, part->text);
	*defined = block;
}

enum dtx_code dtx_program_text(const struct dtx_plan *plan, const struct dtx_exec_result *found,
                               const char *transform, struct dtx_buf *out, struct dtx_err *err)
{
	static const char *const always[] = { "import numpy as np", "import pandas as pd", "main" };
	size_t n = 0;
	bool *need, *direct, defined = true;
	char delimiter[2] = { 0 };
	enum dtx_code rc;

	rc = output_delimiter(plan, delimiter, err);
	if (rc != DTX_OK)
		return rc;
	while (dtx_program_parts[n].name)
		n++;
	need = dtx_mem_zalloc(2 * n, sizeof(*need));
	if (!need)
		DTX_FAIL_MEM(err);
	direct = need + n;
	for (size_t i = 0; i < DTX_COUNT(always); i++)
		part_need(need, part_find(always[i], strlen(always[i]), false));
	parts_of_text(transform, need, direct);
	head_text(plan, out);
	for (size_t i = 0; i < n; i++)
		if (need[i] && strncmp(dtx_program_parts[i].name, "import ", 7) == 0)
			dtx_buf_add(out, dtx_program_parts[i].text);
	dtx_buf_add(out, "\nINPUTS = {\n");
	for (uint32_t i = 0; i < plan->ninputs; i++)
		DTX_TRY(input_text(&plan->input[i], found ? &found->input[i] : NULL, out, err));
	dtx_buf_add(out, "}\nDELIMITER = ");
	dtx_py_text(out, delimiter);
	dtx_buf_add(out, "  # of the result\n\n\n");
	dtx_buf_add(out, transform);
	for (size_t i = 0; i < n; i++)
		if (need[i] && strncmp(dtx_program_parts[i].name, "import ", 7) != 0)
			part_text(&dtx_program_parts[i], &defined, out);
	namespace_text(direct, out);
	dtx_buf_add(out, "\n\nif __name__ == \"__main__\":\n    sys.exit(main(sys.argv))\n");
	DTX_TRY(dtx_buf_check(out, "program", err));
out:
	dtx_mem_free(need);
	return rc;
}
