/* Draws what was made from what: files, steps, snippets and outputs, from left to right. */
#include "cli/report/html.h"

#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/store/query/screen.h"

enum {
	GRAPH_NODES = 120,
	GRAPH_EDGES = 600,
	GRAPH_W = 150,
	GRAPH_H = 40,
	GRAPH_DX = 190,
	GRAPH_DY = 58,
	GRAPH_X = 16, /* room for lines on both sides */
	/* columns side by side on a page; the graph continues below in another band */
	GRAPH_COLS = 5,
	GRAPH_GAP = 26,  /* between such bands */
	GRAPH_TEXT = 20, /* characters of a label that fit */
	GRAPH_FILES = 6  /* more files of one input are drawn as one box */
};

struct graph_node {
	const char *kind; /* class in the SVG: in, step, snippet, out */
	const char *label;
	struct dtx_str table; /* empty: it has no name */
	int64_t rows, step;   /* -1: unknown */
	/* the number of files that it represents, instead of a label; 0: it has a label */
	size_t files;
	uint32_t depth, lane;
};
struct graph {
	struct graph_node node[GRAPH_NODES];
	struct {
		uint32_t from, to;
	} edge[GRAPH_EDGES];
	uint32_t nnodes, nedges, depths, lanes;
	uint32_t used[GRAPH_NODES];    /* used lanes per depth */
	uint32_t top[GRAPH_NODES + 1]; /* y of each band, and of the end */
	bool cut;
};

static int32_t graph_add(struct graph *g, const struct graph_node *n)
{
	if (g->nnodes >= GRAPH_NODES) {
		g->cut = true;
		return -1;
	}
	g->node[g->nnodes] = *n;
	return (int32_t)g->nnodes++;
}

static void graph_edge(struct graph *g, int32_t from, int32_t to)
{
	uint32_t i;

	/* edges only go forward, whatever a record says, so there are at most as many depths as
	 * nodes */
	if (from < 0 || from >= to)
		return;
	for (i = 0; i < g->nedges; i++) {
		if (g->edge[i].from == (uint32_t)from && g->edge[i].to == (uint32_t)to)
			return;
	}
	if (g->nedges == GRAPH_EDGES) {
		g->cut = true;
		return;
	}
	g->edge[g->nedges].from = (uint32_t)from;
	g->edge[g->nedges++].to = (uint32_t)to;
	g->node[to].depth = DTX_MAX(g->node[to].depth, g->node[from].depth + 1);
}

/* The last node that made a table with this name. */
static int32_t graph_named(const struct graph *g, const char *name)
{
	int32_t i;

	for (i = (int32_t)g->nnodes; name && i-- > 0;) {
		if (dtx_str_is(g->node[i].table, name))
			return i;
	}
	return -1;
}

/* Adds edges from the tables in `with` of a step: a name, or a list of names. */
static void graph_with(struct graph *g, const json_t *with, int32_t to)
{
	const json_t *one;
	size_t i;

	graph_edge(g, graph_named(g, json_string_value(with)), to);
	json_array_foreach((json_t *)(uintptr_t)with, i, one)
		graph_edge(g, graph_named(g, json_string_value(one)), to);
}

static bool graph_by_snippet(const json_t *step)
{
	return dtx_json_bool(json_object_get(step, "detail"), "rescued", false);
}

static int64_t graph_read(const json_t *input)
{
	/* a run that failed may not have counted them */
	return json_is_array(json_object_get(input, "schema")) ? dtx_json_int(input, "rows", -1)
	                                                       : -1;
}

/* Adds the files of one input, from `at` on: each, or one box for all, and the node that
 * combines them. */
static int32_t graph_files(struct graph *g, const json_t *inputs, size_t at, size_t files,
                           struct dtx_str name)
{
	struct graph_node all = { .kind = files > GRAPH_FILES ? "in" : "step",
		                  .table = name,
		                  .step = -1,
		                  .files = files };
	int32_t from[GRAPH_FILES] = { -1 }, node;
	size_t i;

