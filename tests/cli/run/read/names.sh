. "$LIB"
# A file whose name is no UTF-8 cannot stand in a record; its content can be read.
name=$(printf 'k\344se.csv')
printf 'a,b\n1,2\n' > "$name"
dtx convert "$name" --to csv || echo "exit $?"
dtx inspect --plan "$name" --errors=json || echo "exit $?"
dtx convert - --to csv < "$name"
