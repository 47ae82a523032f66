/* All SQL of dtx: the schema, the derived tables, the statements. */
#ifndef DTX_STORE_SQL_H
#define DTX_STORE_SQL_H

#include "core/base/base.h"

#define DTX_SQL_APPLICATION 0x44545831 /* "DTX1" */
#define DTX_SQL_VERSION     2

/* `q`: the quote around a text; doubled if the statement is itself inside of a text. */
#define DTX_SQL_LEDGER_TRIGGER(name, verb, q)                                                      \
	"CREATE TRIGGER " name " BEFORE " verb " ON ledger"                                        \
	" BEGIN SELECT RAISE(ABORT," q "append-only" q "); END"
#define DTX_SQL_LEDGER_TRIGGERS                                                                    \
	DTX_SQL_LEDGER_TRIGGER("ledger_u", "UPDATE", "'")                                          \
	";" DTX_SQL_LEDGER_TRIGGER("ledger_d", "DELETE", "'") ";"

#define DTX_SQL_LEDGER                                                                             \
	"CREATE TABLE ledger(seq INTEGER PRIMARY KEY, ts_us INTEGER NOT NULL, kind TEXT NOT NULL," \
	" run_id TEXT NOT NULL, body TEXT NOT NULL, prev BLOB NOT NULL, hash BLOB NOT NULL)"       \
	" STRICT;" DTX_SQL_LEDGER_TRIGGERS                                                         \
	"CREATE TABLE blob(hash TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL,"      \
	" enc TEXT NOT NULL, data BLOB, purged_us INTEGER) STRICT;"

#define DTX_SQL_DERIVED                                                                            \
	"CREATE TABLE pipeline_cell_provenance(cell_id TEXT PRIMARY KEY, namespace TEXT NOT NULL," \
	" source_schema_fingerprint TEXT NOT NULL, intent_hash TEXT NOT NULL,"                     \
	" contract_hash TEXT NOT NULL, code_hash TEXT NOT NULL, op TEXT, template INTEGER,"        \
	" abi TEXT, needs TEXT, flags TEXT, col_order TEXT, adapter TEXT, formulas TEXT,"          \
	" origin TEXT, state TEXT NOT NULL, state_us INTEGER, state_by TEXT, note TEXT,"           \
	" supersedes TEXT, call_id TEXT, hits INTEGER, fails INTEGER, last_hit_us INTEGER)"        \
	" STRICT;"                                                                                 \
	"CREATE UNIQUE INDEX cell_live ON"                                                         \
	" pipeline_cell_provenance(namespace,source_schema_fingerprint,intent_hash)"               \
	" WHERE state='approved';"                                                                 \
	"CREATE INDEX cell_intent ON pipeline_cell_provenance(namespace,intent_hash);"             \
	"CREATE TABLE run(run_id TEXT PRIMARY KEY, namespace TEXT, plan_hash TEXT, path TEXT,"     \
	" status TEXT, code TEXT, exit INTEGER, start_us INTEGER, end_us INTEGER, user TEXT,"      \
	" host TEXT, cwd TEXT, argv TEXT, parent TEXT, replay_of TEXT, env_hash TEXT, pins TEXT,"  \
	" seq_start INTEGER, seq_end INTEGER) STRICT;"                                             \
	"CREATE TABLE run_input(run_id TEXT, ord INTEGER, alias TEXT, uri TEXT, sha TEXT,"         \
	" bytes INTEGER, mtime_us INTEGER, reader TEXT, rows INTEGER, schema TEXT, fp TEXT,"       \
	" snapshot TEXT, PRIMARY KEY(run_id,ord)) STRICT;"                                         \
	"CREATE TABLE run_output(run_id TEXT, ord INTEGER, path TEXT, writer TEXT, sha TEXT,"      \
	" bytes INTEGER, table_hash TEXT, rows_hash TEXT, rows INTEGER, schema TEXT, stats TEXT,"  \
	" PRIMARY KEY(run_id,ord)) STRICT;"                                                        \
	"CREATE INDEX output_sha ON run_output(sha);"                                              \
	"CREATE TABLE run_step(run_id TEXT, idx INTEGER, op TEXT, rows_in INTEGER,"                \
	" rows_out INTEGER, detail TEXT, dur_us INTEGER, PRIMARY KEY(run_id,idx)) STRICT;"         \
	"CREATE TABLE run_region(run_id TEXT, idx INTEGER, pointer TEXT, code TEXT, rung TEXT,"    \
	" cell_id TEXT, attempts INTEGER, class TEXT, jail TEXT, PRIMARY KEY(run_id,idx)) STRICT;" \
	"CREATE TABLE run_check(run_id TEXT, idx INTEGER, name TEXT, severity TEXT, status TEXT,"  \
	" col TEXT, expected TEXT, actual TEXT, PRIMARY KEY(run_id,idx)) STRICT;"                  \
	"CREATE TABLE author_call(call_id TEXT PRIMARY KEY, run_id TEXT, region INTEGER,"          \
	" attempt INTEGER, transport TEXT, model TEXT, prompt_hash TEXT, answer_hash TEXT,"        \
	" code_hash TEXT, policy TEXT, rows_disclosed INTEGER, cols_disclosed INTEGER,"            \
	" redactions INTEGER, in_tokens INTEGER, out_tokens INTEGER, estimated INTEGER,"           \
	" cost TEXT, outcome TEXT, dur_us INTEGER) STRICT;"                                        \
	"CREATE TABLE col_lineage(run_id TEXT, output INTEGER, out_col TEXT, alias TEXT,"          \
	" in_col TEXT, type TEXT, subtype TEXT, formula TEXT, composed TEXT, class TEXT) STRICT;"  \
	"CREATE TABLE IF NOT EXISTS lease(key TEXT PRIMARY KEY, run_id TEXT, pid INTEGER, boot "   \
	"TEXT,"                                                                                    \
	" until_us INTEGER) STRICT;" DTX_SQL_DERIVED_2 DTX_SQL_SNIPPET_INDEX

