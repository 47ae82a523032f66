# One formula over many columns: in derive, window, group_by and resample, in a plan and in words;
# `why` names the formula of the one column, and errors name the column that they are about.
printf 'day,k,q1,q2,n\n2024-01-05,x,1.25,,3\n2024-01-07,y,2,0.5,\n2024-01-08,x,,4,1\n' > in.csv

echo '== words'
$DTX pipe in.csv -- derive across=q1..q2 '{col}=round(_, 1)' '{col}_n=_ / n' 'sum=row_sum(_)' 'q=coalesce(_, 0)'
$DTX pipe in.csv -- window by=k order=day 'across=[{"type":"number"}]' '{col}_before=lag(_, ignore_nulls: true)'
$DTX pipe in.csv -- group_by k 'across=[{"regex":"^q"},"n"]' 'rows=count()' '{col}=mean'
$DTX pipe in.csv -- resample day 1w across=q1,q2 '{col}=sum(_)' week_start=sunday
echo '== other columns of the same name'
$DTX pipe in.csv -- derive q1_old=1 q2_old=2 then derive across=q1,q2 '{col}=_ - `{col}_old`' then select q1,q2
echo '== the name of the column twice, and one that looks like it'
printf 'a{col}b,q\n1,2\n' > braces.csv
$DTX pipe braces.csv -- derive across='a{col}b,q' 'x {col} {col}=_ * 2'

echo '== why'
cat > plan.json <<'P'
{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[
 {"op":"derive","across":[{"type":"number"}],"set":{"{col}_2":"_ * 2","s":"row_sum(_)"}},
 {"op":"group_by","by":["k"],"across":["n_2","s"],"agg":{"{col}":"max(_)"}}],
 "output":{"path":"out.csv"}}
P
$DTX run plan.json && cat out.csv
$DTX why out.csv --row 1 --col s | sed 's/   run .*//'
$DTX explain plan.json | grep -E '^[12] '

echo '== errors'
. "$LIB"
try() { $DTX pipe in.csv -- "$@" 2>&1 | plain; }
try derive across=q1,k '{col}=round(_)'
try derive across=q1,q2 'm=sum(_)'
try derive across=q1,q2 'm=_ + 1'
try derive across=q1 'm=min(_)'
try derive across=q1,q2 '{col}_m=n + 1'
try derive across=q1,zz '{col}=_ + 1'
try derive across=q1,q2 '{col}_a=_' 'm=row_sum(_, k)'
try rename n=_ then derive across=q1,q2 '{col}=_ + 1'
try group_by k across=q1,q2 'k=count()' '{col}=sum(_)'
