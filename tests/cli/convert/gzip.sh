# A gzip file is read as what it holds, from a file and from a pipe; damage and bombs are told.
printf 'k,v\n1,1.50\n2,x\n' | gzip -c > a.csv.gz
"$DTX" convert a.csv.gz -o -
"$DTX" convert - -o - < a.csv.gz
head -c 25 a.csv.gz > cut.gz
"$DTX" convert cut.gz -o - || echo "exit $?"
head -c 20000000 /dev/zero | gzip -9 > zeros.gz
"$DTX" convert zeros.gz -o - || echo "exit $?"
gzip -c a.csv.gz > twice.gz
"$DTX" convert twice.gz -o - || echo "exit $?"
