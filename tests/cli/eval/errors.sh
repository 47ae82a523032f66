. "$LIB"
for e in '1 +' 'hour * 2' "nosuch(1)" "'a' + 1" 'sum(hours)' "int('12.7')" '1 == 1 == 1' "left('a')" "split('a;b', ';')"; do
	status=0
	dtx eval "$e" --row '{"hours": 3}' || status=$?
	echo "$e: exit $status"
done
