. "$LIB"
# what pages of the manual say that commands print
/usr/bin/python3 -B "$FIX/../tests/cli/console.py" "$FIX/../man/dtx-plan.5"
