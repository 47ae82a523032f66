# Records above the header that cannot be read have no cells: none is looked at
. "$LIB"
printf '"a" "b"\n"x1" TRUE "\tu"","PID","Mem Us\n"x2" ' > torn.csv
dtx convert torn.csv --repair --to csv -o - > /dev/null 2>&1
echo "exit $?"
