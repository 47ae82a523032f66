. "$LIB"
# A value and a name are cut for a finding, never inside a character.
for n in 38 39 40; do
	printf "name,n\n%0${n}déé  é,1\nb,2\n" 0 > long.csv
	dtx inspect long.csv | grep ' text with '
	printf "%0${n}déé,n\n,1\n,2\n" 0 > head.csv
	dtx inspect head.csv --header-rows 1 | grep ' empty column'
done