	for (i = 0; i < files; i++) {
		const json_t *input = json_array_get(inputs, at + i);
		struct graph_node n = { .kind = "in", .step = -1, .rows = graph_read(input) };

		n.label = dtx_json_text(input, "label", dtx_json_text(input, "alias", ""));
		all.rows = n.rows < 0 || all.rows < 0 ? -1 : all.rows + n.rows;
		if (files <= GRAPH_FILES)
			from[i] = graph_add(g, &n);
	}
	all.label = "";
	node = graph_add(g, &all);
	for (i = 0; i < files && files <= GRAPH_FILES; i++)
		graph_edge(g, from[i], node);
	return node;
}

/* Adds the inputs; returns the node of the plan's first input, or -1. */
static int32_t graph_inputs(struct graph *g, const json_t *record)
{
	const json_t *inputs = json_object_get(record, "inputs");
	int32_t first = -1, node;
	size_t i = 0, files;

	while (i < json_array_size(inputs)) {
		const json_t *input = json_array_get(inputs, i);
		const char *alias = dtx_json_text(input, "alias", "");
		struct dtx_str name = dtx_html_input(record, alias, &files);
		struct graph_node n = { .kind = "in", .step = -1, .rows = graph_read(input) };

		n.label = dtx_json_text(input, "label", alias);
		n.table = name;
		node = files > 1 ? graph_files(g, inputs, i, files, name) : graph_add(g, &n);
		first = i ? first : node;
		i += files ? files : 1;
	}
	return first;
}

/* Adds the steps, from the plan (which reads what) and the record (rows). Steps of one snippet
 * are one node. */
static int32_t graph_steps(struct graph *g, const json_t *record, int32_t current)
{
	const json_t *plan =
		json_object_get(json_object_get(json_object_get(record, "run"), "plan"), "plan");
	bool before = false;
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(plan, "steps"), i, step)
	{
		const json_t *seen = dtx_html_seen(record, i);
		bool snippet = graph_by_snippet(seen);
		const char *in = dtx_json_text(step, "in", NULL);
		struct graph_node n = { .kind = snippet ? "snippet" : "step" };
		int32_t from = in ? graph_named(g, in) : current, node;

		n.label = snippet ? "snippet" : dtx_json_text(step, "op", "?");
		n.table = dtx_str_of(dtx_json_text(step, "out", ""));
		n.rows = dtx_json_int(seen, "rows_out", -1);
		n.step = (int64_t)i + 1;
		if (snippet && before && current >= 0) {
			g->node[current].rows = n.rows;
			g->node[current].table = n.table;
			node = current;
		} else {
			node = graph_add(g, &n);
			graph_edge(g, from, node);
		}
		graph_with(g, json_object_get(step, "with"), node);
		before = snippet;
		current = node < 0 ? current : node;
	}
	return current;
}

static void graph_outputs(struct graph *g, const json_t *record, int32_t current)
{
	const json_t *plan =
		json_object_get(json_object_get(json_object_get(record, "run"), "plan"), "plan");
	json_t *output;
	size_t i;

	json_array_foreach(json_object_get(record, "outputs"), i, output)
	{
		const char *path = dtx_json_text(output, "path", "-");
		const json_t *asked = json_array_get(json_object_get(plan, "output"), i);
		const char *table = dtx_json_text(asked, "table", NULL);
		struct graph_node n = { .kind = "out", .step = -1 };

		n.label = strcmp(path, "-") ? dtx_file_basename(path) : "stdout";
		n.rows = dtx_json_int(output, "rows", -1);
		graph_edge(g, table ? graph_named(g, table) : current, graph_add(g, &n));
	}
}

