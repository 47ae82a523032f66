. "$LIB"
# names that are not written as they stand: said; blanks at their ends are none of them
printf 'id,full   name,"two\nlines", n \n1,a,b,5\n' | dtx convert -
printf 'id, name ,n\n1,a,5\n' | dtx convert -
