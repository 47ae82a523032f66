# what a terminal would hide of a module is spelled out for who reads it; a file gets its bytes
. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" .
module() { printf 'def transform(tables, params):\n    return tables["main"]%s\n' "$1"; }
module "$(printf '  # zero\342\200\213width')" > one.py
module "$(printf '  # left\342\200\216right')" > two.py
for f in one two; do
	dtx run balance.json weeks.xlsx --snippet $f.py --approve require -o out.csv > /dev/null 2>&1 || true # the answer is wrong
done
ids=$(dtx snippet list | cut -c1-8)
for id in $ids; do
	dtx snippet show "$id" | tail -1
	dtx snippet show "$id" --code > code.py
	cmp -s code.py one.py || cmp -s code.py two.py && echo "its bytes"
done | sort
dtx snippet diff $ids | grep '^[-+] ' | sed 's/^.//' | sort
