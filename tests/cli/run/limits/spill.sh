# work beyond --memory goes to an unlinked temp file: same bytes, named in the record
. "$LIB"
awk 'BEGIN { print "i,k,t"; for (i = 0; i < 200000; i++) print i "," (i * 7919) % 100003 ",text number " i % 977 }' > big.csv
echo '[{"op":"sort","by":["-k","t"]}]' > sort.json
echo '[{"op":"group_by","by":["k","t"],"agg":{"s":"sum(i)","first":"first(i)"}}]' > first_seen.json
echo '[{"op":"group_by","by":[{"as":"h","expr":"i * 2"}],"agg":{"n":"count()"},"order":"sorted","having":"n > 0"}]' > sorted.json
echo '[{"op":"group_by","by":["t"],"agg":{"m":"median(i)","d":"count_distinct(k)","c":"concat_agg(t, sep: \".\")","f":"first(i)"}}]' > lists.json
echo '[{"op":"distinct","cols":["k","t"]},{"op":"limit","n":180000}]' > distinct.json
echo '[{"op":"group_by","by":["k","t"],"agg":{"s":"sum(i)","first":"first(i)"},"sets":"cube","sets_as":"of"}]' > sets.json
mkdir tmp
for plan in sort,32 first_seen,32 sorted,24 lists,32 distinct,32 sets,64; do
	memory=${plan#*,} plan=${plan%,*}
	dtx run -q $plan.json big.csv -o whole.csv --memory 1G
	TMPDIR=$PWD/tmp dtx run -q $plan.json big.csv -o less.csv --memory ${memory}M --threads 2
	cmp whole.csv less.csv && echo same
	ls tmp
	dtx provenance less.csv --json | grep -c '"spilled"'
done
awk 'BEGIN { print "k,w"; for (i = 0; i < 150000; i++) print (i % 1000 == 5 ? "" : (i * 7919) % 120011) "," i }' > right.csv
for how in full anti; do
	echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"other"}],"steps":[{"op":"join","with":"other","on":"k","how":"'$how'"}]}' > join.json
	dtx run -q join.json big.csv other=right.csv -o whole.csv --memory 1G
	TMPDIR=$PWD/tmp dtx run -q join.json big.csv other=right.csv -o less.csv --memory 32M --threads 2
	cmp whole.csv less.csv && echo same
	dtx provenance less.csv --json | grep -c '"spilled"'
done
# groups of a partition that there is no room for go to disk again: more rows than twice all of them,
# as the result's rows are put in order there too
awk 'BEGIN { print "i,k"; for (i = 0; i < 300000; i++) print i "," (i * 7919) % 500009 }' > wide.csv
aggs='"a":"sum(i)","b":"std(i)","c":"corr(i, k)","d":"min(i)","e":"max(i)","f":"wavg(i, k)","g":"arg_max(i, k)","h":"regr_slope(i, k)"'
echo '[{"op":"group_by","by":["k"],"agg":{'"$aggs"',"i":"cov(i, k)","j":"var(i)","k2":"arg_min(i, k)","l":"last(i)"}}]' > again.json
dtx run -q again.json wide.csv -o whole.csv --memory 1G
TMPDIR=$PWD/tmp dtx run -q again.json wide.csv -o less.csv --memory 16M --threads 1
cmp whole.csv less.csv && echo same
dtx provenance less.csv --json | grep -A3 '"spilled"' | awk -F'[ ,:]+' '/"rows"/ { print ($3 > 600000 ? "again" : "once " $3) }'
# the states of every aggregate, written and merged: several entries of each group
awk 'BEGIN { print "k,i,f,t,d,b"; for (n = 0; n < 20000; n++) { k = (n * 7919) % 2503;
	print k ".5," (n * 31) % 1009 "," (n % 7 ? (n % 1000) / 8 : n % 2 ? "1e300" : "3e-300") "," (n % 11 ? "text of row " n % 13 : "") \
	",2024-01-" sprintf("%02d", 1 + n % 28) "," (n % 3 ? "true" : "false") } }' > every.csv
cat > every.json << 'END'
[{"op":"group_by","by":["k"],"agg":{"a":"count()","b":"count_if(b)","c":"count_distinct(i)","d":"count_distinct(t)","e":"sum(i)","f":"sum(f)",
"g":"mean(f)","h":"median(f)","i":"quantile(i, 0.3)","j":"min(t)","j2":"max(d)","j3":"min(f)","l":"first(t)","m":"last(i)","n":"std(i)",
"o":"var_pop(i)","p":"any(b)","q":"all(b)","r":"concat_agg(t, sep: \".\")","s":"mode(t)","u":"quantile_disc(t, 0.5)","v":"iqr(i)","w":"mad(i)",
"x":"range(i)","x2":"range(d)","y":"product(i % 3)","z":"gmean(i)","za":"hmean(i)","zb":"skew(i)","zc":"kurt(i)","zd":"corr(i, f)",
"ze":"cov(i, i)","zf":"wavg(f, i)","zg":"regr_slope(i, i)","zh":"regr_r2(i, i)","zi":"arg_max(t, i)","zj":"arg_min(i, t)","zk":"arg_max(t, t)",
"zl":"share_null(t)","zm":"sum(decimal(i, 9, 2))","zn":"last(d)"}}]
END
dtx run -q every.json every.csv -o whole.csv --memory 1G
TMPDIR=$PWD/tmp dtx run -q every.json every.csv -o less.csv --memory 24M --threads 2
cmp whole.csv less.csv && echo same
dtx provenance less.csv --json | grep -A3 '"spilled"' | awk -F'[ ,:]+' '/"rows"/ { print ($3 > 2 * 2503 ? "merged" : "once " $3) }'
TMPDIR=$PWD/none dtx run -q sort.json big.csv -o no.csv --memory 20M --threads 1 || echo "exit $?"
[ ! -e no.csv ]
