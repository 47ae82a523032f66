. "$LIB"
# Errors point into the argument; what an op takes comes from its table.
printf 'city,quantity,unit price\nBern,3,1.5\n' > in.csv
fails() { echo "\$ dtx pipe $*"; { dtx pipe "$@" 2>&1 && echo done || echo "exit $?"; } | plain; }
fails in.csv -- filter 'quantity > 0 and quantty < 9'
fails in.csv -- head 2 then group_by city n='count(' then head 1
fails in.csv -- group_by city n='summ(quantity)'
fails in.csv -- select city,quantity,prize
fails in.csv -- sort -quantiy
fails in.csv -- filtr 'quantity > 0'
fails in.csv -- group_by city n='count()' null_key=drop
fails in.csv -- head m=3
fails in.csv -- filter quantity=3
fails in.csv -- head three
fails in.csv -- select city quantity
fails in.csv -- fill city sideways
fails in.csv -- join rates
fails in.csv -- join rates.csv city
fails in.csv -- sort
fails in.csv -- derive x='quantity' x='city'
fails in.csv -- select cols=city cols=quantity
fails in.csv -- select '[city'
fails in.csv -- head 1 out=first
fails in.csv -- head 1 @ouput=first
fails in.csv -- cast city=int
fails in.csv filter 'quantity > 0'
fails in.csv
fails in.csv -- head 1 then
fails in.csv -- head 1 then then head 2
fails in.csv --
fails in.csv in.csv -- head 1
fails nosuch.csv -- head 1
fails in.csv -- filter 'quantty > 0' --print-plan
fails in.csv -- head 1 -o out.csv more
fails in.csv -- frobnicate 1 x=2 --fallback off
dtx pipe in.csv -- filter 'quantty > 0' --errors=json 2>&1 | grep -o '"at":"[^"]*","span":[^]]*]' || true
fails in.csv -- filter 'quantity == null' then head 1
# the hint names the option that mends the input
printf 'k,n\na,1\nb,n/a\nc,3\n' > words.csv
fails words.csv -- group_by k s='sum(n)'
dtx pipe words.csv --read null_values='["n/a"]' -- group_by k s='sum(n)'
