. "$LIB"
for e in '7 / 2' '-7 // 2' '-7 % 2' 'round(2.675, 2)' 'round(-2.5)' '2 ** 10' '1 + 2 * 3' '-2 ** 2' '1 / 0' 'null + 1' "concat('a', null, 1)"; do
	printf '%s = ' "$e"
	dtx eval "$e"
done
