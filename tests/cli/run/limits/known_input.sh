# a large input that nobody has written to since a run hashed it is not hashed again, and the record says whose hash it is
. "$LIB"
notes() { case $(stat -f -c %T .) in ext2/ext3 | xfs | btrfs | f2fs) ;; *) false ;; esac; }
if ! notes; then # memory, for example
	disk=$(mktemp -d /tmp/dtx-cli-XXXXXX)
	trap 'rm -rf "$disk"' EXIT
	cd "$disk"
fi
notes || { echo "SKIP the file system of $PWD does not note every write"; exit; }
command -v fsverity > /dev/null || { echo "SKIP fsverity is not installed"; exit; }
awk 'BEGIN { print "k,i,t"; for (i = 0; i < 250000; i++) print i % 7 "," i ",some text to make it longer " i % 977 }' > big.csv
[ "$(stat -c %s big.csv)" -gt 8388608 ] || echo small
echo '[{"op":"group_by","by":["k"],"agg":{"s":"sum(i)"}}]' > plan.json
truth() { # of the kind that is recorded
	case $1 in
	fsverity:*) echo "fsverity:$(fsverity digest --compact big.csv)" ;;
	*) sha256sum < big.csv | cut -d' ' -f1 ;;
	esac
}
run_id() { sed -n 's/.*"run_id": *"\([^"]*\)".*/\1/p' rec.json | head -1; }
go() { dtx run -q plan.json big.csv -o out.csv "$@" && dtx provenance out.csv --json > rec.json; }
said() { # whether the hash is right, and whose it is
	sha=$(sed -n '/"inputs"/,/"outputs"/s/^ *"sha": *"\([^"]*\)".*/\1/p' rec.json | head -1)
	[ "$sha" = "$(truth "$sha")" ] && printf "right%s, " "$(case $sha in fsverity:*) echo ' tree' ;; esac)"
	if grep -q '"sha_run"' rec.json; then
		echo "of the first: $(sed -n 's/.*"sha_run": *"\([^"]*\)".*/\1/p' rec.json | grep -c "$first")"
	else
		echo 'its own'
	fi
}
go; printf 'just made: '; said # nothing is known of it for two minutes
grep -q '"mark"' rec.json && echo 'marked too soon'
export DTX_INPUT_SETTLE=0
go; printf 'left alone: '; said
first=$(run_id)
go; printf 'again: '; said
go; printf 'and again: '; said
dtx provenance out.csv | plain | grep '^from' | sed -E 's/(fsverity )[0-9a-f]{8}/\1HASH/'
go --input-hash sha256; printf 'asked for: '; said
DTX_INPUT_SETTLE=never go; printf 'never: '; said
go --input-hash fsverity; printf 'the other: '; said
export DTX_INPUT_HASH=sha256
go; printf 'of another kind: '; said
first=$(run_id); go; printf 'of that kind now: '; said
unset DTX_INPUT_HASH
dtx why out.csv --row 2 --col s | grep -c 'big.csv'
dtx replay "$(run_id)" --into again | tail -1 | grep -o 'identical'
dtx store check > /dev/null && dtx verify > /dev/null && echo 'store holds'
go; first=$(sed -n 's/.*"sha_run": *"\([^"]*\)".*/\1/p' rec.json) # the replay had computed it
dtx store rebuild > /dev/null; go; printf 'rebuilt: '; said
# each way to write leaves a trace
touch -r big.csv stamp; printf 'K' | dd of=big.csv bs=1 seek=10 conv=notrunc 2> /dev/null; touch -r stamp big.csv
go; printf 'same size and time: '; said
cp -p big.csv copy.csv && mv copy.csv big.csv
go; printf 'a copy: '; said
/usr/bin/python3 -c 'import mmap
f = open("big.csv", "r+b"); m = mmap.mmap(f.fileno(), 0); m[10:11] = b"k"; m.flush()'
go; printf 'through a mapping: '; said
dtx run -q plan.json big.csv -o out.csv --input-hash sha512 2> /dev/null || echo "exit $?"
DTX_INPUT_SETTLE=soon dtx run plan.json big.csv -o out.csv 2>&1 | head -1
