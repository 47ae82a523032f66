. "$LIB"
# names are padded to their width on the screen, not to their number of bytes
printf 'Verkäufer,n\nÄnne,1\nÄnne,2\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main"}],"steps":[{"op":"derive","set":{"t":"concat(Verkäufer, text(n))"}}]}' > plan.json
dtx run -q plan.json in.csv -o out.csv
dtx why out.csv C3 | sed 's/run [0-9a-f]*$/run RUN/'
