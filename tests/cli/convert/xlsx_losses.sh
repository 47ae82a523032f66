. "$LIB"
# What a workbook cannot hold is written as text, or said to be rounded: each kind once.
cat > in.csv <<'EOF'
i,f,day,at
1914310000010100016,0.30000000000000004,2024-01-02,2024-01-02T03:04:05.123456
-9007199254740993,1.7976931348623157e308,1899-12-31,2024-01-02T03:04:05.25
4111111111111111,5e-324,9999-12-31,1850-01-01T00:00:00
EOF
dtx convert in.csv -o out.xlsx
dtx convert out.xlsx -q --to csv
