/* The footer of a file that is written: schema, row groups, statistics. */
#include "core/io/parquet/parquet_write.h"

/* Numbers of the format: types that readers of before 2017 know, and those since. */
enum { UTF8 = 0, OLD_DECIMAL = 5, OLD_DATE = 6, OLD_MICROS = 10 };
enum { STRING = 1, DECIMAL = 5, DATE = 6, TIMESTAMP = 8, UNKNOWN = 11 };
enum { OPTIONAL = 1, MICROS = 2, VERSION = 1, TYPE_ORDER = 1, ENCODINGS = 9 };

static enum dtx_pq_type physical(enum dtx_pqw_kind kind)
{
	switch (kind) {
	case DTX_PQW_BOOL: return DTX_PQ_BOOLEAN;
	case DTX_PQW_I32: return DTX_PQ_INT32;
	case DTX_PQW_I64: return DTX_PQ_INT64;
	case DTX_PQW_F64: return DTX_PQ_DOUBLE;
	case DTX_PQW_FIXED: return DTX_PQ_FIXED;
	default: return DTX_PQ_BYTES;
	}
}

/* --- schema --- */

static void put_timestamp(struct dtx_thrift_out *o, bool utc)
{
	dtx_thrift_put_open(o, TIMESTAMP);
	dtx_thrift_put_bool(o, 1, utc);
	dtx_thrift_put_open(o, 2);
	dtx_thrift_put_empty(o, MICROS);
	dtx_thrift_put_close(o);
	dtx_thrift_put_close(o);
}

/* The member of the union LogicalType. JSON texts are texts: Polars takes the type JSON for bytes.
 */
static void put_logical(struct dtx_thrift_out *o, const struct dtx_field *f)
{
	switch (f->type.type) {
	case DTX_T_TEXT: dtx_thrift_put_empty(o, STRING); break;
	case DTX_T_DATE: dtx_thrift_put_empty(o, DATE); break;
	case DTX_T_DATETIME: put_timestamp(o, dtx_type_is_utc(f->type)); break;
	case DTX_T_DECIMAL:
		dtx_thrift_put_open(o, DECIMAL);
		dtx_thrift_put_i32(o, 1, f->type.scale);
		dtx_thrift_put_i32(o, 2, f->type.precision);
		dtx_thrift_put_close(o);
		break;
	default: dtx_thrift_put_empty(o, UNKNOWN);
	}
}

/* The older annotation. Times without a zone have none: it would make them times of UTC. */
static void put_converted(struct dtx_thrift_out *o, const struct dtx_field *f)
{
	if (f->type.type == DTX_T_TEXT)
		dtx_thrift_put_i32(o, 6, UTF8);
	else if (f->type.type == DTX_T_DATE)
		dtx_thrift_put_i32(o, 6, OLD_DATE);
	else if (dtx_type_is_utc(f->type))
		dtx_thrift_put_i32(o, 6, OLD_MICROS);
	if (f->type.type != DTX_T_DECIMAL)
		return;
	dtx_thrift_put_i32(o, 6, OLD_DECIMAL);
	dtx_thrift_put_i32(o, 7, f->type.scale);
	dtx_thrift_put_i32(o, 8, f->type.precision);
}

static void put_column(struct dtx_thrift_out *o, const struct dtx_field *f)
{
	struct dtx_pqw_type type = dtx_pqw_type_of(f->type);
	enum dtx_type t = f->type.type;

	dtx_thrift_item_open(o);
	dtx_thrift_put_i32(o, 1, (int32_t)physical(type.kind));
	if (type.kind == DTX_PQW_FIXED)
		dtx_thrift_put_i32(o, 2, (int32_t)type.width);
	dtx_thrift_put_i32(o, 3, OPTIONAL);
	dtx_thrift_put_text(o, 4, dtx_str_of(f->name));
	put_converted(o, f);
	if (t != DTX_T_BOOL && t != DTX_T_INT64 && t != DTX_T_FLOAT64) {
		dtx_thrift_put_open(o, 10);
		put_logical(o, f);
		dtx_thrift_put_close(o);
	}
	dtx_thrift_put_close(o);
}

static void put_schema(struct dtx_thrift_out *o, const struct dtx_schema *schema)
{
	dtx_thrift_put_list(o, 2, DTX_THRIFT_STRUCT, (size_t)schema->nfields + 1);
	dtx_thrift_item_open(o);
	dtx_thrift_put_text(o, 4, DTX_STR("schema"));
	dtx_thrift_put_i32(o, 5, (int32_t)schema->nfields);
	dtx_thrift_put_close(o);
	for (uint32_t i = 0; i < schema->nfields; i++)
		put_column(o, &schema->field[i]);
}

/* --- chunks --- */

