"""Text files with one record that has a delimiter too many or too few, for dirty_csv.py: its cells belong
to the columns whose other cells look like them."""
HEAD = ["day", "time", "n", "code", "price", "kind", "text", "link", "note"]
ROWS = [
    ["03/01/2024", "08:15", "2", "AB-1201", "$12.50", "Oak Shelf", "Holds, as ever, books", "https://example.com/p/AB_1201.html", ""],
    ["04/01/2024", "09:30", "11", "CD-0077", "$7.25", "Lamp, Brass", "Warm light", "https://example.com/p/CD_0077.html", ""],
    ["05/01/2024", "10:00", "0", "EF-4410", "$120.00", "Stool", "Three legs, no wobble", "https://example.com/p/EF_4410.html", ""],
    ["06/01/2024", "11:45", "5", "GH-9034", "$33.10", "Table, 40\"", "Seats six", "https://example.com/p/GH_9034.html", ""],
    ["07/01/2024", "12:05", "1", "JK-5150", "$64.99", "Mirror", "Round, framed", "https://example.com/p/JK_5150.html", ""],
    ["08/01/2024", "13:20", "14", "LM-2468", "$9.75", "Rug, Wool", "Soft", "https://example.com/p/LM_2468.html", ""],
    ["09/01/2024", "14:40", "3", "NP-1357", "$18.00", "Hook", "Steel, black", "https://example.com/p/NP_1357.html", ""],
    ["10/01/2024", "15:55", "8", "QR-8080", "$45.45", "Bench", "Pine, oiled", "https://example.com/p/QR_8080.html", ""],
    ["11/01/2024", "16:10", "20", "ST-6006", "$5.05", "Coaster", "Cork", "https://example.com/p/ST_6006.html", ""],
]


def quoted(cell):
    return '"%s"' % cell.replace('"', '""') if "," in cell or '"' in cell else cell


def with_record(at, record):
    return "".join(",".join(map(quoted, r)) + "\n" if i != at else record + "\n" for i, r in enumerate([HEAD] + ROWS))


CASES = {}
for row, col in [(r, c) for r in (1, 2, 4, 6) for c in (1, 2, 3, 4, 5)] + [(1, 7), (3, 7), (2, 6), (3, 6)]:
    cells = [quoted(c) for c in ROWS[row - 1]]
    if row == 2 and col == 6:
        cells[6] = '"Warm, light"'
    want = [r[:] for r in ROWS]
    if (row, col) == (2, 6):
        want[1][6] = "Warm, light"
    CASES["a delimiter missing before cell %d of record %d" % (col + 1, row)] = (
        with_record(row, ",".join(cells[:col]) + ",".join(cells[col:])), HEAD, want)
for row in (1, 3, 5):
    for col in range(9):
        cells = [quoted(c) for c in ROWS[row - 1]]
        CASES["a delimiter too many before cell %d of record %d" % (col + 1, row)] = (
            with_record(row, ",".join(cells[:col] + [""] + cells[col:])), HEAD, ROWS)
CASES.update({
    "a delimiter too many in the header between names": (
        with_record(0, ",".join(HEAD[:3] + [""] + HEAD[3:])), HEAD, ROWS),
    "a header with blanks for delimiters": (with_record(0, " ".join(HEAD)), HEAD, ROWS),
    "a comma of a name without quotes": (
        "id,name,city,amount\n1,Ann Lee,Rome,5\n2,Bob Ray,Oslo,6\n3,Roe, Jane,Bern,7\n4,Li Wu,Linz,8\n",
        ["id", "name", "city", "amount"],
        [["1", "Ann Lee", "Rome", "5"], ["2", "Bob Ray", "Oslo", "6"], ["3", "Roe, Jane", "Bern", "7"], ["4", "Li Wu", "Linz", "8"]]),
    "words below a column of dates": (with_record(9, "%s\nFOOTNOTE\nPREPARED BY ANN" % ",".join(map(quoted, ROWS[8]))), HEAD, ROWS),
    "words below delimiters alone": ("a,b,c\nx,y,5\nz,w,6\n,,\nDraft\n", ["a", "b", "c"], [["x", "y", "5"], ["z", "w", "6"]]),
    # without evidence for a column, the record stays as it is
    "a last cell missing": (
        "id,name,city,amount\n1,Ann,Rome,5\n2,Bob,Oslo\n3,Eve,Bern,7\n4,Li,Linz,8\n", ["id", "name", "city", "amount"],
        [["1", "Ann", "Rome", "5"], ["2", "Bob", "Oslo", ""], ["3", "Eve", "Bern", "7"], ["4", "Li", "Linz", "8"]]),
    "a sentence of as many words as there are columns": (
        "id,day,who\n1,2024-01-02,Ann Lee\n2,2024-01-03,Bob Ray\n3,2024-01-04,Eve Roe\nMade by hand\n", ["id", "day", "who"],
        [["1", "2024-01-02", "Ann Lee"], ["2", "2024-01-03", "Bob Ray"], ["3", "2024-01-04", "Eve Roe"]]),
    "a stray quote beside doubled ones": (
        'id\twhat\n1\t"said ""no"""\n2\tplain\n3\t"open\n4\tmore\n', ["id", "what"],
        [["1", 'said "no"'], ["2", "plain"], ["3", '"open'], ["4", "more"]]),
    "blanks behind delimiters but the last": ("id, n, who,\n1, 2, Ann,\n3, 4, Bob,\n", ["id", "n", "who"], [["1", "2", "Ann"], ["3", "4", "Bob"]]),
    "doubled quotes in a short record": (
        'n,what,city,who\n1,ok,Rome,Ann\n2,"said ""no"" there",Oslo\n3,fine,Bern,Eve\n4,so,Linz,Li\n', ["n", "what", "city", "who"],
        [["1", "ok", "Rome", "Ann"], ["2", 'said "no" there', "Oslo", ""], ["3", "fine", "Bern", "Eve"], ["4", "so", "Linz", "Li"]]),
    "words of the cells of a short record": (
        "a,b,c,d,e\nx,p q,1,5,6\ny,r s,2,5,6\nz,t u v w\ns,t u,3,5,6\n", list("abcde"),
        [["x", "p q", "1", "5", "6"], ["y", "r s", "2", "5", "6"], ["z", "t u v w", "", "", ""], ["s", "t u", "3", "5", "6"]]),
    "a number in a column of words": (
        "id,name,city\n1,Ann,Rome\n2,007,Oslo\n3,Eve,Bern\n4,Li\n", ["id", "name", "city"],
        [["1", "Ann", "Rome"], ["2", "007", "Oslo"], ["3", "Eve", "Bern"], ["4", "Li", ""]]),
    "inches without quotes": (
        'id,size,other,n\n1,5" wide,3" deep,7\n2,6"x4",2" deep,8\n3,7" wide,1" deep,9\n', ["id", "size", "other", "n"],
        [["1", '5" wide', '3" deep', "7"], ["2", '6"x4"', '2" deep', "8"], ["3", '7" wide', '1" deep', "9"]]),
    "one more cell that is not empty": (
        "a,b,c\n1,x,5\n2,y,6,z\n3,w,7\n", ["a", "b", "c", "column_4"],
        [["1", "x", "5", ""], ["2", "y", "6", "z"], ["3", "w", "7", ""]]),
})
