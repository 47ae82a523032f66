# a table of exec has the identity that an input of run has
. "$LIB"
{ echo 'k,t'; yes 'a,some text' 2>/dev/null | head -n 800000; } > big.csv
echo 'print(len(tables["main"]))' > count.py
for how in auto sha256; do
	DTX_INPUT_HASH=$how dtx exec count.py --table main=big.csv
	dtx provenance | grep '^from' | grep -o 'fsverity\|sha256'
done
