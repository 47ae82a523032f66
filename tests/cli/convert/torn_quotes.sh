# Records above the header that cannot be read have no cells: none is looked at
. "$LIB"
printf '"a" "b"\n"x1" TRUE "\tu"","PID","Mem Us\n"x2" ' > torn.csv
dtx convert torn.csv --repair --to csv -o - > /dev/null 2>&1
echo "exit $?"
# two texts of one column lack a quote: the line of names stays one
printf 'title\n"T0, et al.\n"T1, et al.\n"T2, et al."\n"T3, et al."\n' > two.csv
dtx convert two.csv --to csv 2>&1 || echo "exit $?"
dtx convert --repair -q two.csv --to csv
