# For the golden scripts: what changes from run to run becomes a fixed word.
dtx() { "$DTX" "$@"; }

# What this machine must have for a test; elsewhere it is skipped, with the reason.
skip() { echo "SKIP $*"; exit 0; }
needs_namespaces() { unshare -Ur true 2> /dev/null || skip "user namespaces are denied here"; }
needs_module() { /usr/bin/python3 -c "import $1" 2> /dev/null || skip "python3-$1 is not installed (make deps-test-all)"; }

# Run ids, hashes, times, versions and sizes of a provenance screen.
plain() {
	sed -E -e 's/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/RUNID/g' \
		-e 's/(sha256 )[0-9a-f]{8}/\1HASH/g' -e 's/(run +)[0-9a-f]{8}/\1RUNID/' \
		-e 's/(replay|verify|why|provenance|prompt|snippet show|approve|SNIPPET|snippet) [0-9a-f]{8,16}/\1 ID/g' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z/TIME/g' -e 's/[0-9]+\.[0-9]{3} s/N s/g' \
		-e 's/user [^ ]+( \(\$USER [^)]*\))?/user USER/g' -e 's/(plan ([^ ]+ to )?[^ ]+ )[0-9a-f]{8}/\1HASH/' -e 's/[0-9]+ threads?/N threads/' \
		-e 's/[0-9]+ MB/N MB/g' -e 's/; (userns|landlock)[a-z0-9 ]+;/; LAYERS;/' -e 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}( by)/DATE\1/' -e "s/(DATE by )$(id -un)/\1USER/" -e 's/(python|pandas|numpy) [0-9.]+/\1 V/g'
}

# What plan.json makes of $src (in.csv) for each size of batches and number of threads, counted.
every_size() {
	for rows in 1 7 1000 65536; do
		for threads in 1 2 8; do
			dtx run -q plan.json ${src:-in.csv} -o out.csv --batch-rows $rows --threads $threads \
				> /dev/null 2>&1 && cat out.csv || echo "exit $?"
		done
	done | sort | uniq -c | sed 's/^ *//'
}
at_every_size() {
	echo "$1" > plan.json
	echo "$1"
	every_size
}
