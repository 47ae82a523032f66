# Shell side of the harness: ok/not ok lines and the closing count.
t_passed=0
t_failed=0
t_skipped=0

t_ok() { # NAME
	t_passed=$((t_passed + 1))
	echo "ok - $1"
}

t_not_ok() { # NAME DETAILS
	t_failed=$((t_failed + 1))
	printf '%s\n' "$2" | head -40 | sed 's/^/# /'
	echo "not ok - $1"
}

t_skip() { # NAME REASON
	t_skipped=$((t_skipped + 1))
	echo "ok - $1 # SKIP $2"
}

t_done() {
	echo "$t_passed passed, $t_failed failed, $t_skipped skipped"
	[ "$t_failed" -eq 0 ]
}
