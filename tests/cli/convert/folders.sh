. "$LIB"
# A folder is one input, and folders KEY=VALUE are columns of it.
put() { mkdir -p "$(dirname "$1")" && printf 'id,v\n%s,%s\n' $2 $3 > "$1"; }
for y in 2023 2024; do
	put "sales/year=$y/region=Nord%20Ost/a.csv" 1 ${y}.5
	put "sales/year=$y/region=__HIVE_DEFAULT_PARTITION__/a.csv" 2 7
done
touch sales/_SUCCESS sales/.hidden
dtx convert sales --to csv
echo '--- partitions, and their types'
dtx convert sales --read partitions=true --source-file file --to csv
dtx convert sales --read partitions=true --read 'types={"year":"text","id":"float"}' --to jsonl
dtx convert 'sales/year=2023/*/a.csv' --read partitions=true --read extra=drop --read 'requires=["id","year"]' --to csv || echo "exit $?"
for values in '1 007' '1 2.5' '1 x' '2024-01-01 2024-02-30' 'true false' "it's %C3%A4"; do
	rm -rf guess
	for v in $values; do put "guess/k=$v/a.csv" 1 1; done
	dtx convert guess --read partitions=true -o guess.parquet --force -q && dtx inspect guess.parquet --json | tr -d ' \n' | grep -o '"name":"k"[^}]*"type":"[a-z]*"'
	dtx convert guess --read partitions=true --to csv | cut -d, -f3 | paste -s
done
echo '--- one file'
dtx convert 'sales/year=2024/region=Nord%20Ost/a.csv' --read partitions=true --to csv
echo '--- Parquet: why, why-not, replay'
for f in sales/*/*/a.csv; do dtx convert $f -o ${f%.csv}.parquet -q && rm $f; done
dtx pipe sales --read partitions=true -o sums.csv -q -- filter 'year > 2023' then group_by region 's=sum(v)'
dtx why sums.csv --row 1 --col s | plain
dtx why-not sums.csv 'sales/year=2023/region=Nord%20Ost/a.parquet!row 1' | plain
dtx why-not sums.csv 'sales/year=2024/region=Nord%20Ost/a.parquet!row 1' | plain
dtx why-not sums.csv 'a.parquet!row 1' || echo "exit $?"
dtx replay sums.csv | plain | tail -1 | cut -c 1-9
echo '--- refused'
refused() { dtx convert "$@" --to csv || echo "exit $?"; }
put mixed/year=1/a.csv 1 1
put mixed/month=2/a.csv 1 1
refused mixed --read partitions=true
put mixed/a.csv 1 1
refused mixed --read partitions=true
rm -r mixed/month=2 mixed/year=1
refused mixed --read partitions=true
put same/id=5/a.csv 1 1
refused same --read partitions=true
put twice/k=5/k=6/a.csv 1 1
refused twice --read partitions=true
put kinds/b.txt 1 1
put kinds/in/a.csv.gz 1 1
refused kinds
mkdir empty
refused empty
refused guess --read partitions=true --read 'types={"k":"int"}'
