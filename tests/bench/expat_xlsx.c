/* A workbook to CSV as a reader on minizip and expat does it: each element by a handler, each value
 * appended to memory of its own, shared strings as an array of texts, CSV through stdio.
 *
 * It stands in for xlsxio, which Debian does not have, and does the work that its library and its
 * xlsxio_xlsx2csv do for a cell, in the same order and with the same libraries; it is not that
 * program.  It knows the parts of the benchmark's workbooks by name and leaves out what xlsxio does
 * once a file (content types, relationships), hidden rows and phonetic texts.
 * Usage: expat_xlsx FILE.xlsx OUT.csv */
#include <expat.h>
#include <minizip/unzip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE 256 /* bytes parsed at once, as there */

struct text {
	char *ptr;
	size_t len;
};
struct reader {
	XML_Parser parser;
	struct text value; /* of the cell, or of the shared string */
	char **shared;
	size_t nshared, col;
	int is_shared;
	FILE *out;
};

static void die(const char *what)
{
	fprintf(stderr, "expat_xlsx: %s\n", what);
	exit(1);
}

/* Names are compared without their prefix, and whatever their case. */
static int is(const char *name, const char *want)
{
	size_t n = strlen(name), w = strlen(want);

	if (n > w && name[n - w - 1] == ':')
		name += n - w;
	return strcasecmp(name, want) == 0;
}

static const char *attribute(const XML_Char **atts, const char *name)
{
	for (; *atts; atts += 2)
		if (is(atts[0], name))
			return atts[1];
	return NULL;
}

static void XMLCALL append(void *arg, const XML_Char *bytes, int n)
{
	struct text *t = &((struct reader *)arg)->value;

	t->ptr = realloc(t->ptr, t->len + (size_t)n + 1);
	if (!t->ptr)
		die("no memory");
	memcpy(t->ptr + t->len, bytes, (size_t)n);
	t->len += (size_t)n;
	t->ptr[t->len] = '\0';
}

static void drop(struct text *t)
{
	free(t->ptr);
	*t = (struct text){ NULL, 0 };
}

/* --- shared strings --- */

static void XMLCALL string_start(void *arg, const XML_Char *name, const XML_Char **atts)
{
	struct reader *r = arg;

	(void)atts;
	if (is(name, "si"))
		drop(&r->value);
	else if (is(name, "t"))
		XML_SetCharacterDataHandler(r->parser, append);
}

static void XMLCALL string_end(void *arg, const XML_Char *name)
{
	struct reader *r = arg;

	if (is(name, "t"))
		XML_SetCharacterDataHandler(r->parser, NULL);
	if (!is(name, "si"))
		return;
	r->shared = realloc(r->shared, (r->nshared + 1) * sizeof(*r->shared));
	if (!r->shared)
		die("no memory");
	r->shared[r->nshared++] = strdup(r->value.ptr ? r->value.ptr : "");
	drop(&r->value);
}

/* --- cells --- */

static size_t column_of(const char *ref)
{
	size_t col = 0;

	for (; ref && ((*ref >= 'A' && *ref <= 'Z') || (*ref >= 'a' && *ref <= 'z')); ref++)
		col = col * 26 + (size_t)((*ref | 0x20) - 'a') + 1;
	return col;
}

static void put(struct reader *r, const char *value)
{
	if (++r->col > 1)
		fprintf(r->out, "%c", ',');
	if (!value)
		return;
	if (!strchr(value, '"') && !strchr(value, ',') && !strchr(value, '\n') &&
	    !strchr(value, '\r')) {
		fprintf(r->out, "%s", value);
		return;
	}
	fprintf(r->out, "%c", '"');
	for (; *value; value++)
		fprintf(r->out, *value == '"' ? "\"%c" : "%c", *value);
	fprintf(r->out, "%c", '"');
}

static void XMLCALL cell_start(void *arg, const XML_Char *name, const XML_Char **atts)
{
	struct reader *r = arg;
	const char *type;

	if (is(name, "c")) {
		size_t col = column_of(attribute(atts, "r"));

		while (col && r->col + 1 < col)
			put(r, NULL);
		type = attribute(atts, "t");
		r->is_shared = type && strcasecmp(type, "s") == 0;
		drop(&r->value);
	} else if (is(name, "v") || is(name, "t")) {
		XML_SetCharacterDataHandler(r->parser, append);
	}
}

static void put_cell(struct reader *r)
{
	if (r->is_shared && r->value.ptr) {
		size_t id = strtoul(r->value.ptr, NULL, 10);

		if (id >= r->nshared)
			die("no such shared string");
		drop(&r->value);
		r->value.ptr = strdup(r->shared[id]);
	}
	put(r, r->value.ptr);
}

static void XMLCALL cell_end(void *arg, const XML_Char *name)
{
	struct reader *r = arg;

	if (is(name, "c")) {
		put_cell(r);
	} else if (is(name, "v") || is(name, "t")) {
		XML_SetCharacterDataHandler(r->parser, NULL);
	} else if (is(name, "row")) {
		fprintf(r->out, "%s", "\r\n");
		r->col = 0;
	}
}

/* --- a part --- */

static void parse(struct reader *r, unzFile zip, const char *part, XML_StartElementHandler start,
                  XML_EndElementHandler end)
{
	int n = PIECE;

	if (unzLocateFile(zip, part, 0) != UNZ_OK || unzOpenCurrentFile(zip) != UNZ_OK)
		die(part);
	r->parser = XML_ParserCreate(NULL);
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, start, end);
	while (n == PIECE) {
		void *piece = XML_GetBuffer(r->parser, PIECE);

		n = piece ? unzReadCurrentFile(zip, piece, PIECE) : -1;
		if (n < 0 || !XML_ParseBuffer(r->parser, n, n < PIECE))
			die(part);
	}
	XML_ParserFree(r->parser);
	unzCloseCurrentFile(zip);
}

int main(int argc, char **argv)
{
	struct reader r = { .out = argc == 3 ? fopen(argv[2], "wb") : NULL };
	unzFile zip = r.out ? unzOpen(argv[1]) : NULL;

	if (!zip)
		die("usage: expat_xlsx FILE.xlsx OUT.csv");
	parse(&r, zip, "xl/sharedStrings.xml", string_start, string_end);
	parse(&r, zip, "xl/worksheets/sheet1.xml", cell_start, cell_end);
	unzClose(zip);
	return fclose(r.out) != 0;
}
