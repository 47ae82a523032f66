/* What is known about a stream before its rows: the columns, and the options of each slice. */
#include "core/base/mem.h"
#include "core/io/source/stream_reader_parts.h"

/* The columns are those of the header, which is in the first slice. */
static enum dtx_code open_csv(struct dtx_stream_reader *s, const struct dtx_read_opts *opts,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts first = *opts;
	struct dtx_source *src;
	struct dtx_schema *own;
	uint32_t *phys;

	first.quote = opts->quote ? opts->quote : "\"";
	DTX_TRY(dtx_dialect_find(&first, DTX_STR(""), true, dtx_source_name(s->head.src),
	                         &s->dialect, err));
	dtx_record_chunker_init(&s->slices, s->head.src, &s->dialect, opts->once_bytes);
	DTX_TRY(dtx_record_chunker_next(&s->slices, &src, err));
	if (!src)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' is empty", dtx_source_name(s->head.src));
	DTX_TRY(dtx_stream_chunk_open(s, src, 0, &first, &s->first, err));
	DTX_TRY(dtx_csv_header(s->first->reader, &s->slices.head, &s->head_rows, err));
	s->slices.head_lines = dtx_csv_line(s->slices.head.ptr, 0, s->slices.head.len);
	s->opts = first;
	s->opts.skip = 0;
	s->opts.header_rows = (int)s->head_rows;
	own = dtx_schema_copy(&s->head.arena, s->first->schema);
	s->described = s->cls->describe(s->first->reader);
	if (!own || !s->described)
		DTX_FAIL_MEM(err);
	s->schema = own;
	phys = dtx_arena_alloc(&s->head.arena, own->nfields, sizeof(*phys));
	if (!phys)
		DTX_FAIL_MEM(err);
	memcpy(phys, s->first->reader->origin.physical_col, own->nfields * sizeof(*phys));
	s->head.origin.physical_col = phys;
out:
	return rc;
}

/* The columns are the declared ones, because records to come may have any. */
static enum dtx_code open_json(struct dtx_stream_reader *s, const struct dtx_read_opts *opts,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_schema *own = dtx_arena_zalloc(&s->head.arena, 1, sizeof(*own));
	struct dtx_field *field =
		dtx_arena_zalloc(&s->head.arena, opts->ntypes + 1, sizeof(*field));
	size_t i;

	dtx_record_chunker_init(&s->slices, s->head.src, NULL, opts->once_bytes);
	s->described = json_pack("{ss ss}", "format", "jsonl", "encoding", "utf-8");
	if (!own || !field || !s->described)
		DTX_FAIL_MEM(err);
	for (i = 0; i < opts->ntypes; i++)
		field[i] = (struct dtx_field){ .name = opts->types[i].name,
			                       .source = true,
			                       .declared = true,
			                       .input_name = opts->types[i].name,
			                       .format = opts->types[i].format,
			                       .type = opts->types[i].type };
	own->nfields = (uint32_t)opts->ntypes;
	own->field = field;
	s->schema = own;
	s->opts.part = true;
out:
	return rc;
}

enum dtx_code dtx_stream_reader_columns(struct dtx_stream_reader *s,
                                        const struct dtx_read_opts *opts, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->opts = *opts;
	s->opts.encoding = "utf-8";
	s->cls = dtx_str_in_list("csv,tsv", opts->format) ? &dtx_read_csv : &dtx_read_json;
	rc = dtx_stream_reader_is_csv(s) ? open_csv(s, &s->opts, err) : open_json(s, opts, err);
	DTX_TRY(rc);
	if (!dtx_json_set(s->described, "stream", json_true()))
		DTX_FAIL_MEM(err);
	s->seen = dtx_mem_zalloc(s->schema->nfields, sizeof(*s->seen));
	if (!s->seen)
		DTX_FAIL_MEM(err);
	s->head.origin.file = dtx_source_name(s->head.src);
	s->head.origin.alias = opts->alias ? opts->alias : "main";
	s->head.origin.ncols = s->schema->nfields;
out:
	return rc;
}
