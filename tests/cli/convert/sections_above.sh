# A section of texts above the table is left out, and told
. "$LIB"
cat > broker.csv <<'TABLE'
Statement,Header,Field Name,Field Value
Statement,Data,BrokerName,Broker
Statement,Data,Title,Activity
Statement,Data,Period,"January 1, 2023"
Trades,Header,Symbol,Date,Quantity,Price,Proceeds,Comm
Trades,Data,AAPL,2023-01-03,10,125.07,-1250.7,-1
Trades,Data,MSFT,2023-01-04,5,229.1,-1145.5,-1
Trades,Data,GOOG,2023-01-05,2,88.1,-176.2,-1
Trades,Data,TSLA,2023-01-06,3,113.1,-339.3,-1
TABLE
dtx convert broker.csv --repair --to csv -o -