/* There are few events about snippets among those of runs, and every use of a snippet reads all of
 * them.  An older store works without this index; it is added when the store is next written to. */
#define DTX_SQL_SNIPPET_INDEX                                                                      \
	"CREATE INDEX IF NOT EXISTS ledger_snippet ON ledger(kind,seq)"                            \
	" WHERE kind>='snippet.' AND kind<'snippet/';"

/* What version 2 has in addition to version 1. */
#define DTX_SQL_DERIVED_2                                                                          \
	"CREATE TABLE IF NOT EXISTS file_seen(mark TEXT PRIMARY KEY, sha TEXT, run_id TEXT)"       \
	" STRICT, WITHOUT ROWID;"                                                                  \
	"CREATE INDEX IF NOT EXISTS region_cell ON run_region(cell_id,run_id);"                    \
	"CREATE INDEX IF NOT EXISTS output_path ON run_output(path);"                              \
	"CREATE INDEX IF NOT EXISTS call_prompt ON author_call(prompt_hash);"                      \
	"CREATE INDEX IF NOT EXISTS run_cwd ON run(cwd,seq_start);"                                \
	"CREATE INDEX IF NOT EXISTS run_seq ON run(seq_start);"

/* The derived tables: symbol, name, columns as "name:kind" with kind t (text) or i (integer).  A
 * test compares them with the schema above. */
#define DTX_SQL_TABLES(X)                                                                          \
	X(DTX_TAB_CELL, "pipeline_cell_provenance",                                                \
	  "cell_id:t,namespace:t,source_schema_fingerprint:t,intent_hash:t,contract_hash:t,"       \
	  "code_hash:t,op:t,template:i,abi:t,needs:t,flags:t,col_order:t,adapter:t,formulas:t,"    \
	  "origin:t,state:t,state_us:i,state_by:t,note:t,supersedes:t,call_id:t,hits:i,fails:i,"   \
	  "last_hit_us:i")                                                                         \
	X(DTX_TAB_RUN, "run",                                                                      \
	  "run_id:t,namespace:t,plan_hash:t,path:t,status:t,code:t,exit:i,start_us:i,end_us:i,"    \
	  "user:t,host:t,cwd:t,argv:t,parent:t,replay_of:t,env_hash:t,pins:t,seq_start:i,"         \
	  "seq_end:i")                                                                             \
	X(DTX_TAB_INPUT, "run_input",                                                              \
	  "run_id:t,ord:i,alias:t,uri:t,sha:t,bytes:i,mtime_us:i,reader:t,rows:i,schema:t,fp:t,"   \
	  "snapshot:t")                                                                            \
	X(DTX_TAB_OUTPUT, "run_output",                                                            \
	  "run_id:t,ord:i,path:t,writer:t,sha:t,bytes:i,table_hash:t,rows_hash:t,rows:i,schema:t," \
	  "stats:t")                                                                               \
	X(DTX_TAB_STEP, "run_step", "run_id:t,idx:i,op:t,rows_in:i,rows_out:i,detail:t,dur_us:i")  \
	X(DTX_TAB_REGION, "run_region",                                                            \
	  "run_id:t,idx:i,pointer:t,code:t,rung:t,cell_id:t,attempts:i,class:t,jail:t")            \
	X(DTX_TAB_CHECK, "run_check",                                                              \
	  "run_id:t,idx:i,name:t,severity:t,status:t,col:t,expected:t,actual:t")                   \
	X(DTX_TAB_AUTHOR, "author_call",                                                           \
	  "call_id:t,run_id:t,region:i,attempt:i,transport:t,model:t,prompt_hash:t,answer_hash:t," \
	  "code_hash:t,policy:t,rows_disclosed:i,cols_disclosed:i,redactions:i,in_tokens:i,"       \
	  "out_tokens:i,estimated:i,cost:t,outcome:t,dur_us:i")                                    \
	X(DTX_TAB_LINEAGE, "col_lineage",                                                          \
	  "run_id:t,output:i,out_col:t,alias:t,in_col:t,type:t,subtype:t,formula:t,composed:t,"    \
	  "class:t")                                                                               \
	X(DTX_TAB_SEEN, "file_seen", "mark:t,sha:t,run_id:t")

