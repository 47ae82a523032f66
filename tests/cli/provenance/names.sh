. "$LIB"
# A conversion is named by its files; the user is the one of the process, whatever $USER says.
printf 'a\n1\n' > in.csv
dtx convert in.csv out.xlsx
dtx convert in.csv - > piped.csv
echo '{"dtx":1,"name":"Daily","steps":[{"op":"limit","n":1}]}' > plan.json
dtx run plan.json in.csv -o limited.csv
dtx provenance log | cut -c 52-
dtx provenance log --json | grep '"plan"'
me() { grep '^run' | sed "s/user $(id -un)/user ME/; s/.*  user/user/; s/ [0-9a-f]*$//"; }
dtx provenance out.xlsx | me
USER=$(id -un) dtx convert in.csv same.csv
dtx provenance same.csv | me
USER=nosuchuser dtx convert in.csv other.csv
dtx provenance other.csv | me
dtx replay out.xlsx > /dev/null
dtx provenance log --limit 1 | cut -c 52-
dtx provenance out.xlsx --openlineage | grep -o '"name":"default/[^"]*"'
