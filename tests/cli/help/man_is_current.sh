. "$LIB"
for p in dtx.1 dtx-plan.5 dtx-config.5 dtx-ops.7; do
	dtx help --man $p | cmp - "$FIX/../man/$p" && echo "$p is current"
done
dtx help --completion bash | bash -n && echo "completion parses"
# lines that troff does not fill, and that would be wider than a terminal of 80 columns
cat "$FIX"/../man/*.[0-9] | awk '/^\.nf/ { raw = 1 } /^\.fi/ { raw = 0 }
	raw { gsub(/\\&|\\/, ""); if (length > 73) print }'