/* Places a node in the lane of its first source if that is free at its depth. */
static void graph_place(struct graph *g)
{
	uint32_t i, k;

	for (i = 0; i < g->nnodes; i++) {
		struct graph_node *n = &g->node[i];
		uint32_t want = g->used[n->depth];

		for (k = 0; k < g->nedges; k++) {
			const struct graph_node *from = &g->node[g->edge[k].from];

			if (g->edge[k].to == i && from->lane > want &&
			    from->depth / GRAPH_COLS == n->depth / GRAPH_COLS) {
				want = from->lane;
				break;
			}
		}
		n->lane = want;
		g->used[n->depth] = want + 1;
		g->depths = DTX_MAX(g->depths, n->depth + 1);
		g->lanes = DTX_MAX(g->lanes, want + 1);
	}
}

static uint32_t graph_bands(const struct graph *g)
{
	return (g->depths + GRAPH_COLS - 1) / GRAPH_COLS;
}

/* Computes the height of each band from its fullest column. */
static void graph_fold(struct graph *g)
{
	for (uint32_t band = 0; band < graph_bands(g); band++) {
		uint32_t lanes = 1, d = band * GRAPH_COLS;

		for (; d < DTX_MIN(g->depths, (band + 1) * GRAPH_COLS); d++)
			lanes = DTX_MAX(lanes, g->used[d]);
		g->top[band + 1] = g->top[band] + (lanes - 1) * GRAPH_DY + GRAPH_H + GRAPH_GAP;
	}
}

static uint32_t graph_x(const struct graph_node *n)
{
	return n->depth % GRAPH_COLS * GRAPH_DX + GRAPH_X;
}

static uint32_t graph_y(const struct graph *g, const struct graph_node *n)
{
	return g->top[n->depth / GRAPH_COLS] + n->lane * GRAPH_DY + 2;
}

static void graph_label(const char *text, struct dtx_buf *out)
{
	size_t len = strlen(text), i = 0, chars = 0;

	while (i < len && chars < GRAPH_TEXT) {
		do
			i++;
		while (i < len && ((unsigned char)text[i] & 0xc0) == 0x80);
		chars++;
	}
	dtx_html_textn(out, text, i);
	if (i < len)
		dtx_buf_add(out, "\xe2\x80\xa6");
}

static void graph_rows(int64_t rows, struct dtx_buf *out)
{
	if (rows >= 0)
		dtx_screen_count(out, rows, "row", "rows");
}

static void graph_count(const struct graph_node *n, struct dtx_buf *out)
{
	dtx_screen_count(out, (int64_t)n->files, "file", "files");
	if (!strcmp(n->kind, "step"))
		dtx_buf_add(out, " together");
}

static void graph_said(const struct graph_node *n, struct dtx_buf *out)
{
	if (!n->files) {
		dtx_html_text(out, n->label);
		return;
	}
	graph_count(n, out);
	dtx_buf_add(out, " as ");
	dtx_html_textn(out, n->table.ptr, n->table.len);
}

static void graph_draw_node(const struct graph *g, const struct graph_node *n, struct dtx_buf *out)
{
	uint32_t x = graph_x(n), y = graph_y(g, n);

	dtx_buf_printf(out,
	               "<g><rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" "
	               "rx=\"%d\"/><text x=\"%u\" y=\"%u\">",
	               n->kind, x, y, GRAPH_W, GRAPH_H, n->step < 0 ? 2 : 9, x + 10, y + 17);
	if (n->step >= 0)
		dtx_buf_printf(out, "%lld ", (long long)n->step);
	if (n->files)
		graph_count(n, out);
	else
		graph_label(n->label, out);
	dtx_buf_printf(out, "</text><text class=\"sub\" x=\"%u\" y=\"%u\">", x + 10, y + 32);
	graph_rows(n->rows, out);
	dtx_buf_add(out, "</text><title>");
	graph_said(n, out);
	dtx_buf_add(out, "</title></g>\n");
}

