/* Words that other tools use for what dtx has, one row for each.  Only words that a comparison of
 * spellings does not find are listed: 'sort_by' leads to 'sort' without a row. */
#include "core/base/text/synonyms.h"

#include "core/base/text/str.h"

#define ANY_OP "*" /* the parameters of every op */

static const struct {
	const char *of, *words, *ours, *hint;
} foreign_rows[] = {
	/* operations */
	{ "op", "remove_duplicates,deduplicate,unique_rows,drop_dups", "distinct", NULL },
	{ "op", "rename_columns,rename_column,rename_cols,rename_with", "rename", NULL },
	{ "op", "filter_rows,keep_rows,row_filter,dropna_rows", "filter", NULL },
	{ "op", "order,sort_rows,sort_index", "sort", NULL },
	{ "op", "apply,map,applymap,transform_column,lambda,eval", "derive",
	  "a formula makes a column: {\"op\": \"derive\", \"set\": {\"y\": \"qty * 2\"}}" },
	{ "op",
	  "compute,calc,create_column,new_column,set_column,computed_column,expression,formula,"
	  "update,set",
	  "derive", NULL },
	{ "op", "put", "derive", NULL },
	{ "op", "stats1,stats2,merge_fields", "group_by", NULL },
	{ "op", "count_distinct,count-distinct", "freq", NULL },
	{ "op", "cat,nothing,tee", NULL, "leave it out: each step passes its table on" },
	{ "op", "having", "filter", "a filter step after the group_by, or its parameter 'having'" },
	{ "op", "set_index,reset_index,reindex", NULL, "tables have no index: leave the step out" },
	{ "op", "concat_columns,combine_columns,paste", "merge_columns", NULL },
	{ "op", "append_rows,stack_rows,rbind,concatenate", "union", NULL },
	{ "op", "cbind,hstack,bind_cols", "join",
	  "columns beside each other are a join over a key" },
	{ "op", "top_n,slice_head", "top", NULL },
	{ "op", "fill_missing,fill_na,replace_null,replace_nulls", "fill_null", NULL },
	{ "op", "forward_fill,backfill,fill_forward", "fill", NULL },
	{ "op", "vlookup_join,map_from", "lookup_value", NULL },
	{ "op", "read_csv,read_excel,read_json,read_parquet,read,load,source,scan,import,from",
	  NULL, "tables come in through \"inputs\": [{\"name\": \"main\", \"path\": \"in.csv\"}]" },
	{ "op",
	  "to_csv,to_excel,to_json,to_parquet,write,write_csv,write_parquet,save,export,output,"
	  "sink",
	  NULL, "the result goes out through \"output\": {\"path\": \"out.csv\"}" },
	{ "op", "subquery,cte,let,save_as,register", NULL,
	  "'out' names the result of a step, 'in' of a later one reads it" },
	{ "op", "print,show,display,info,collect", NULL,
	  "leave it out: what the last step makes is the result" },
	/* parameters of every op */
	{ ANY_OP, "inplace,copy,lazy,in_place", NULL, "leave it out: each step makes a new table" },
	{ ANY_OP, "params,parameters,args,arguments,kwargs,config,options,with_params", NULL,
	  "parameters stand in the step itself, beside 'op'" },
	{ ANY_OP, "index,ignore_index,reset_index,as_index,axis_index", NULL,
	  "tables have no index: leave it out" },
	{ ANY_OP, "input,from_table,df,dataframe,data,source,input_table,from", "in", NULL },
	{ ANY_OP, "output,target,save_as,result,output_table,into_table,store_as", "out", NULL },
	{ ANY_OP, "description,comment,comments,title,reason,explanation", "note", NULL },
	{ ANY_OP, "steps,then,next", NULL, "steps do not nest: write them one after the other" },
	/* parameters of one op */
	{ "filter", "column,col,columns,operator,value,values,field,comparison,conditions", "where",
	  "'where' is one formula, as in \"qty > 1 and region == 'North'\"" },
	{ "select", "where,condition,filter,query,having", NULL,
	  "rows are chosen by a filter step, columns by 'cols'" },
	{ "select", "names,fields,items,include,keep", "cols", NULL },
	{ "select", "exclude,drop,except,omit", NULL,
	  "{\"not\": [\"a\"]} in 'cols', or a drop step" },
	{ "select", "rename,as,aliases,alias", NULL, "a rename step gives other names" },
	{ "drop", "errors", "missing", "\"missing\": \"ignore\" lets a column be absent" },
	{ "drop", "rows,where,condition,index", NULL, "rows go with filter, or drop_rows" },
	{ "drop", "labels,names,fields", "cols", NULL },
	{ "sort", "na_position,nulls,nulls_first,nulls_last,na_last", NULL,
	  "a key says it: {\"col\": \"qty\", \"nulls\": \"first\"}" },
	{ "sort", "kind,key,ignore_case", NULL,
	  "sorts are stable; a key may say {\"expr\": ...} or {\"collate\": \"nocase\"}" },
	{ "group_by", "dropna,drop_na", "null_keys",
	  "\"null_keys\": \"drop\" leaves the group out" },
	{ "group_by", "sort,order_by", "order", "\"order\": \"sorted\", or a sort step after it" },
	{ "group_by", "where,filter,condition", NULL,
	  "a filter step before it; one aggregate alone takes sum(x, where: condition)" },
	{ "freq", "normalize,percent,proportion", NULL,
	  "leave it out: the column 'share' is always made" },
	{ "freq", "ascending,desc", "sort", NULL },
	{ "pivot_wider", "fill_value,values_fill", "fill", NULL },
	{ "pivot_wider", "margins,totals,margins_name", NULL,
	  "crosstab has margins; an add_totals step after the pivot makes them, too" },
	{ "pivot_wider", "rows,row,group,groups", "id", NULL },
	{ "pivot_wider", "dropna,observed,sort", NULL, "leave it out: every id and name stays" },
	{ "fill_null", "axis,limit,inplace", NULL, "fill carries values on, with a 'limit'" },
	{ "fill_null", "with,fill_value,constant,default", "value", NULL },
	{ "parse_date", "dayfirst", "order", "\"order\": \"dmy\" reads the day first" },
	{ "parse_date", "yearfirst", "order", "\"order\": \"ymd\" reads the year first" },
	{ "parse_date", "errors", "on_error",
	  "\"on_error\": \"null\" makes what does not fit null" },
	{ "parse_date", "infer_datetime_format,infer", NULL,
	  "name 'formats', or the 'order' of day, month and year: nothing is guessed" },
	{ "parse_number", "errors", "on_error",
	  "\"on_error\": \"null\" makes what does not fit null" },
	{ "parse_number", "thousands", "group", NULL },
	{ "cast", "errors", "on_error", "\"on_error\": \"null\" makes what does not fit null" },
	{ "resample", "rule,period,window,bucket,interval", "every", NULL },
	{ "split_column", "pat,pattern,on,sep_regex", "sep", NULL },
	{ "split_column", "expand", "into", "'into' names the columns of the pieces" },
	{ "split_column", "n,maxsplit,limit,max", "extra",
	  "\"extra\": \"merge\" leaves the rest in the last piece" },
	{ "replace_values", "to_replace,value,old,new,from,to,find,search,replacement,pattern,with",
	  "map", "\"map\": {\"old\": \"new\"}, or [{\"from\": 1, \"to\": 2}]" },
	{ "rank", "ascending", "desc", "\"desc\": true ranks the largest first" },
	{ "bin", "q,quantiles", "n", "\"n\": 4, \"method\": \"quantile\"" },
	{ "bin", "right,include_lowest", "closed", NULL },
	{ "join", "where,keys,key,join_on,cond,condition,predicate", "on", NULL },
	{ "limit", "skip,start,from_row", "offset", NULL },
	{ "union", "axis", NULL, "columns beside each other are a join" },
	{ "union", "distinct,unique,all", NULL, "all rows stay; a distinct step drops repeats" },
	{ "union", "ignore_case,how,join", "fill_missing", NULL },
	{ "rolling", "min_periods,min_samples", "min", NULL },
	{ "rolling", "center,centered", NULL, "window with a 'frame': {\"rows\": [-1, 1]}" },
	{ "distinct", "on,by,key,keys", "cols", NULL },
	{ "transpose", "index,id", "header", NULL },
	/* choices of a parameter */
	{ "join.how", "left_outer,leftouter,left outer,left_join", "left", NULL },
	{ "join.how", "right_outer,rightouter,right outer,right_join", "right", NULL },
	{ "join.how", "full_outer,fullouter,full outer,outer_join", "full", NULL },
	{ "join.how", "inner_join", "inner", NULL },
	{ "join.how", "left_semi,leftsemi,exists", "semi", NULL },
	{ "join.how", "left_anti,leftanti,not_exists", "anti", NULL },
	{ "fill_null.strategy", "ffill,pad,forward,bfill,backfill,backward,down,up,nearest", NULL,
	  "carrying values on is the fill op: {\"op\": \"fill\", \"cols\": [\"a\"], "
	  "\"dir\": \"down\"}" },
	{ "fill_null.strategy", "average,avg", "mean", NULL },
	{ "assert.rule", "in,isin,in_set,allowed,enum,accepted,values_in_set", "accepted_values",
	  NULL },
	{ "assert.rule", "between,min_max,in_range", "range", NULL },
	{ "assert.rule", "regex,pattern,match,like", "matches", NULL },
	{ "assert.rule", "primary_key,distinct,no_duplicates", "unique", NULL },
	{ "assert.rule", "foreign_key,references,fk", "relationship", NULL },
	{ "assert.rule", "rows,count,nrows", "row_count", NULL },
	{ "assert.rule", "expr,condition,check,formula", "expression", NULL },
	/* types */
	{ "type", "varchar,nvarchar,char,character,object,category,factor,utf8,json,uuid", "text",
	  NULL },
	{ "type", "int16,int32,uint8,uint32,uint64,bigint,smallint,tinyint,long,whole", "int",
	  NULL },
	{ "type", "real,numeric,num,double precision", "float", NULL },
	{ "type", "currency,money,decimal,dec", NULL,
	  "decimal(12,2): digits in all, and decimals" },
	{ "type", "logical,bit", "bool", NULL },
	{ "type", "datetime64[ns],timestamptz,timestamp_ntz", "datetime", NULL },
	{ "type", "day,datetime64[D]", "date", NULL },
	{ "type", "time,timedelta,interval", "text", NULL },
	/* the plan and its members */
	{ "plan", "source,sources,file,files,data,tables,datasets,from,read", "inputs", NULL },
	{ "plan", "pipeline,operations,ops,transforms,transformations,transform,actions,tasks,plan",
	  "steps", NULL },
	{ "plan", "version,dtx_version,schema_version,format_version", "dtx", NULL },
	{ "plan", "result,results,sink,target,destination,write,save", "output", NULL },
	{ "plan", "checks,assertions,tests,validate,validation", "expect", NULL },
	{ "plan", "title,id", "name", NULL },
	{ "plan", "description,comment,comments,note,notes,author,meta,metadata", NULL,
	  "a member that begins with x- is free, as \"x-note\"; steps have a 'note'" },
	{ "plan", "settings,config,opts", "options", NULL },
	{ "inputs",
	  "file,filename,filepath,file_path,file_name,src,source,url,uri,location,filepath_or_"
	  "buffer",
	  "path", NULL },
	{ "inputs", "sep,delimiter,delim,separator", "dialect",
	  "\"dialect\": {\"delimiter\": \";\"}" },
	{ "inputs", "quotechar,quote,escapechar,escape,comment,decimal,thousands", "dialect",
	  "members of 'dialect': delimiter, quote, escape, comment, decimal, group, trim" },
	{ "inputs", "nulls,null,missing,na", "null_values", NULL },
	{ "inputs",
	  "parse_dates,date_format,date_columns,dtype,dtypes,schema,column_types,converters,"
	  "col_types,columns_types",
	  "types",
	  "\"types\": [{\"name\": \"day\", \"type\": \"date\", \"format\": \"%d/%m/%Y\"}]" },
	{ "inputs", "usecols,use_cols,select,cols,keep", "requires",
	  "\"requires\": [\"a\", \"b\"], \"extra\": \"drop\"" },
	{ "inputs", "skiprows,skip_rows,skip_lines,skip_header", "skip", NULL },
	{ "inputs", "skipfooter,skip_footer,footer", "skip_tail", NULL },
	{ "inputs", "header,has_header,header_row,first_row_header", "header_rows", NULL },
	{ "inputs", "sheet_name,worksheet,tab,sheetname", "sheet", NULL },
	{ "inputs", "nrows,n_rows,max_rows,limit", NULL, "a limit step takes the first rows" },
	{ "inputs", "type,kind,file_type,filetype", "format", NULL },
	{ "inputs", "id,alias,table_name,as", "name", NULL },
	{ "inputs", "index_col,index", NULL, "tables have no index: leave it out" },
	{ "dialect", "sep,delim,separator", "delimiter", NULL },
	{ "dialect", "quotechar", "quote", NULL },
	{ "dialect", "thousands", "group", NULL },
	{ "output", "file,filename,filepath,file_path,file_name,dest,destination,url", "path",
	  NULL },
	{ "output", "index", NULL, "tables have no index: leave it out" },
	{ "output", "sep,delim,separator", "delimiter", NULL },
	{ "output", "na_rep,null,nulls,null_value", "null_text", NULL },
	{ "output", "encoding", "bom", "text is written as UTF-8; 'bom' puts a mark before it" },
	{ "output", "type,kind,file_type", "format", NULL },
	{ "output", "sheet_name,worksheet", "sheet", NULL },
	{ "output", "quoting,quotechar", "quote", NULL },
	{ "output", "line_terminator,lineterminator,newline", "eol", NULL },
	{ "output", "float_format,decimals,precision", "float_style",
	  "round(x, 2) in a derive step sets the digits" },
	{ "output", "columns,cols", NULL, "a select step chooses columns" },
	{ "output", "from,source,name,step,of,input", "table", NULL },
	{ "output", "mode,append,overwrite,if_exists", NULL,
	  "leave it out: a whole file takes the place of the one before" },
	{ "limits", "max_memory,mem", "memory_mb", NULL },
	{ "limits", "timeout,time_limit,seconds,wall", "time_s", NULL },
	{ "limits", "max_rows,row_limit", "rows", NULL },
	{ "limits", "columns,max_cols,max_columns", "cols", NULL },
	{ "expect", "row_count,nrows,num_rows,count,n_rows", "rows",
	  "\"rows\": {\"equals\": 5}, or {\"min\": 1, \"max\": 9}" },
	{ "expect", "schema,types,dtypes,cols", "columns", NULL },
	{ "expect", "unique,primary_key", "keys", NULL },
	{ "expect", "sorted,sort", "order_by", NULL },
	{ "expect", "checks,asserts,assertions,tests,not_null", "rules", NULL },
};

static bool foreign_among(const char *name, const char *const *have, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(have[i], name) == 0)
			return true;
	return !have;
}

static bool foreign_in_words(const char *words, const char *word)
{
	struct dtx_str rest = dtx_str_of(words), one;

	while (dtx_str_next(&rest, ',', &one))
		if (dtx_str_ieq(one, dtx_str_of(word)))
			return true;
	return false;
}

bool dtx_err_foreign(struct dtx_err *err, const char *of, const char *word, const char *const *have,
                     size_t n)
{
	for (size_t i = 0; i < DTX_COUNT(foreign_rows); i++) {
		const char *ours = foreign_rows[i].ours;

		if (strcmp(foreign_rows[i].of, of) != 0 ||
		    !foreign_in_words(foreign_rows[i].words, word) ||
		    (ours && !foreign_among(ours, have, n)))
			continue;
		if (ours)
			dtx_err_suggest(err, ours, &ours, 1);
		if (err)
			err->misnamed = true;
		if (foreign_rows[i].hint)
			dtx_err_hint(err, "%s", foreign_rows[i].hint);
		return true;
	}
	return false;
}
