. "$LIB"
# Each kind of parameter, by name and by position.
printf 'k,n,t,d\na,1,x y,2025-01-31\nb,2,"z,z",2025-02-28\na,3,,2025-03-01\n' > in.csv
printf 'key,w\na,7\nb,8\n' > o.csv
steps() { dtx pipe in.csv "$@" --print-plan | tr -d '\n' | sed -e 's/.*"steps": \[//' -e 's/  */ /g' -e 's/ *\][^]]*$//'; echo; }
both() { # words that give the same step twice: by position, then by name
	echo "# $1"
	(IFS='|'; steps -- $2)
	(IFS='|'; dtx pipe in.csv -- $2 --print-plan > position.json)
	(IFS='|'; dtx pipe in.csv -- $3 --print-plan > name.json)
	[ "$(dtx check --id position.json)" = "$(dtx check --id name.json)" ] || echo "another step by name"
}
both 'a whole number' 'head|2' 'head|n=2'
both 'a number' 'outliers|n|zscore|2.5' 'outliers|k=2.5|method=zscore|cols=n'
both 'true or false' 'freq|k|5|false' 'freq|n=5|sort=false|cols=k'
both 'a text' 'explode|t| ' 'explode|cols=t|sep= '
both 'one of several words' 'fill|n|up' 'fill|dir=up|cols=n'
both 'a column' 'lag_lead|n|before' 'lag_lead|as=before|col=n'
both 'a pattern' 'extract|t|([a-z]+) ([a-z]+)|x,y' 'extract|into=x,y|pattern=([a-z]+) ([a-z]+)|col=t'
both 'a type' 'parse_number|n|float' 'parse_number|type=float|cols=n'
both 'a formula' 'filter|n >= 2 and k == "a"' 'filter|where=n >= 2 and k == "a"'
both 'columns' 'select|n,k' 'select|cols=n,k'
both 'columns by a pattern' 'select|[{"regex": "^[kn]$"}]' 'select|cols=[{"regex": "^[kn]$"}]'
both 'a value that is a number' 'fill_null|n|0' 'fill_null|value=0|cols=n'
both 'a value that is a text' 'fill_null|t|"0"' 'fill_null|value="0"|cols=t'
both 'texts' 'set_header|a,b,"c,d",e' 'set_header|names=a,b,"c,d",e'
both 'values' 'nullify|n,t|1,x y,true' 'nullify|values=1,x y,true|cols=n,t'
both 'numbers' 'bin|n|b|0,1.5,9' 'bin|breaks=0,1.5,9|as=b|col=n'
both 'sort keys' 'sort|k,-n|2' 'sort|limit=2|by=k,-n'
both 'sets of keys' 'group_by|k,t|c=count()|sets=rollup' 'group_by|by=k,t|agg={"c":"count()"}|sets=rollup'
both 'sets of keys, listed' 'group_by|k,t|c=count()|sets=[["k"],[]]' 'group_by|sets=[["k"],[]]|c=count()|k,t'
both 'a table and its keys' 'join|o.csv|k=key' 'join|with=o.csv|on=[{"left":"k","right":"key"}]'
both 'a list of objects' 'assert|[{"rule":"not_null","cols":["k"]}]' 'assert|rules=[{"rule":"not_null","cols":["k"]}]'
echo "# NAME=VALUE for the list that an op has"
steps -- derive 'x y=n + 1' s="concat(k, '=')"
steps -- group_by k n=sum largest='max(n)'
steps -- cast n=float k=text
steps -- rename 'k=the key' t=text
steps -- replace_values k a=A b=
steps -- replace_values n 1=10 regex=false
steps -- window by=k order=-n r='rank()'
steps -- lookup_value o.csv k=key w rate
steps -- join other=o.csv 2>&1 || true
echo "# words of other tools, by their own names"
steps -- left_join o.csv k=key then tail 2 then bfill n then count k then dropna columns=k,n then sort_values k ascending=false