static void graph_draw_edge(const struct graph *g, uint32_t k, struct dtx_buf *out)
{
	const struct graph_node *a = &g->node[g->edge[k].from], *b = &g->node[g->edge[k].to];
	uint32_t x1 = graph_x(a) + GRAPH_W, y1 = graph_y(g, a) + GRAPH_H / 2;
	uint32_t x2 = graph_x(b), y2 = graph_y(g, b) + GRAPH_H / 2;
	uint32_t mid = x2 - (b->depth % GRAPH_COLS ? (GRAPH_DX - GRAPH_W) / 2 : GRAPH_X - 4);
	uint32_t band = b->depth / GRAPH_COLS, down;

	if (a->depth / GRAPH_COLS == band) {
		dtx_buf_printf(out, "<path d=\"M%u %uH%uC%u %u %u %u %u %u\"/>", x1, y1, mid - 14,
		               mid, y1, mid, y2, x2 - 2, y2);
	} else { /* goes down between the bands, then back to the left */
		down = g->top[band] - GRAPH_GAP / 2 + k % 3 * 6 - 6; /* side by side */
		dtx_buf_printf(out, "<path d=\"M%u %uh11V%uH%uV%uH%u\"/>", x1, y1, down, mid, y2,
		               x2 - 2);
	}
	dtx_buf_printf(out, "<path class=\"tip\" d=\"M%u %ul-7 -4v8z\"/>\n", x2, y2);
}

static void graph_list(const struct graph *g, struct dtx_buf *out)
{
	uint32_t i, k;

	dtx_buf_add(out, "<details><summary>The same as a list</summary><ol>\n");
	for (i = 0; i < g->nnodes; i++) {
		const char *sep = " from ";

		dtx_buf_printf(out, "<li>%s ",
		               g->node[i].files                      ? "input"
		               : strcmp(g->node[i].kind, "in") == 0  ? "file"
		               : strcmp(g->node[i].kind, "out") == 0 ? "output"
		                                                     : "step");
		graph_said(&g->node[i], out);
		for (k = 0; k < g->nedges; k++) {
			if (g->edge[k].to != i)
				continue;
			dtx_buf_add(out, sep);
			graph_said(&g->node[g->edge[k].from], out);
			sep = " and ";
		}
		dtx_buf_add(out, g->node[i].rows >= 0 ? ": " : "");
		graph_rows(g->node[i].rows, out);
		dtx_buf_add(out, "</li>\n");
	}
	dtx_buf_add(out, "</ol></details>\n");
}

static void graph_draw(const struct graph *g, struct dtx_buf *out)
{
	uint32_t columns = DTX_MIN(g->depths, (uint32_t)GRAPH_COLS);
	uint32_t w = (columns - 1) * GRAPH_DX + GRAPH_W + 2 * GRAPH_X;
	uint32_t h = g->top[graph_bands(g)] - GRAPH_GAP + 4, i;

	dtx_buf_printf(
		out,
		"<figure class=\"wide\" tabindex=\"0\"><svg viewBox=\"0 0 %u %u\" width=\"%u\" "
		"height=\"%u\" style=\"max-width:100%%\" role=\"img\" "
		"aria-labelledby=\"gt gd\"><title "
		"id=\"gt\">What was made from what</title><desc id=\"gd\">From left to "
		"right, then on below: files, steps, outputs; a dashed frame is a "
		"snippet.</desc>\n",
		w, h, w, h);
	for (i = 0; i < g->nedges; i++)
		graph_draw_edge(g, i, out);
	for (i = 0; i < g->nnodes; i++)
		graph_draw_node(g, &g->node[i], out);
	dtx_buf_add(out, "</svg></figure>\n");
	if (g->cut)
		dtx_buf_add(out, "<p class=\"dim\">The picture ends here; the plan goes on.</p>\n");
}

void dtx_html_graph(const json_t *record, struct dtx_buf *out)
{
	struct graph g = { .nnodes = 0 };
	int32_t current = graph_inputs(&g, record);

	current = graph_steps(&g, record, current);
	graph_outputs(&g, record, current);
	if (!g.nnodes)
		return;
	graph_place(&g);
	graph_fold(&g);
	graph_draw(&g, out);
	graph_list(&g, out);
}
