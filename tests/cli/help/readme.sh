. "$LIB"
# what the README says that commands print, on its workbooks (.xlsx)
ln -s "$FIX" fixtures
/usr/bin/python3 -B "$FIX/../tests/cli/console.py" "$FIX/../README.md"
awk '{ if (length > wide) wide = length }
	END { print "at most 120 lines:", NR <= 120 ? "yes" : NR, "of 100 columns:", wide <= 100 ? "yes" : wide }' "$FIX/../README.md"
