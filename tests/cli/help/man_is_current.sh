. "$LIB"
for p in dtx.1 dtx-plan.5 dtx-config.5 dtx-ops.7; do
	dtx help --man $p | cmp - "$FIX/../man/$p" && echo "$p is current"
done
dtx help --completion bash | bash -n && echo "completion parses"
