. "$LIB"
# what pages of the manual say that commands print
for page in dtx-plan.5 dtx-tutorial.7; do
	mkdir $page
	(cd $page && HOME=$PWD /usr/bin/python3 -B "$FIX/../tests/cli/console.py" "$FIX/../man/$page")
done
