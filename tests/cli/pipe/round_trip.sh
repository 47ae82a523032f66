. "$LIB"
# What --print-plan prints is a plan with the same result, also with several tables and files.
printf 'k,n\na,1\nb,2\na,3\n' > in.csv
printf 'key,w\na,7\nc,9\n' > 'o 2.csv'
cp in.csv more.csv
same() {
	dtx pipe "$@" > pipe.out || return
	dtx pipe "$@" --print-plan > plan.json
	dtx run plan.json > run.out
	cmp pipe.out run.out && cat pipe.out
}
same in.csv -- join 'o 2.csv' k=key how=left
same in.csv rates='o 2.csv' -- join rates k=key
same first=in.csv second=more.csv -- union second source_as=from then head 4
same in.csv -- union more.csv,more.csv then group_by k n='count()'
same in.csv -- group_by k s='sum(n)' @out=sums then join sums k @in=main @note='shares' then derive share='n / s' then select k,share
same '*r*.csv' --source-file file -- head 3
echo "# stdin"
dtx pipe -- head 1 < in.csv
dtx pipe - -- head 1 < in.csv
dtx pipe -- head 1 --print-plan > plan.json < in.csv
dtx run plan.json < in.csv
echo "# a table that is read from stdin"
dtx pipe in.csv -- join - k=key < 'o 2.csv'
echo "# files of one name in two folders, and stdin, are tables with names of their own"
mkdir x y
cp in.csv x/in.csv
cp in.csv y/in.csv
dtx pipe in.csv -- union x/in.csv,y/in.csv,- source_as=from then distinct from --print-plan | grep -E '"(name|path)"' | tr -d '\n '
