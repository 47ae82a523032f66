# crosstab of 1000 columns: the cells of a batch come from several columns of groups
awk 'BEGIN { print "r,c"; for (i = 0; i < 1000; i++) print "r0,c" i; for (i = 1; i < 1500; i++) print "r" i ",c" i * 7 % 1000 }' > a.csv
for share in '' ',"normalize":"rows"'; do
	echo '{"dtx":1,"limits":{"growth":1000000},"inputs":[{"name":"main"}],"steps":[{"op":"crosstab","rows":"r","cols":"c"'"$share"'}]}' > plan.json
	"$DTX" run -q plan.json a.csv -o out.csv
	awk -F, 'NR == 1 { split($0, name, ","); next }
		NR > 2 { for (i = 2; i <= NF; i++) if ($i + 0 == (name[i] == "c" substr($1, 2) * 7 % 1000)) right++; else wrong++ }
		END { print NR - 1 " rows, " right + 0 " cells as expected, " wrong + 0 " others" }' out.csv
done
