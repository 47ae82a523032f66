. "$LIB"
# What bash offers in a pipe: operations, parameters, and the columns that the step at the cursor reads.
printf 'city,quantity,unit price\nBern,3,1.5\n' > in.csv
cat > ask.sh <<'X'
eval "$("$DTX" help --completion bash)"
ask() { # the line; splits it into words as readline does
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	COMP_WORDS=($(sed -E "s/=/ = /g; s/'//g" <<< "$1"))
	[[ $1 == *' ' ]] && COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_dtx "$DTX" "${COMP_WORDS[COMP_CWORD]}" ''
	echo "$1|"; printf '   %s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}
ask 'dtx pi'
ask 'dtx pipe in.csv --print'
ask 'dtx pipe in.c'
ask 'dtx pipe in.csv -- grou'
ask 'dtx pipe in.csv -- head 1 then sor'
ask 'dtx pipe in.csv -- filter '
ask "dtx pipe in.csv -- filter 'quantity > 1 and ci"
ask 'dtx pipe in.csv -- filter city keep='
ask 'dtx pipe in.csv -- select city,'
ask 'dtx pipe in.csv -- sort -'
ask 'dtx pipe in.csv -- sort by=-q'
ask 'dtx pipe in.csv -- freq city sort='
ask 'dtx pipe in.csv -- rename '
ask "dtx pipe in.csv -- rename 'unit price=price' city=town then derive total='quantity * price' then select "
ask "dtx pipe in.csv -- group_by city n='count()' "
ask 'dtx pipe in.csv -- join in.c'
ask 'dtx pipe nosuch.csv -- select '
ask 'dtx pipe in.csv -- nosuch '
mkfifo f # is not opened: that would wait
ask 'dtx pipe f -- sort '
ask 'dtx pipe - -- sort '
ask 'dtx pipe in.csv -- join f city then sort '
X
bash ask.sh
