. "$LIB"
# a small table above a larger one is not read, and that is said; labels are no table
printf 'a,b\n1,2\n3,4\n\nx,y,z,w\n1,2,3,4\n5,6,7,8\n9,9,9,9\n1,1,1,1\n' > two.csv
dtx convert two.csv
dtx convert --range 1:3 two.csv
printf 'what,,sum\nin,,5\nout,,3\n\nid,name,n,m\n1,Ann,5,1\n2,Bob,6,2\n3,Eve,7,3\n' > gap.csv
dtx convert gap.csv
printf 'Account,12345\nPeriod,2024\nRows,2\n\nid,name,n\n1,Ann,5\n2,Bob,6\n3,Eve,7\n' | dtx convert -
