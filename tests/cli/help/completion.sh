. "$LIB"
# what the shells offer: commands, verbs, options and their values, settings, operations, ids of runs and snippets
ask() { echo "$1|"; dtx help --complete "$1" | sed 's/^/   /' | head -${2:-6}; }
printf 'a\n1\n' > in.csv
dtx convert in.csv -o out.csv
for line in 'dtx co' 'dtx ' 'dtx config ' 'dtx config set ja' 'dtx config set approve ' 'dtx config set cache_only t' \
	'dtx store ' 'dtx store forget x' 'dtx snippet ap' 'dtx run ' 'dtx run p.json i' 'dtx run p.json --fall' \
	'dtx run p.json --fallback ' 'dtx run p.json --fallback=o' 'dtx convert in.csv --to js' 'dtx convert in.csv -o ' \
	'dtx convert --quiet ' 'dtx ops so' 'dtx help pip' 'dtx help filt' 'dtx compile --to ' 'dtx nosuch ' 'dtx doctor '; do
	ask "$line"
done
echo "ids:"
for command in provenance replay why 'store forget'; do dtx help --complete "dtx $command " | grep -cE '^[0-9a-f]{8}$'; done
dtx help --completion tcsh || echo "exit $?"
# the scripts themselves
for shell in bash zsh fish; do
	command -v $shell > /dev/null || { echo "$shell parses"; continue; }
	dtx help --completion $shell | $shell -n && echo "$shell parses"
done
mkdir bin && ln -s "$DTX" bin/dtx
if command -v fish > /dev/null; then
	PATH=$PWD/bin:$PATH XDG_CONFIG_HOME=$PWD fish -c 'dtx help --completion fish | source
		complete -C "dtx conv"; complete -C "dtx convert in.csv --to=js"; complete -C "dtx convert in."' | sort
else
	printf '%s\n' --to=json --to=jsonl convert in.csv
fi
