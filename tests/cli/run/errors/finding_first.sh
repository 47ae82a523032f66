. "$LIB"
# A run that ends for want of a snippet says first what is wrong and where, whole; the snippet is the last line.  The status
# is the finding's own, and 5 where only a snippet can do the step.
printf 'day,amount\n10/9/2016,1\n30/9/2016,x\n' > in.csv
ends() { plain | sed -E 's/dtx prompt [0-9a-f]{8}/dtx prompt ID/'; }
try() {
	echo "# $1"
	echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":\"in.csv\"}],\"steps\":[$1]}" > plan.json
	dtx run plan.json -o out.csv 2> err.txt && echo "exit 0" || echo "exit $?"
	ends < err.txt
}
try '{"op":"parse_date","cols":["day"]}'
try '{"op":"cast","types":{"amount":"int"}}'
try '{"op":"sort","by":"day"},{"op":"weekly_balance"}'
try '{"op":"filter","where":"frobnicate(amount) > 1"}'
try '{"op":"filter","where":"price > 1"}'
try '{"op":"filter","snippet":true,"note":"amounts that are numbers"}'
ls out.csv 2> /dev/null || echo "no output"
echo '# the same for programs: the finding, then the snippet'
try2() { dtx run plan.json "$@" --errors=json 2>&1 | sed -E 's/"message":"or let[^"]*"/"message":"..."/' | grep -o '^{"code":"[a-z_]*","severity":"[a-z]*"\|"exit":[0-9]*'; }
try2
echo '{"dtx":1,"steps":[{"op":"cast","types":{"amount":"int"}}]}' > plan.json
try2 in.csv
echo '# nothing is offered where a snippet is forbidden: by option, by setting, by the step'
dtx run plan.json in.csv --fallback off 2>&1 | ends
DTX_FALLBACK=off dtx run plan.json in.csv 2>&1 | ends
mkdir -p config/dtx
echo '{"fallback":"off"}' > config/dtx/config.json
XDG_CONFIG_HOME=$PWD/config dtx run plan.json in.csv 2>&1 | ends
echo '# an option wins over the setting, the setting over the plan that allows it'
XDG_CONFIG_HOME=$PWD/config dtx run plan.json in.csv --fallback step 2>&1 | ends | tail -1
echo '{"dtx":1,"fallback":"step","steps":[{"op":"weekly_balance"}]}' > plan.json
XDG_CONFIG_HOME=$PWD/config dtx run plan.json in.csv > /dev/null 2>&1 || echo "exit $?"
XDG_CONFIG_HOME=$PWD/config dtx check plan.json > /dev/null 2>&1 || echo "exit $?"
echo '# a plan that forbids it is heard before a setting that allows it'
echo '{"dtx":1,"fallback":"off","steps":[{"op":"weekly_balance"}]}' > plan.json
DTX_FALLBACK=step dtx run plan.json in.csv > /dev/null 2>&1 || echo "exit $?"
DTX_FALLBACK=sometimes dtx run plan.json in.csv || echo "exit $?"
