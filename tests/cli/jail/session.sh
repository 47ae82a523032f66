. "$LIB"
# The session that the README tells of: every command with what it says.
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" .
cp "$FIX/plans/balance.json" plan.json
ids() { sed -E 's/\b[0-9a-f]{8}([0-9a-f]{8})?\b/ID/g; s/[fi]1:[0-9a-f]{64}/KEY/; s/;[0-9a-f]{8}$/;ID/; s/[0-9]+\.[0-9]+ s/N s/; s/last [0-9-]+$/last DAY/'; }
do_() { echo "\$ $*" | ids; eval "$*" 2>&1 | plain | ids; echo; }
do_ 'dtx run plan.json weeks.xlsx -o tidy.csv'
do_ 'dtx prompt plan.json weeks.xlsx > prompt.txt; grep -A2 ^TASK prompt.txt'
echo '# a colleague or any model answers'
cp balance.txt answer.txt
do_ 'dtx snippet add answer.txt --plan plan.json weeks.xlsx'
id=$(dtx snippet list | cut -c1-8)
do_ "dtx snippet show $id"
do_ "dtx snippet approve $id --note 'read it'"
do_ 'dtx run plan.json weeks.xlsx -o tidy.csv; head -3 tidy.csv'
do_ 'dtx run plan.json weeks.xlsx -o again.csv; dtx provenance again.csv | grep -E "^(run|how|   )"'
echo '# next month a column has another name'
dtx convert weeks.xlsx -o march.csv
sed -i '1s/planned/planned_hours/' march.csv
do_ 'dtx run plan.json march.csv -o march.tidy.csv'
do_ "dtx snippet adopt $id --rename planned=planned_hours --plan plan.json march.csv"
new=$(dtx snippet list --state pending | cut -c1-8)
do_ "dtx snippet diff $id $new"
do_ "dtx snippet approve $new"
do_ 'dtx run plan.json march.csv -o march.tidy.csv; cmp tidy.csv march.tidy.csv && echo the same'
do_ 'dtx stats'
