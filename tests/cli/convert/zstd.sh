# Text that is packed with zstd, in and out, by the name and by the bytes.
printf 'a,b\n1,x\n2,"y, z"\n' > a.csv
"$DTX" convert a.csv -o o.csv.zst
"$DTX" convert o.csv.zst -o back.csv
cmp a.csv back.csv
"$DTX" convert - -o - < o.csv.zst
"$DTX" convert a.csv -o j.jsonl.zst
"$DTX" convert j.jsonl.zst -o -
"$DTX" why o.csv.zst --row 2 --col b | sed -n '1s/ run .*//p'
"$DTX" replay o.csv.zst | grep -o '^identical'
cat o.csv.zst o.csv.zst > two.csv.zst
"$DTX" convert two.csv.zst -o - | wc -l
"$DTX" pipe a.csv -o none.csv.zst -- filter 'a > 5'
"$DTX" convert none.csv.zst -o -
echo "--- files of zstd"
unpack() { /usr/bin/python3 -c 'import base64, sys; sys.stdout.buffer.write(base64.b64decode(sys.argv[1]))' "$1"; }
unpack KLUv/QRYQQAAYSxiCjEseApmAzAf > z.csv.zst
"$DTX" convert z.csv.zst -o -
unpack KLUv/QRYqQAAKLUv/QRYQQAAYSxiCjEseApmAzAftgzgBQ== > twice.csv.zst
"$DTX" convert twice.csv.zst -o - || echo "exit $?"
unpack KLUv/QRYXAAAGGEKMQEA+v85GAICABAxAgAQMQIAEDECABAxAgAQMQIAEDECABAxAgAQMQIAEDECABAxAgAQMQIAEDECABAxAgAQMQIAEDECABAxAgAQMQIAEDECABAxAgAQMQIAEDETNg4xfCgSyQ== > bomb.csv.zst
"$DTX" convert bomb.csv.zst -o - || echo "exit $?"
"$DTX" convert bomb.csv.zst --limit archive.total=2000000 -o - || echo "exit $?"
echo "--- damaged"
head -c 15 z.csv.zst > cut.csv.zst
"$DTX" convert cut.csv.zst -o - || echo "exit $?"
(head -c 18 z.csv.zst; printf 'ABCD') > bad.csv.zst
"$DTX" convert bad.csv.zst -o - || echo "exit $?"
printf '\050\265\057\375' > head.csv.zst
"$DTX" convert head.csv.zst -o - || echo "exit $?"
"$DTX" convert a.csv -o x.xlsx.zst || echo "exit $?"
ls -A | grep -v '^\.store'