static void put_statistics(struct dtx_thrift_out *o, const struct dtx_pqw_chunk *c)
{
	dtx_thrift_put_open(o, 12);
	dtx_thrift_put_i64(o, 3, c->nulls);
	if (c->has_range) {
		dtx_thrift_put_text(o, 5, (struct dtx_str){ c->greatest, c->ngreatest });
		dtx_thrift_put_text(o, 6, (struct dtx_str){ c->least, c->nleast });
		dtx_thrift_put_bool(o, 7, true);
		dtx_thrift_put_bool(o, 8, true);
	}
	dtx_thrift_put_close(o);
}

void dtx_pqw_put_chunk(struct dtx_thrift_out *o, const struct dtx_field *field,
                       const struct dtx_pqw_chunk *chunk, unsigned codec, uint64_t at)
{
	struct dtx_pqw_type type = dtx_pqw_type_of(field->type);

	dtx_thrift_item_open(o);
	dtx_thrift_put_i64(o, 2, (int64_t)at);
	dtx_thrift_put_open(o, 3);
	dtx_thrift_put_i32(o, 1, (int32_t)physical(type.kind));
	dtx_thrift_put_list(o, 2, DTX_THRIFT_I32, (size_t)__builtin_popcount(chunk->encodings));
	for (int32_t e = 0; e < ENCODINGS; e++)
		if (chunk->encodings >> e & 1)
			dtx_thrift_item_i32(o, e);
	dtx_thrift_put_list(o, 3, DTX_THRIFT_BINARY, 1);
	dtx_thrift_item_text(o, dtx_str_of(field->name));
	dtx_thrift_put_i32(o, 4, (int32_t)codec);
	dtx_thrift_put_i64(o, 5, chunk->rows);
	dtx_thrift_put_i64(o, 6, (int64_t)chunk->unpacked);
	dtx_thrift_put_i64(o, 7, (int64_t)chunk->pages.len);
	dtx_thrift_put_i64(o, 9, (int64_t)(at + chunk->data_at));
	if (chunk->has_dict)
		dtx_thrift_put_i64(o, 11, (int64_t)at);
	put_statistics(o, chunk);
	dtx_thrift_put_close(o);
	dtx_thrift_put_close(o);
}

/* --- the footer --- */

/* Notes which columns hold JSON texts: the types do not say it. */
static enum dtx_code put_kinds(struct dtx_thrift_out *o, const struct dtx_schema *schema,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *kinds = json_object();
	bool whole = kinds != NULL;

	for (uint32_t i = 0; whole && i < schema->nfields; i++)
		if (schema->field[i].json && schema->field[i].type.type == DTX_T_TEXT)
			whole = dtx_json_set(kinds, schema->field[i].name,
			                     json_string(DTX_PQ_JSON));
	if (!whole)
		DTX_FAIL_MEM(err);
	if (!json_object_size(kinds))
		goto out;
	dtx_json_print(kinds, 0, &text);
	DTX_TRY(dtx_buf_check(&text, "the notes about columns", err));
	dtx_thrift_put_list(o, 5, DTX_THRIFT_STRUCT, 1);
	dtx_thrift_item_open(o);
	dtx_thrift_put_text(o, 1, DTX_STR(DTX_PQ_KINDS));
	dtx_thrift_put_text(o, 2, (struct dtx_str){ text.ptr, text.len });
	dtx_thrift_put_close(o);
out:
	json_decref(kinds);
	dtx_buf_clear(&text);
	return rc;
}

/* The order in which the least and greatest values of statistics are meant. */
static void put_orders(struct dtx_thrift_out *o, uint32_t ncolumns)
{
	dtx_thrift_put_list(o, 7, DTX_THRIFT_STRUCT, ncolumns);
	for (uint32_t i = 0; i < ncolumns; i++) {
		dtx_thrift_item_open(o);
		dtx_thrift_put_empty(o, TYPE_ORDER);
		dtx_thrift_put_close(o);
	}
}

enum dtx_code dtx_pqw_put_footer(struct dtx_buf *to, const struct dtx_schema *schema,
                                 const struct dtx_buf *groups, size_t n, int64_t rows,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_thrift_out o = dtx_thrift_out_of(to);
	size_t at = to->len;
	uint32_t len;

	dtx_thrift_item_open(&o);
	dtx_thrift_put_i32(&o, 1, VERSION);
	put_schema(&o, schema);
	dtx_thrift_put_i64(&o, 3, rows);
	dtx_thrift_put_list(&o, 4, DTX_THRIFT_STRUCT, n);
	dtx_buf_addn(to, groups->ptr, groups->len);
	DTX_TRY(put_kinds(&o, schema, err));
	dtx_thrift_put_text(&o, 6, DTX_STR("dtx version " DTX_VERSION));
	put_orders(&o, schema->nfields);
	dtx_thrift_put_close(&o);
	DTX_TRY(dtx_buf_check(to, "the footer", err));
	if (to->len - at > INT32_MAX)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "the footer of a Parquet file has at most 2 GB");
	len = (uint32_t)(to->len - at);
	dtx_buf_addn(to, &len, 4);
	dtx_buf_add(to, DTX_PQW_MAGIC);
	DTX_TRY(dtx_buf_check(to, "the footer", err));
out:
	return rc;
}
