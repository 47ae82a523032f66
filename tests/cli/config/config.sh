. "$LIB"
# settings are shown with their sources, and changed one by one
export XDG_CONFIG_HOME="$PWD/conf"
dtx config path
dtx config get jail_wall
dtx config get author || echo "no author is set: $?"
dtx config set jail_wall 60
dtx config set max_cost 0.5
dtx config set cache_only true
dtx config set privacy.deny '*salary*,iban'
cat conf/dtx/config.json
dtx config list | grep -v default
DTX_JAIL_WALL=5 dtx config list | grep jail_wall
DTX_JAIL_WALL=5 dtx config set jail_wall 7
dtx config list --json | grep -A 2 max_cost
dtx config unset jail_wall
dtx config unset privacy.deny
dtx config get jail_wall
dtx config get privacy.deny || echo "nothing is denied: $?"
# what is refused leaves the file as it was
for words in 'set jail_wal 5' 'set jail_wall 0' 'set store_max 5' 'set approve yes' 'set locked approve' \
	'set cache_only maybe' 'set max_cost -1' 'set jail_wall' 'get' 'show' 'get jail_wal'; do
	dtx config $words || echo "$words: $?"
done
cat conf/dtx/config.json
# without HOME there is no file of the user
unset XDG_CONFIG_HOME
unset HOME
dtx config path || echo "path: $?"
dtx config set jail_wall 5 || echo "set: $?"
dtx config get jail_wall
printf 'a\n1\n' > in.csv
dtx convert in.csv -o out.csv && cat out.csv
