. "$LIB"
# The simplest reading that explains every line wins: what a delimiter would part in the lines below
# is text where the first line does not have it; where two readings do as well both are shown.
read_as() { # read_as NAME TEXT OPTIONS
	name=$1 text=$2
	shift 2
	printf "$text" > "$name"
	echo "== $name"
	dtx convert "$@" "$name" --to csv || echo "exit $?"
}
# names of rows without a name of their column
read_as index.csv ',fruit,colour\nr1,apple,red\nr2,pear,green\n'
read_as index_years.csv '"","fruit","since"\n"x","apple",1999\n"y","pear",2005\n'
read_as blank_names.csv ',,town\na,b,Bern\nc,d,Rome\n'
read_as blank_names.csv ',,town\na,b,Bern\nc,d,Rome\n' --repair
# the last row is wider
read_as wider.csv 'k,v\na,1\nb,2\nc,3,x,y\n'
read_as wider_list.csv 'word\none\ntwo;three\n'
# one column
read_as places.csv 'place\nBern, CH\nRome, IT\nParis, FR\n'
read_as labels.csv 'labels\na|b\nc|d\n'
read_as days.csv 'day\nMar 1, 2024\nMar 2, 2024\n'
read_as titled.csv 'town, land\nBern|x\nRome|y\n'
read_as links.csv 'link\nhttp://a.com/x?a=1&b=2\nhttp://b.com/y?q=1;z=2\n' --repair
# two readings
read_as places2.csv 'town, land\nBern, CH\nRome, IT\n'
read_as places2.csv 'town, land\nBern, CH\nRome, IT\n' --delimiter ', '
read_as names_only.csv 'a;b,c\n'
read_as tabs.tsv 'a,b\nx,y\nz,w\n'
read_as tabs.txt 'a\tb,c,d\n1\t2,3,4\nx\ty,z,w\n'
read_as tabs.csv 'a,b,c\td\nx,y,z\tw\n'
# marks between blanks
read_as colons.txt 'one : two : three\n1 : 2 : "3:4"\nx : y : z\n'
read_as colons.txt 'one :: two :: three\n1 :: 2 :: 3\n'
# more cells than names: none of the commas is decimal where numbers have points
read_as no_name.csv 'n,at,p,side\n1,1748736,0.5,a,0\n2,1748737,0.7,b,0\n'
read_as no_name.csv 'n,at,p,side\n1,1748736,0.5,a,0\n2,1748737,0.7,b,0\n' --repair
# the line that names the delimiter is no row
read_as sep.csv 'sep=|\n1|2\n3|4\n'
read_as sep.csv 'sep=|\n1|2\n3|4\n' --repair
read_as sep.csv 'sep=|\na|b\n3|4\n' --header-rows 1
read_as sep.csv 'sep=; \na;b\n3;4\n'
read_as sep.csv 'sep=;;;\na;b;c\n3;4;x\n'
# the byte 0
read_as zero.csv 'id,na\0me\n1,2\n'
printf 'id,fruit\n1\0,2\n3\0,4\n' > zeros.csv
dtx convert zeros.csv | tr '\0' @
# what stands above the header
read_as above.csv 'Report,,\nby Ann,,\nof May,,\nid,name,n\n1,a,5\n2,b,6\n3,c,7\n4,d,8\n'
dtx inspect above.csv > inspected || echo "exit $?"
echo '{"dtx":1,"inputs":[{"name":"main","path":"above.csv"}],"steps":[{"op":"limit","n":1}]}' > plan.json
dtx run plan.json
# pandas numbers columns and rows without names; two row names have none above values
printf ',0,1\n0,0.5,x\n1,2,y\n' | dtx convert -
printf ',,note\nx,0,a\ny,1,b\n' | dtx convert -
# a comma and a blank within the first cell are no unnamed column
printf 'when,n\nMay 1, 2024,5\nMay 2, 2024,6\n' > words.csv
dtx convert words.csv || echo "exit $?"
dtx convert --repair words.csv
# one number a line, with a decimal comma
read_as prices.csv 'preis\n1,50\n2,75\n'
read_as prices.tsv 'Wert (EUR)\n-1,5 \n3\n10,25\n'
# titles above names and a single row
read_as titles.csv 'Report\nby Ann\nid,name,n\n1,a,5\n'
read_as titles.csv 'Report\nby Ann\nid,name,n\n1,a,5\n' --delimiter ,