#define DTX_SQL_CELL_COLS                                                                          \
	"cell_id,namespace,source_schema_fingerprint,intent_hash,contract_hash,code_hash,op,"      \
	"template,abi,needs,flags,col_order,adapter,formulas,origin,state,state_us,state_by,note," \
	"supersedes,call_id,hits,fails,last_hit_us FROM pipeline_cell_provenance "

#define DTX_SQL_STATEMENTS(X)                                                                      \
	X(DTX_SQL_BEGIN, "BEGIN IMMEDIATE")                                                        \
	X(DTX_SQL_BEGIN_READ, "BEGIN")                                                             \
	X(DTX_SQL_COMMIT, "COMMIT")                                                                \
	X(DTX_SQL_ROLLBACK, "ROLLBACK")                                                            \
	X(DTX_SQL_APPLICATION_ID, "PRAGMA application_id")                                         \
	X(DTX_SQL_USER_VERSION, "PRAGMA user_version")                                             \
	/* ledger */                                                                               \
	X(DTX_SQL_LAST, "SELECT seq,hash FROM ledger ORDER BY seq DESC LIMIT 1")                   \
	X(DTX_SQL_APPEND, "INSERT INTO ledger VALUES(?1,?2,?3,?4,?5,?6,?7)")                       \
	X(DTX_SQL_EVENTS,                                                                          \
	  "SELECT seq,ts_us,kind,run_id,body,prev,hash FROM ledger WHERE seq>=?1 ORDER BY seq")    \
	X(DTX_SQL_SNIPPET_EVENTS, /* with the hashes that its neighbours have */                   \
	  "SELECT seq,ts_us,kind,run_id,body,prev,hash,"                                           \
	  "(SELECT hash FROM ledger b WHERE b.seq=e.seq-1),"                                       \
	  "(SELECT prev FROM ledger a WHERE a.seq=e.seq+1)"                                        \
	  " FROM ledger e WHERE kind>='snippet.' AND kind<'snippet/' ORDER BY seq")                \
	X(DTX_SQL_RUN_EVENTS, "SELECT seq,ts_us,kind,run_id,body,prev,hash FROM ledger"            \
	                      " WHERE seq BETWEEN ?2 AND ?3 AND run_id=?1 ORDER BY seq")           \
	/* blobs */                                                                                \
	X(DTX_SQL_BLOB_PUT, /* purged bytes come back when they are needed again */                \
	  "INSERT INTO blob VALUES(?1,?2,?3,'raw',?4,NULL) ON CONFLICT(hash) DO UPDATE"            \
	  " SET data=excluded.data,enc='raw',purged_us=NULL WHERE purged_us IS NOT NULL")          \
	X(DTX_SQL_BLOB_GET, "SELECT enc,data,purged_us FROM blob WHERE hash=?1")                   \
	X(DTX_SQL_BLOB_ALL, "SELECT hash,enc,data,purged_us,size,kind FROM blob ORDER BY hash")    \
	X(DTX_SQL_BLOB_ONE, "SELECT hash,enc,data,purged_us,size,kind FROM blob WHERE hash=?1")    \
	X(DTX_SQL_BLOB_KINDS, "SELECT hash,kind,size,purged_us FROM blob")                         \
	X(DTX_SQL_BLOB_PURGE, "UPDATE blob SET data=NULL,purged_us=?2 WHERE hash=?1")              \
	/* statistics */                                                                           \
	X(DTX_SQL_STATS_SIZE, "SELECT page_count*page_size,freelist_count*page_size"               \
	                      " FROM pragma_page_count,pragma_page_size,pragma_freelist_count")    \
	X(DTX_SQL_STATS_EVENTS,                                                                    \
	  "SELECT kind,count(*),sum(length(body)) FROM ledger GROUP BY kind ORDER BY kind")        \
	X(DTX_SQL_STATS_BLOBS, "SELECT kind,count(*),sum(length(data)),sum(purged_us IS NOT NULL)" \
	                       " FROM blob GROUP BY kind ORDER BY kind")                           \
	X(DTX_SQL_STATS_RUNS, "SELECT coalesce(path,'none'),coalesce(status,'running'),count(*)"   \
	                      " FROM run GROUP BY 1,2 ORDER BY 1,2")                               \
	X(DTX_SQL_STATS_CELLS, "SELECT state,count(*),sum(hits) FROM pipeline_cell_provenance"     \
	                       " GROUP BY state ORDER BY state")                                   \
	X(DTX_SQL_STATS_AUTHOR,                                                                    \
	  "SELECT coalesce(outcome,'open'),CASE count(cost) WHEN 0 THEN 'unknown' ELSE"            \
	  " printf('%.6f',total(cost)) END,count(*),sum(in_tokens),sum(out_tokens),"               \
	  "sum(rows_disclosed) FROM author_call GROUP BY 1 ORDER BY 1")                            \
	X(DTX_SQL_INTEGRITY, "SELECT * FROM pragma_integrity_check(10)")                           \
	X(DTX_SQL_SCHEMA, "SELECT type,name,tbl_name,sql FROM sqlite_schema ORDER BY type,name")   \
	X(DTX_SQL_SCHEMA_FOREIGN, /* what could run code of others; by its text, as SQLite does */ \
	  "SELECT coalesce(type,''),coalesce(name,'') FROM sqlite_schema"                          \
	  " WHERE sql NOT LIKE 'CREATE TABLE %'"                                                   \
	  " AND sql NOT LIKE 'CREATE INDEX %' AND sql NOT LIKE 'CREATE UNIQUE INDEX %'"            \
	  " AND sql NOT IN ('" DTX_SQL_LEDGER_TRIGGER(                                             \
		  "ledger_u", "UPDATE", "''") "','" DTX_SQL_LEDGER_TRIGGER("ledger_d", "DELETE",   \
	                                                                   "''") "') LIMIT 1")     \
	X(DTX_SQL_SCHEMA_OTHERS, /* triggers first: dropping a table drops its triggers */         \
	  "SELECT 'DROP '||type||' IF EXISTS \"'||replace(name,'\"','\"\"')||'\";'"                \
	  " FROM sqlite_schema WHERE NOT (type='table' AND name IN ('ledger','blob','lease'))"     \
	  " AND (name NOT LIKE 'sqlite@_%' ESCAPE '@' OR name LIKE 'sqlite@_stat_' ESCAPE '@')"    \
	  " ORDER BY type DESC")                                                                   \
	X(DTX_SQL_HAS_VERSION_2, "SELECT 1 FROM sqlite_schema WHERE name='file_seen'")             \
	X(DTX_SQL_LEASE_ODD, "SELECT key FROM lease WHERE key LIKE 'run:%' AND (key<>'run:'||"     \
	                     "run_id OR run_id NOT IN (SELECT run_id FROM run)) LIMIT 1")          \
	/* runs */                                                                                 \
	X(DTX_SQL_RUN_KEPT, "SELECT min(seq_start) FROM (SELECT seq_start FROM run ORDER BY "      \
	                    "seq_start DESC LIMIT ?1)")                                            \
	X(DTX_SQL_RUN_END,                                                                         \
	  "UPDATE run SET status=?2,code=?3,exit=?4,end_us=?5,path=?6,seq_end=?7 WHERE run_id=?1") \
	X(DTX_SQL_RUN_BY_ID,                                                                       \
	  "SELECT seq_start,coalesce(seq_end,9223372036854775807) FROM run WHERE run_id=?1")       \
	X(DTX_SQL_RUN_BY_SUFFIX, "SELECT run_id FROM run WHERE run_id LIKE '%'||?1 LIMIT 2")       \
	X(DTX_SQL_RUN_BY_CWD, "SELECT run_id FROM run WHERE cwd=?1 AND replay_of IS NULL"          \
	                      " ORDER BY seq_start DESC LIMIT 1")                                  \
	X(DTX_SQL_RUN_BY_SHA,                                                                      \
	  "SELECT o.run_id,o.ord,count(*) OVER() FROM run_output o JOIN run r USING(run_id)"       \
	  " WHERE o.sha=?1 ORDER BY r.replay_of IS NOT NULL,o.path<>?2,r.seq_start DESC LIMIT 1")  \
	X(DTX_SQL_RUN_BY_PATH,                                                                     \
	  "SELECT o.run_id,o.ord,count(*) OVER() FROM run_output o JOIN run r USING(run_id)"       \
	  " WHERE o.path=?1 ORDER BY r.seq_start DESC LIMIT 1")                                    \
	X(DTX_SQL_RUN_LOG,                                                                         \
	  "SELECT run_id,namespace,plan_hash,path,status,code,exit,start_us,end_us,user,host,cwd," \
	  "argv,(SELECT path FROM run_output o WHERE o.run_id=run.run_id AND ord=0),"              \
	  "(SELECT json_extract(body,'$.plan.name') FROM ledger WHERE seq=run.seq_start"           \
	  " AND json_valid(body))"                                                                 \
	  " FROM run WHERE start_us>=?1 AND (?2 IS NULL OR status=?2)"                             \
	  " AND (?3 IS NULL OR path=?3) AND (?4 IS NULL OR namespace=?4)"                          \
	  " ORDER BY seq_start DESC LIMIT ?5")                                                     \
	X(DTX_SQL_SEEN, "SELECT sha,run_id FROM file_seen WHERE mark=?1")                          \
	/* leases of running processes; until_us is the start of the process */                    \
	X(DTX_SQL_LEASE_PUT, "INSERT OR REPLACE INTO lease VALUES(?1,?2,?3,?4,?5)")                \
	X(DTX_SQL_LEASE_GET, "SELECT 1 FROM lease WHERE key=?1")                                   \
	X(DTX_SQL_LEASE_DROP, "DELETE FROM lease WHERE key=?1")                                    \
	X(DTX_SQL_LEASE_CLAIM, "UPDATE lease SET pid=?2,boot=?3,until_us=?4"                       \
	                       " WHERE key=?1 AND pid=?5 AND boot=?6 AND until_us=?7")             \
	X(DTX_SQL_LEASE_OWNER, "SELECT l.pid,l.boot,l.until_us,r.host,l.run_id FROM lease l"       \
	                       " LEFT JOIN run r USING(run_id) WHERE l.key=?1")                    \
	X(DTX_SQL_LEASE_END, "DELETE FROM lease WHERE key=?1 AND run_id=?2")                       \
	/* authors */                                                                              \
	X(DTX_SQL_AUTHOR_FAILED,                                                                   \
	  "SELECT r.run_id,r.code,r.end_us FROM author_call a JOIN run r USING(run_id)"            \
	  " WHERE a.prompt_hash=?1 AND a.transport=?2 AND (?3='' OR a.model=?3) AND a.attempt=1"   \
	  " AND a.outcome='ok' AND r.code GLOB 'snippet_*' AND r.code<>'snippet_setup_refused'"    \
	  " AND r.end_us>?4 ORDER BY r.end_us DESC LIMIT 1")                                       \
	X(DTX_SQL_LEASES,                                                                          \
	  "SELECT l.run_id,l.pid,l.boot,l.until_us,r.host FROM lease l JOIN run r USING(run_id)"   \
	  " WHERE l.key>='run:' AND l.key<'run;' LIMIT 64")                                        \
	/* snippets */                                                                             \
	X(DTX_SQL_CELL_HIT,                                                                        \
	  "UPDATE pipeline_cell_provenance SET hits=hits+1,last_hit_us=?2 WHERE cell_id=?1")       \
	X(DTX_SQL_CELL_MISS, "UPDATE pipeline_cell_provenance SET fails=fails+1 WHERE cell_id=?1") \
	X(DTX_SQL_CELL_STATE,                                                                      \
	  "UPDATE pipeline_cell_provenance SET state=?2,state_us=?3,state_by=?4,"                  \
	  "note=coalesce(?5,note),supersedes=coalesce(?6,supersedes) WHERE cell_id=?1")            \
	X(DTX_SQL_CELL_RENEW,                                                                      \
	  "UPDATE pipeline_cell_provenance SET state='candidate',state_us=?2,state_by=NULL,"       \
	  "note=NULL,contract_hash=?3,op=?4,abi=?5,needs=?6,flags=?7,col_order=?8,formulas=?9,"    \
	  "origin=?10,call_id=?11 WHERE cell_id=?1"                                                \
	  " AND (state='removed' OR (origin='import' AND ?10<>'import'))")                         \
	X(DTX_SQL_CELL_LIVE,                                                                       \
	  "SELECT o.cell_id FROM pipeline_cell_provenance o JOIN pipeline_cell_provenance n"       \
	  " ON n.cell_id=?1 AND o.namespace=n.namespace AND o.intent_hash=n.intent_hash"           \
	  " AND o.source_schema_fingerprint=n.source_schema_fingerprint"                           \
	  " WHERE o.state='approved' AND o.cell_id<>?1")                                           \
	X(DTX_SQL_CELL_REFUSED,                                                                    \
	  "SELECT cell_id FROM pipeline_cell_provenance"                                           \
	  " WHERE namespace=?1 AND code_hash=?2 AND state='revoked' LIMIT 1")                      \
	X(DTX_SQL_CELL_LIVE_CODE, "SELECT 1 FROM pipeline_cell_provenance WHERE code_hash=?1"      \
	                          " AND state IN ('approved','pending','candidate') LIMIT 1")      \
	X(DTX_SQL_CELL_KEY,                                                                        \
	  "SELECT " DTX_SQL_CELL_COLS "WHERE namespace=?1 AND source_schema_fingerprint=?2"        \
	  " AND intent_hash=?3 AND state IN ('approved','pending')"                                \
	  " ORDER BY state='approved' DESC,state_us DESC LIMIT 1")                                 \
	X(DTX_SQL_CELL_INTENT, "SELECT " DTX_SQL_CELL_COLS "WHERE namespace=?1 AND intent_hash=?2" \
	                       " AND state='approved' ORDER BY state_us DESC LIMIT 64")            \
	X(DTX_SQL_CELL_PREFIX,                                                                     \
	  "SELECT " DTX_SQL_CELL_COLS "WHERE cell_id>=?1 AND cell_id<?1||'g' LIMIT 2")             \
	X(DTX_SQL_CELL_DEAD,                                                                       \
	  "SELECT " DTX_SQL_CELL_COLS "WHERE state IN ('candidate','superseded')"                  \
	  " AND state_us<?1 AND cell_id NOT IN (SELECT cell_id FROM run_region"                    \
	  " WHERE class='ok' AND cell_id IS NOT NULL) ORDER BY state_us,cell_id")                  \
	X(DTX_SQL_CELL_PURGE,                                                                      \
	  "UPDATE blob SET data=NULL,purged_us=?2 WHERE hash=?1 AND kind='code' AND data IS NOT"   \
	  " NULL AND NOT EXISTS (SELECT 1 FROM pipeline_cell_provenance WHERE code_hash=?1"        \
	  " AND state<>'removed') RETURNING size")                                                 \
	X(DTX_SQL_CELL_POLICY,                                                                     \
	  "SELECT json_extract(jail,'$.jail.filter_hash') FROM run_region WHERE cell_id=?1"        \
	  " AND class<>'nondeterministic' AND json_extract(jail,'$.status')='ok'"                  \
	  " ORDER BY run_id DESC LIMIT 1")                                                         \
	X(DTX_SQL_CALL_PROMPT, "SELECT prompt_hash,model,in_tokens,out_tokens,rows_disclosed,"     \
	                       "cols_disclosed,policy FROM author_call WHERE call_id=?1")          \
	X(DTX_SQL_CELL_LIST,                                                                       \
	  "SELECT " DTX_SQL_CELL_COLS "WHERE CASE WHEN ?1 IS NULL THEN state<>'removed'"           \
	  " ELSE state=?1 END ORDER BY state_us DESC,cell_id")

enum dtx_sql {
#define X(symbol, text) symbol,
	DTX_SQL_STATEMENTS(X)
#undef X
		DTX_SQL_COUNT
};
enum dtx_sql_table {
#define X(symbol, name, columns) symbol,
	DTX_SQL_TABLES(X)
#undef X
		DTX_TAB_COUNT
};

#endif
