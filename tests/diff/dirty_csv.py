#!/usr/bin/python3
"""Reads dirty text files, whose table is known by construction, with `dtx convert --repair`.

usage: dirty_csv.py DTX
A case is the bytes of a file and the table that a person reads in it: header and rows, as text."""
import csv
import os
import re
import subprocess
import sys
import tempfile

import dirty_more
import dirty_office
import dirty_public
import dirty_shift
import dirty_signs
import dirty_tools
import dirty_wild

HEAD = ["id", "name", "city", "amount"]
ROWS = [["1", "Ann", "Rome", "10.50"], ["2", "Bob", "Paris, France", "7"], ["3", "Zoë", "Köln", "-3.25"],
        ["4", "O'Brien", "", "1000"], ["5", "Eve", "Oslo", "0.1"]]


def cell(text, sep, mode):
    if mode == "all" or sep in text or '"' in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def text(rows=None, sep=",", eol="\n", head=HEAD, mode="min"):
    table = ([head] if head else []) + (ROWS if rows is None else rows)
    return eol.join(sep.join(cell(c, sep, mode) for c in r) for r in table) + eol


def changed(row, col, value):
    rows = [r[:] for r in ROWS]
    rows[row][col] = value
    return rows


def padded(rows, extra=1):
    return [r + [""] * extra for r in rows]


LINES = text().split("\n")[:-1]
ASCII = [[c.encode("ascii", "ignore").decode() for c in r] for r in ROWS]
WIDE = HEAD + ["column_5"]

CASES = {
    "texts of the same width below numbers": ("id,v\n1,2\n3,4\n\nname,city\nAnn,Rome\nBob,Oslo\n", ["id", "v"],
                                              [["1", "2"], ["3", "4"]]),
    "percentages that name numbers": ("name,n,25%,50%\na,9,1,2\nb,7,3,4\n", ["name", "n", "25%", "50%"],
                                      [["a", "9", "1", "2"], ["b", "7", "3", "4"]]),
    "rows without values in a table": ("code,note\nA1,x\n7,y\n,\n8,z\n,\nB2,why\n9,z\n,\n10,q\n,\nC3,s\n,\n11,t\n12,u\n",
                                       ["code", "note"], [r.split(",") for r in "A1,x 7,y , 8,z , B2,why 9,z , 10,q , C3,s , "
                                                          "11,t 12,u".split(" ")]),
    "commas in comments above names": ("# station: 123\n# lat: 1.5, lon: 3\nday,max,min\n2024-01-01,5,-2\n2024-01-02,M,-3\n",
                                       ["day", "max", "min"], [["2024-01-01", "5", "-2"], ["2024-01-02", "M", "-3"]]),
    "names in the last comment": ("# made by x, 2024\n# id,name,v\n1,Ann,2\n2,Bob,3\n", ["# id", "name", "v"],
                                  [["1", "Ann", "2"], ["2", "Bob", "3"]]),
    "more lines of prose than rows": ("A line of prose, which has a comma.\n" * 12 + "\nid,name,v\n1,Ann,2\n2,Bob,3\n",
                                      ["id", "name", "v"], [["1", "Ann", "2"], ["2", "Bob", "3"]]),
    "clean": (text(), HEAD, ROWS),
    "semicolons": (text(sep=";"), HEAD, ROWS),
    "tabs": (text(sep="\t"), HEAD, ROWS),
    "pipes": (text(sep="|"), HEAD, ROWS),
    "carets": (text(sep="^"), HEAD, ROWS),
    "comma and blank": (text(ASCII[:1] + ASCII[2:3] + ASCII[4:], sep=", "), HEAD, ASCII[:1] + ASCII[2:3] + ASCII[4:]),
    "blanks": ("  id     x  y\n   1   2.5  3\n  20  13.5  4\n 300   7.0  5\n", ["id", "x", "y"],
               [["1", "2.5", "3"], ["20", "13.5", "4"], ["300", "7.0", "5"]]),
    "decimal commas": (text([[r[0], r[1], r[2], r[3].replace(".", ",")] for r in ROWS], sep=";"), HEAD,
                       [[r[0], r[1], r[2], r[3].replace(".", ",")] for r in ROWS]),
    "crlf": (text(eol="\r\n"), HEAD, ROWS),
    "cr": (text(eol="\r"), HEAD, ROWS),
    "mixed line ends": ("\r\n".join(LINES[:3]) + "\r" + "\n".join(LINES[3:]), HEAD, ROWS),
    "mark at the begin": (b"\xef\xbb\xbf" + text().encode(), HEAD, ROWS),
    "mark inside": ((text(ROWS[:2]) + "\ufeff" + text(ROWS[2:], head=None)).encode(), HEAD, ROWS),
    "utf-16": (text().encode("utf-16"), HEAD, ROWS),
    "utf-16 without a mark": (text().encode("utf-16-le"), HEAD, ROWS),
    "windows-1252": (text().encode("cp1252"), HEAD, ROWS),
    "windows-1251": (text(changed(0, 1, "Иван")[:1] + ASCII[1:]).encode("cp1251"), HEAD,
                     changed(0, 1, "Иван")[:1] + ASCII[1:]),
    "one line of another encoding": (b"\n".join(x.encode("cp1252" if i == 3 else "utf-8") for i, x in
                                                enumerate(LINES + ["6,Zürich,Zoë,1"])) + b"\n", HEAD,
                                     ROWS + [["6", "Zürich", "Zoë", "1"]]),
    "a byte that is nothing": ((text(changed(0, 1, "Añn")).encode()).replace(b"Rome", b"R\xffome"), HEAD,
                               [["1", "Añn", "R\ufffdome", "10.50"]] + ROWS[1:]),
    "all quoted": (text(mode="all"), HEAD, ROWS),
    "apostrophes quote": ("\n".join(",".join("'" + c + "'" for c in r) for r in [HEAD] + ASCII[:3] + ASCII[4:]),
                          HEAD, ASCII[:3] + ASCII[4:]),
    "quotes inside": (text(changed(1, 1, '5" "big" pipe')).replace('"5"" ""big"" pipe"', '5" "big" pipe'), HEAD,
                      changed(1, 1, '5" "big" pipe')),
    "escaped quotes": (text(changed(1, 1, 'say "hi"')).replace('""', '\\"'), HEAD, changed(1, 1, 'say "hi"')),
    "text behind a quote": (text(changed(4, 1, "X")).replace("X", '"big" one'), HEAD, changed(4, 1, '"big" one')),
    "a quote that never closes": (text(changed(2, 1, "X")).replace("X", '"Zoë'), HEAD, changed(2, 1, '"Zoë')),
    "lines in a cell": (text(changed(1, 1, "two\nlines")), HEAD, changed(1, 1, "two\nlines")),
    "short and long rows": ("\n".join(LINES[:2] + ["9,x", "8,y,z,1,more"] + LINES[2:]), WIDE,
                            padded(ROWS[:1]) + [["9", "x", "", "", ""], ["8", "y", "z", "1", "more"]] +
                            padded(ROWS[1:])),
    "delimiters at the ends": ("\n".join(x + "," if i else x for i, x in enumerate(LINES)), HEAD, ROWS),
    "title": ("Sales, first quarter\n\n" + text(), HEAD, ROWS),
    "report lines": ("Account,12345\nPeriod,2024\n\n" + text(), HEAD, ROWS),
    "footer": (text() + "Total,1014.6\n", HEAD, ROWS + [["Total", "1014.6", "", ""]]),
    "header again": ("\n".join(LINES[:3] + LINES[:1] + LINES[3:]), HEAD, ROWS),
    "no header": (text(head=None), ["column_1", "column_2", "column_3", "column_4"], ROWS),
    "a number in the header": (text(head=HEAD[:3] + ["1"]), HEAD[:3] + ["1"], ROWS),
    "names twice and none": (text(head=["id", "id", "", "amount"]), ["id", "id_2", "column_3", "amount"], ROWS),
    "header alone": (text([]), HEAD, []),
    "one column": ("name\nAnn\nBob\n", ["name"], [["Ann"], ["Bob"]]),
    "blank lines": ("\n\n".join(LINES) + "\n\n\n", HEAD, ROWS),
    "a table below": (text() + "\nkey,value\n1,2\n3,4\n", HEAD, ROWS),
    "many columns": (",".join("c%d" % i for i in range(3000)) + "\n" + ",".join("1" for _ in range(3000)),
                     ["c%d" % i for i in range(3000)], [["1"] * 3000]),
}

HEAD3 = ["id", "name", "amt"]
ROWS3 = [["1", "Ann", "2.5"], ["2", "Bob", "3"]]
BODY3 = "1,Ann,2.5\n2,Bob,3\n"
CHINESE = [["编号", "姓名"], ["1", "王小明"], ["2", "李华"]]


def lines(rows, sep=","):
    return "".join(sep.join(r) + "\n" for r in rows)


def coded(encoding, *rows):
    return lines(rows).encode(encoding), list(rows[0]), [list(r) for r in rows[1:]]


CASES.update({
    "two marks": (b"\xef\xbb\xbf\xef\xbb\xbf" + lines([HEAD3] + ROWS3).encode(), HEAD3, ROWS3),
    "an end-of-file mark": (b"id,name,amt\r\n1,Ann,2.5\r\n2,Bob,3\r\n\x1a", HEAD3, ROWS3),
    "filled up with NULs": (lines([HEAD3] + ROWS3).encode() + bytes(300), HEAD3, ROWS3),
    "utf-16 cut in a unit": (b"\xff\xfe" + lines([HEAD3] + ROWS3).encode("utf-16-le") + b"\0", HEAD3, ROWS3),
    "comments in the table": ("# made by a tool\nid,name,amt\n1,Ann,2.5\n# checked\n2,Bob,3\n", HEAD3, ROWS3),
    "rules and a count": (" id | name | amt\n----+------+-----\n1|Ann|2.5\n2|Bob|3\n(2 rows)\n\n", HEAD3, ROWS3),
    "notes below": (lines([HEAD3] + ROWS3) + "\nSource: the office, 2024\nNote: estimates\n", HEAD3, ROWS3),
    "a rule and notes below": (lines([HEAD3] + ROWS3) + "______\nQuelle: Amt\n© 2024\n", HEAD3, ROWS3),
    "a titled table below": ("Table 1\n" + lines([HEAD3] + ROWS3) + "\nTable 2\nx,y\n1,2\n3,4\n", HEAD3, ROWS3),
    "escaped delimiters": ("id,name,amt\n1,Paris\\, Texas,2.5\n2,Bob,3\n", HEAD3,
                           [["1", "Paris, Texas", "2.5"], ["2", "Bob", "3"]]),
    "doubled bars": (lines([HEAD3] + ROWS3, "||"), HEAD3, ROWS3),
    "doubled colons": (lines([HEAD3] + ROWS3, "::"), HEAD3, ROWS3),
    "wide semicolons": (lines([HEAD3] + ROWS3, "\uff1b"), HEAD3, ROWS3),
    "blanks around quotes": ('"id" ,"name" ,"amt"\n"1" ,"Ann, B" ,"2.5"\n"2" ,"Bob" ,"3"\n', HEAD3,
                             [["1", "Ann, B", "2.5"], ["2", "Bob", "3"]]),
    "quotes inside enclosing ones": ('id,name,amt\n1,"5" pipe",2.5\n2,"10" x 20" frame",3\n3,"plain",4\n', HEAD3,
                                     [["1", '5" pipe', "2.5"], ["2", '10" x 20" frame', "3"], ["3", "plain", "4"]]),
    "lines quoted as a whole": ('"id,name,amt"\n"1,""Ann, B"",2.5"\n"2,Bob,3"\n', HEAD3,
                                [["1", "Ann, B", "2.5"], ["2", "Bob", "3"]]),
    "a header with another delimiter": ("id;name;amt\n" + BODY3, HEAD3, ROWS3),
    "one row with another delimiter": ("id,name,amt\n1,Ann,2.5\n2;Bob;3\n3,Eve,4\n4,Li|x,5\n", HEAD3,
                                       ROWS3 + [["3", "Eve", "4"], ["4", "Li|x", "5"]]),
    "a quote in the header": ('id,"name,amt\n1,"Ann, B",2.5\n2,"Bob",3\n', ["id", '"name', "amt"],
                              [["1", "Ann, B", "2.5"], ["2", "Bob", "3"]]),
    "names over two rows": ("id,name,\n,,amt\n" + BODY3, HEAD3, ROWS3),
    "years above equal names": (",2023,,2024,\nid,a,b,a,b\nN,1,2,3,4\nS,5,6,7,8\n",
                                ["id", "2023 a", "2023 b", "2024 a", "2024 b"],
                                [["N", "1", "2", "3", "4"], ["S", "5", "6", "7", "8"]]),
    "too few names": ("id,name\n1,Ann,x,y\n2,Bob,z,w\n", ["id", "name", "column_3", "column_4"],
                      [["1", "Ann", "x", "y"], ["2", "Bob", "z", "w"]]),
    "row numbers": ("name,amt\n" + BODY3, ["column_1", "name", "amt"], ROWS3),
    "row names": ('"mpg","cyl"\n"Mazda RX4",21,6\n"Datsun 710",22.8,4\n', ["column_1", "mpg", "cyl"],
                  [["Mazda RX4", "21", "6"], ["Datsun 710", "22.8", "4"]]),
    "joined files": (lines([HEAD3] + ROWS3) * 2, HEAD3, ROWS3 * 2),
    "sentences in one column": ("description\nred, blue and green\none, two\nthree\n", ["description"],
                                [["red, blue and green"], ["one, two"], ["three"]]),
    "windows-1250": coded("cp1250", ["id", "jméno", "město"], ["1", "Jiří", "Plzeň"], ["2", "Žofie", "Třebíč"]),
    "iso-8859-2": coded("iso8859_2", ["id", "imię", "miasto"], ["1", "Łukasz", "Łódź"], ["2", "Żaneta", "Kraków"]),
    "windows-1254": coded("cp1254", ["id", "şehir"], ["1", "İstanbul"], ["2", "Muğla"], ["3", "Eskişehir"]),
    "windows-1257": coded("cp1257", ["id", "miestas"], ["1", "Šiauliai"], ["2", "Klaipėda"], ["3", "Panevėžys"]),
    "windows-1256": coded("cp1256", ["id", "اسم"], ["1", "محمد"], ["2", "فاطمة"]),
    "degrees": coded("latin1", ["t", "temp °C"], ["1", "20"], ["2", "21"]),
    "a currency": coded("cp1252", ["item", "price"], ["A", "5 €"], ["B", "7 €"]),
    "gb18030": coded("gbk", *CHINESE),
    "big5": coded("big5", ["編號", "姓名"], ["1", "王小明"], ["2", "陳美麗"]),
    "euc-kr": coded("euc-kr", ["번호", "이름"], ["1", "김철수"], ["2", "이영희"]),
    "euc-jp": coded("euc-jp", ["番号", "名前"], ["1", "たなか"], ["2", "スズキ太郎"]),
    "cp866": coded("cp866", ["номер", "имя"], ["1", "Иван"], ["2", "Пётр Кузнецов"]),
})

CLOCK = [["day", "from", "link"], ["1", "08:00", "http://a.org/1"], ["2", "09:15", "http://a.org/2"]]
NINE = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
CASES.update({
    "doubled tabs": (lines([HEAD3] + ROWS3, "\t\t"), HEAD3, ROWS3),
    "doubled semicolons": (lines([HEAD3] + ROWS3, ";;"), HEAD3, ROWS3),
    "doubled colons between times": (lines(CLOCK, "::"), CLOCK[0], CLOCK[1:]),
    "tabs in words": (lines([HEAD3] + ROWS3, "\\t"), HEAD3, ROWS3),
    "bars with blanks": (" id | name | amt \n----+------+-----\n  1 | Ann  | 2.5 \n 20 | Bob  |   3 \n(2 rows)\n", HEAD3,
                         [["1", "Ann", "2.5"], ["20", "Bob", "3"]]),
    "a delimiter too many in the header": (lines([NINE[:4] + [""] + NINE[4:]]) + "1,2,3,4,5,6,7,8,x\n" +
                                           "1,2,3,4,5,6,7,8,the quick brown fox jumps over a lazy dog\n" * 2,
                                           NINE, [list("12345678") + ["x"]] + [list("12345678") + [
                                               "the quick brown fox jumps over a lazy dog"]] * 2),
    "a quoted header with another delimiter": ('id;"full; name";"amt"\n' + BODY3, ["id", "full; name", "amt"], ROWS3),
    "inches in quotes": ('id,size,n\n1,"Table, 48"",5\n2,"5"","6"\n3,"plain, or not",7\n', ["id", "size", "n"],
                         [["1", 'Table, 48"', "5"], ["2", '5"', "6"], ["3", "plain, or not", "7"]]),
    "names of the west": coded("cp1252", ["id", "name"], ["1", "Zoë"], ["2", "Søren"], ["3", "Émile"], ["4", "Jürgen"]),
})


CASES.update({
    "typographic quotes": coded("cp1252", ["id", "name", "city"], ["1", "“Ann”", "Rome – IT"],
                                ["2", "O’Neil", "Paris"]),
    "an apostrophe of Word": coded("cp1252", ["id", "text"], ["1", "it’s"], ["2", "Ann’s"], ["3", "l’eau"]),
    "macintosh": coded("mac_roman", ["id", "name"], ["1", "García"], ["2", "Martínez"], ["3", "Núñez"], ["4", "“Zoë”"]),
    "utf-32 without a mark": coded("utf-32-le", HEAD3, *ROWS3),
    "utf-32, big end first": coded("utf-32-be", HEAD3, *ROWS3),
})


QUOTED = ['id,"name",n', '1,"Ann, B",5', '2,"Bob ""X""",6', '3,"Eve",7', "4,Joe's,8"]
QUOTES = [["1", "Ann, B", "5"], ["2", 'Bob "X"', "6"], ["3", "Eve", "7"], ["4", "Joe's", "8"]]


def quoted(row):
    return "\n".join(QUOTED + [row]) + "\n"


CASES.update({
    "one row in apostrophes": (quoted("'5','Li','9'"), HEAD3[:2] + ["n"], QUOTES + [["'5'", "'Li'", "'9'"]]),
    "a comma in apostrophes": (quoted("5,'Li''s, Lo',9"), HEAD3[:2] + ["n"], QUOTES + [["5", "Li's, Lo", "9"]]),
    "a header in apostrophes": (quoted("5,Li,9").replace('id,"name",n', "'id','name','n'"), HEAD3[:2] + ["n"],
                                QUOTES + [["5", "Li", "9"]]),
    "one row with backslashes": (quoted('5,"Li \\"Lo\\", L",9'), HEAD3[:2] + ["n"], QUOTES + [["5", 'Li "Lo", L', "9"]]),
    "one row quoted as a whole": (quoted('"5,""Li, Lo"",9"'), HEAD3[:2] + ["n"], QUOTES + [["5", "Li, Lo", "9"]]),
    "apostrophes of its own": (quoted("5,'t Hooft,9"), HEAD3[:2] + ["n"], QUOTES + [["5", "'t Hooft", "9"]]),
})
CASES["names over three rows"] = (
    ",2023,,2024,\n,Q1,Q2,Q1,Q2\nregion,n,n,n,n\nN,1,2,3,4\nS,5,6,7,8\n",
    ["region", "2023 Q1 n", "2023 Q2 n", "2024 Q1 n", "2024 Q2 n"],
    [["N", "1", "2", "3", "4"], ["S", "5", "6", "7", "8"]])
DRAWN = [["id", "name"], ["1", "Ann"], ["20", "Bob"]]
CASES.update({
    "a box of a database": ("+----+------+\n| id | name |\n+----+------+\n|  1 | Ann  |\n| 20 | Bob  |\n+----+------+\n"
                            "2 rows in set (0.00 sec)\n", DRAWN[0], DRAWN[1:]),
    "markdown": ("A report\n\n| id | name |\n|---:|:-----|\n| 1 | Ann |\n| 20 | B\\|ob |\n", DRAWN[0],
                 [["1", "Ann"], ["20", "B|ob"]]),
    "markdown of dashes": ("| id | name |\n|----|------|\n| 1 | -- |\n| -- | -- |\n| 20 | Bob |\n", DRAWN[0],
                           [["1", "--"], ["--", "--"], ["20", "Bob"]]),
    "rules of an outline": ("| id | name |\n|----+------|\n| 1 | Ann |\n|----+------|\n| 20 | Bob |\n", DRAWN[0],
                            DRAWN[1:]),
    "a box of lines": ("┌────┬──────┐\n│ id │ name │\n├────┼──────┤\n│  1 │ Ann  │\n│ 20 │ Bob  │\n└────┴──────┘\n",
                       DRAWN[0], DRAWN[1:]),
    "bars around lines": ("|id|name|\n|1|Ann|\n|20|Bob|\n", DRAWN[0], DRAWN[1:]),
    "a list of a ledger": ("10.01.2024     List     1\n\n-----------\n|ID|NAME  |\n-----------\n|1 |Ann   |\n|20|Bob   |\n"
                           "-----------\n", ["ID", "NAME"], DRAWN[1:]),
    "columns below dashes": ("\nSQL> select * from t;\n\n ID NAME       CITY\n--- ---------- ----\n  1 Ann        Rom\n"
                             " 20 Bob Brown  Köln\n 30            Bern\n\n3 rows selected.\n\nSQL> spool off\n",
                             ["ID", "NAME", "CITY"], [["1", "Ann", "Rom"], ["20", "Bob Brown", "Köln"],
                                                      ["30", "", "Bern"]]),
    "dashes below dashes": (" ID NAME\n--- ----\n  1 Ann\n --   --\n 20 Bob\n--- ----\n 21 Sum\n", ["ID", "NAME"],
                            [["1", "Ann"], ["--", "--"], ["20", "Bob"], ["21", "Sum"]]),
    "a row of dashes": ("id,name\n--,----\n1,Ann\n20,Bob\n\n(2 rows affected)\n", DRAWN[0], DRAWN[1:]),
    "separators of ASCII": (b"id\x1fname\x1e1\x1fAnn\x1e20\x1fBob\x1e", DRAWN[0], DRAWN[1:]),
    "separators and line ends": (b"id\x1fname\x1e\n1\x1fAnn\x1e\n20\x1fBob\x1e\n", DRAWN[0], DRAWN[1:]),
    "marks together": (lines([HEAD3] + ROWS3, "~|~"), HEAD3, ROWS3),
    "a caret in bars": (lines([HEAD3] + ROWS3, "|^|"), HEAD3, ROWS3),
    "first cells that are empty": ("a,,b,c\n1,,2,3\n4,,5,6\n", ["a", "column_2", "b", "c"],
                                   [["1", "", "2", "3"], ["4", "", "5", "6"]]),
    "a row of dashes that are values": ("a,b\n-,-\n1,2\n--,--\n", ["a", "b"], [["-", "-"], ["1", "2"], ["--", "--"]]),
    "markdown in a cell": ('id,note\n1,"\n| a | b |\n|---|---|\n' + "| 5 | x |\n" * 9 + '"\n2,y\n', ["id", "note"],
                           [["1", "\n| a | b |\n|---|---|\n" + "| 5 | x |\n" * 9], ["2", "y"]]),
    "a row of dashes in a cell": ('id,note\n1,"x\na,b,c\n--,--,--\n1,2,3"\n2,y\n', ["id", "note"],
                                  [["1", "x\na,b,c\n--,--,--\n1,2,3"], ["2", "y"]]),
    "dashes below a blank line": ("a,b\n1,2\n\n3,4\n--,--\n5,6\n", ["a", "b"],
                                  [["1", "2"], ["3", "4"], ["--", "--"], ["5", "6"]]),
    "bars around a long file": ("|id|name|\n" + "".join("|%d|n%d|\n" % (i, i) for i in range(9000)), ["id", "name"],
                                [[str(i), "n%d" % i] for i in range(9000)]),
    "bars around quotes": ('|id|name|\n|1|"Ann"|\n|20|"Bob"|\n', DRAWN[0], DRAWN[1:]),
    "dashes that are values": ("id,a,b\n1,--,--\n2,5,--\n", ["id", "a", "b"], [["1", "--", "--"], ["2", "5", "--"]]),
})


PEOPLE = (["id", "name", "n"], [["1", "Ann", "5"], ["2", "Bob", "6"], ["3", "Eve", "7"]])
WITH = "\n".join(",".join(row) for row in [PEOPLE[0]] + PEOPLE[1]) + "\n"
CASES.update({
    "line ends NEL": (WITH.replace("\n", "\x85"), *PEOPLE),
    "line separators": (WITH.replace("\n", "\u2028"), *PEOPLE),
    "paragraph separators": (WITH.strip().replace("\n", "\u2029"), *PEOPLE),
    "a line separator inside a cell": ("id,name\n1,a\u2028b\n2,c\n", ["id", "name"], [["1", "a\u2028b"], ["2", "c"]]),
    "a quoted sep line": ('"sep=,"\n' + WITH, *PEOPLE),
    "sep names a tab": ("sep=\t\nid\tname\n1\ta,b;c\n2\td,e;f\n", ["id", "name"], [["1", "a,b;c"], ["2", "d,e;f"]]),
    "one cell in typographic quotes": ("id,name\n1,“Ann”\n2,Bob\n", ["id", "name"], [["1", "“Ann”"], ["2", "Bob"]]),
    "some cells in guillemets": ("«a»,n,«c»,«d»\n«x»,5,«y»,«z»\n«u»,6,«v»,«w»\n", ["«a»", "n", "«c»", "«d»"],
                                 [["«x»", "5", "«y»", "«z»"], ["«u»", "6", "«v»", "«w»"]]),
    "thorns that enclose half": ("þaþ,þbþ\nþ1þ,þ\nþ2þ,þ\n", ["þaþ", "þbþ"], [["þ1þ", "þ"], ["þ2þ", "þ"]]),
    "sep names a letter": ("sep=e\nname\nvalue\nother\n", ["sep=e"], [["name"], ["value"], ["other"]]),
    "EOF below the rows": (WITH + "EOF\n", *PEOPLE),
    "an EOF record of its own width": (WITH + "EOF,x,y\n", PEOPLE[0], PEOPLE[1] + [["EOF", "x", "y"]]),
    "pages with a header each": ("\fItem   Qty\n-----  ---\nApple    1\nPear    12\n\fItem   Qty\n-----  ---\nFig      3\n",
                                 ["Item", "Qty"], [["Apple", "1"], ["Pear", "12"], ["Fig", "3"]]),
    "dates as names": ("item;01.01.2024;02.01.2024\na;1,5;2,5\nb;3,5;4,5\n", ["item", "01.01.2024", "02.01.2024"],
                       [["a", "1,5", "2,5"], ["b", "3,5", "4,5"]]),
    "dates as values": ("a;01.01.2024\nb;02.01.2024\nc;03.01.2024\n", ["column_1", "column_2"],
                        [["a", "01.01.2024"], ["b", "02.01.2024"], ["c", "03.01.2024"]]),
    "comments above blanks": ("#Software: some long name of it\n#Version: 1.0\n2024-01-02 10:00 GET /a\n"
                              "2024-01-02 10:01 GET /b\n2024-01-02 10:02 PUT /c\n",
                              ["column_1", "column_2", "column_3", "column_4"],
                              [["2024-01-02", "10:00", "GET", "/a"], ["2024-01-02", "10:01", "GET", "/b"],
                               ["2024-01-02", "10:02", "PUT", "/c"]]),
    "columns and decimal commas": ("Nr   Name        Umsatz\n001  Müller AG  1.234,50\n002  Schmidt       12,00\n"
                                   "003  Öz & Co      100,75\n", ["Nr", "Name", "Umsatz"],
                                   [["001", "Müller AG", "1.234,50"], ["002", "Schmidt", "12,00"], ["003", "Öz & Co", "100,75"]]),
    "indented lines": ("  id, name, n\n  1, Ann, 5\n  2, Bob, 6\n  3, Eve, 7\n", *PEOPLE),
    "UTF-16 in Cyrillic": (b"\xfe\xff" + "имя\tгород\nАня\tПермь\nБорис\tТула\n".encode("utf-16-be"), ["имя", "город"],
                           [["Аня", "Пермь"], ["Борис", "Тула"]]),
    "EBCDIC": (WITH.encode("cp037"), *PEOPLE),
    "EBCDIC with NEL": (WITH.encode("cp500").replace(b"\x25", b"\x15"), *PEOPLE),
    "pounds": ("date,in\n1 Jan,£10.00\n2 Jan,£5.00\n".encode("cp1252"), ["date", "in"],
               [["1 Jan", "£10.00"], ["2 Jan", "£5.00"]]),
})

CASES.update({
    "a long preamble of sentences": ("Company: Acme, Inc.\nReport: Sales, by region, monthly\n" +
                                     "".join("Note %d: a text, with a comma\n" % i for i in range(10)) + "\n" + WITH +
                                     lines(PEOPLE[1]) * 4, PEOPLE[0], PEOPLE[1] * 5),
    "a sentence above two columns": ("The list has all values, by key; made by a tool.\nkey,value\nk1,5\nk2,7\n",
                                     ["key", "value"], [["k1", "5"], ["k2", "7"]]),
})


STAMPS = ["2024-03-31T00:30:00", "2024-03-31T01:30:00", "2024-10-27T02:30:00"]
SHELF = [["Name", "City", "Phone"], ["Ann Lee", "Rome", "123-456"], ["Bob", "", "555-000"], ["Eve Stone", "Oslo", ""],
         ["Mo Kay", "New York", "777-888"]]
CASES.update({
    "one column of moments": (lines([["ts"]] + [[t] for t in STAMPS]), ["ts"], [[t] for t in STAMPS]),
    "one column of times": (lines([["at"]] + [[t[11:]] for t in STAMPS]), ["at"], [[t[11:]] for t in STAMPS]),
    "one column of addresses": ("mac\naa:bb:cc:dd:ee:01\naa:bb:cc:dd:ee:02\n", ["mac"],
                                [["aa:bb:cc:dd:ee:01"], ["aa:bb:cc:dd:ee:02"]]),
    "colons": ("root:x:0:/root\nann:x:1000:/home/ann\n", ["column_1", "column_2", "column_3", "column_4"],
               [["root", "x", "0", "/root"], ["ann", "x", "1000", "/home/ann"]]),
    "two columns and a unit separator": ("id\x1fname\n1\x1fAnn, B\n2\x1fBob\n", ["id", "name"],
                                         [["1", "Ann, B"], ["2", "Bob"]]),
    "sentences above the table": ("This report lists, for every store, the sales.\nAll amounts in EUR; rounded.\n\n"
                                  "Store,Jan,Feb,Mar\nA,1,2,3\nB,4,5,6\n", ["Store", "Jan", "Feb", "Mar"],
                                  [["A", "1", "2", "3"], ["B", "4", "5", "6"]]),
    "a fence": ("```csv\n" + WITH + "```\n", *PEOPLE),
    "doubled comment marks": ("##TITLE=Sample\n##X=nm\n##Y=A\n400.0\t0.1\n401.0\t0.2\n402.0\t0.3\n",
                              ["column_1", "column_2"], [["400.0", "0.1"], ["401.0", "0.2"], ["402.0", "0.3"]]),
    "names behind a comment mark": ("##v=4\n##info=<a,b>\n#CHROM\tPOS\tINFO\nchr1\t100\tD=1;A=2\nchr2\t200\t.\n",
                                    ["#CHROM", "POS", "INFO"], [["chr1", "100", "D=1;A=2"], ["chr2", "200", "."]]),
    "names of a log": ("#Software: some server\r\n#Fields: date time status\r\n2024-01-02 00:00:01 200\r\n"
                       "2024-01-02 00:00:02 500\r\n2024-01-02 00:00:03 304\r\n", ["date", "time", "status"],
                       [["2024-01-02", "00:00:0%d" % i, c] for i, c in ((1, "200"), (2, "500"), (3, "304"))]),
    "lines of blanks": ("id,name\n   \n1,Ann\n\t\n2,Bob\n   \n", ["id", "name"], [["1", "Ann"], ["2", "Bob"]]),
    "an empty cell at a bar": (" id | name \n----+------\n  1 | Ann\n  2 | \n(2 rows)\n", ["id", "name"],
                               [["1", "Ann"], ["2", ""]]),
    "fixed places": ("".join("%-12s%-12s%s\n" % tuple(row) for row in SHELF), SHELF[0], SHELF[1:]),
    "fixed places, one blank apart": ("STATION     DATE     TMAX NAME\nUSW00094728 20240101   44 NEW YORK PARK\n"
                                      "USW00014739 20240102    5 BOSTON\nUSW00014739 20240103   11 BOSTON\n",
                                      ["STATION", "DATE", "TMAX", "NAME"],
                                      [["USW00094728", "20240101", "44", "NEW YORK PARK"],
                                       ["USW00014739", "20240102", "5", "BOSTON"],
                                       ["USW00014739", "20240103", "11", "BOSTON"]]),
    "names of two words at fixed places": ("Filesystem    Used Use% Mounted on\n/dev/sda1  5242880  55% /\n"
                                           "tmpfs         1072   1% /run\n",
                                           ["Filesystem", "Used", "Use%", "Mounted on"],
                                           [["/dev/sda1", "5242880", "55%", "/"], ["tmpfs", "1072", "1%", "/run"]]),
    "a name above the end of two words": ("id                 time amount\n 1  2024-01-02 10:00:00    5.5\n"
                                          " 2  2024-01-03 11:30:00  125.0\n", ["id", "time", "amount"],
                                          [["1", "2024-01-02 10:00:00", "5.5"], ["2", "2024-01-03 11:30:00", "125.0"]]),
    "dashes above a sum": ("Item        Qty   Price\nBolt          5    1.20\nNut M4       17   10.00\n"
                           "         ------  ------\nTotal        22   11.20\n", ["Item", "Qty", "Price"],
                           [["Bolt", "5", "1.20"], ["Nut M4", "17", "10.00"], ["Total", "22", "11.20"]]),
    "lines below the names quoted as a whole": ('id,name,amt\n"1,Ann,2.5"\n"2,""Bob, B"",3"\n"3,Eve,4"\n', HEAD3,
                                                [["1", "Ann", "2.5"], ["2", "Bob, B", "3"], ["3", "Eve", "4"]]),
    "one cell a row": ('id,name\n"Ann"\n"Bob"\n', ["id", "name"], [["Ann", ""], ["Bob", ""]]),
    "tabs that align": ("Name\t\tQty\tPrice\nBolt\t\t5\t1.20\nHexagon nut\t9\t0.30\n", ["Name", "Qty", "Price"],
                        [["Bolt", "5", "1.20"], ["Hexagon nut", "9", "0.30"]]),
    "tabs around empty cells": ("a\tb\tc\n1\t\t2\n3\t4\t5\n6\t7\t\n", ["a", "b", "c"],
                                [["1", "", "2"], ["3", "4", "5"], ["6", "7", ""]]),
    "a blank column beside each": ("a,,c,,e\n1,,2,,3\n4,,5,,6\n", ["a", "column_2", "c", "column_4", "e"],
                                   [["1", "", "2", "", "3"], ["4", "", "5", "", "6"]]),
    "a titled table of texts below": ("Sales\nitem,qty\nA,1\nB,2\n\nReturns\nitem,reason\nA,broken\nC,late\n",
                                      ["item", "qty"], [["A", "1"], ["B", "2"]]),
    "Arabic commas": ("id\u060cname\u060cn\n1\u060cAnn\u060c5\n2\u060cBob\u060c6\n3\u060cEve\u060c7\n", *PEOPLE),
    "windows-1255": coded("cp1255", ["שם", "עיר"], ["דוד", "חיפה"], ["רות", "ירושלים"]),
    "windows-1251 in small letters": coded("cp1251", ["имя", "город"], ["сок", "дан"], ["лук", "объём"]),
    "windows-1255 without a last line end": ("שם,עיר\nדוד,חיפה\nרות,ירושלים".encode("cp1255"), ["שם", "עיר"],
                                             [["דוד", "חיפה"], ["רות", "ירושלים"]]),
    "pairs of units": ("id,mood\n1,\U0001f44d\U0001f3fd\n2,\U0001f469\u200d\U0001f467\n".encode("utf-16"), ["id", "mood"],
                       [["1", "\U0001f44d\U0001f3fd"], ["2", "\U0001f469\u200d\U0001f467"]]),
    "separators, line ends and a blank line": (b"id\x1fname\x1e\r\n1\x1fAnn\x1e\r\n20\x1fBob\x1e\r\n\r\n", DRAWN[0],
                                               DRAWN[1:]),
    "line separators and a blank line": (WITH.replace("\n", "\u2028") + "\n\n", *PEOPLE),
    "a wide line below the table": ("a,b,c\n1,2,3\n4,5,6\n\nfooter,text,that,is,long,here\n",
                                    ["a", "b", "c", "column_4", "column_5", "column_6"],
                                    [["1", "2", "3", "", "", ""], ["4", "5", "6", "", "", ""],
                                     ["footer", "text", "that", "is", "long", "here"]]),
    "verses": ("the text of a song\nhas  lines\nthat stand as they may fall\nand end\n", ["the text of a song"],
               [["has  lines"], ["that stand as they may fall"], ["and end"]]),
})


SHOP = [["day", "item", "n", "price"], ["2018-09-24", "Chair", "3", "12.50"], ["2018-09-25", "Table", "1", "99.00"],
        ["2018-09-26", "Lamp", "12", "7.25"], ["2018-09-27", "Desk", "5", "150.00"]]
SALES = (SHOP[0], SHOP[1:])
CASES.update({
    "line ends CR CR LF": (lines(SHOP).replace("\n", "\r\r\n"), *SALES),
    "line ends LF CR": (lines(SHOP).replace("\n", "\n\r"), *SALES),
    "one row of tabs": (lines(SHOP[:3]) + lines(SHOP[3:4], "\t") + lines(SHOP[4:]), *SALES),
    "a delimiter missing in one row": (lines(SHOP).replace("Table,1", "Table1"), SHOP[0],
                                       [SHOP[1], ["2018-09-25", "Table1", "99.00", ""]] + SHOP[3:]),
    "broken bars": (lines(SHOP, "\u00a6"), *SALES),
    "a header each page": (lines(SHOP[:3] + SHOP[:1] + SHOP[3:4] + SHOP[:1] + SHOP[4:]), *SALES),
    "units below the names": ("time,speed\n(s),(m/s)\n0,1.5\n1,2.5\n", ["time", "speed"],
                              [["(s)", "(m/s)"], ["0", "1.5"], ["1", "2.5"]]),
    "a bank's statement": ("Umsatz;Datei vom: 02.01.2024\n\nIBAN;DE12 3456\nSaldo;1.234,56;EUR\n\n"
                           "Buchung;Valuta;Zweck;Betrag;Währung\n29.12.2023;29.12.2023;Einkauf 12,50;-12,50;EUR\n"
                           "28.12.2023;28.12.2023;Gehalt;2.500,00;EUR\n27.12.2023;27.12.2023;Gebühr;-7,00;EUR\n",
                           ["Buchung", "Valuta", "Zweck", "Betrag", "Währung"],
                           [["29.12.2023", "29.12.2023", "Einkauf 12,50", "-12,50", "EUR"],
                            ["28.12.2023", "28.12.2023", "Gehalt", "2.500,00", "EUR"],
                            ["27.12.2023", "27.12.2023", "Gebühr", "-7,00", "EUR"]]),
    "debit and credit": ("Date;Libellé;Débit;Crédit\n01/12/2023;CARTE 29/11;-45,90;\n"
                         "02/12/2023;SALAIRE;;2 100,00\n", ["Date", "Libellé", "Débit", "Crédit"],
                         [["01/12/2023", "CARTE 29/11", "-45,90", ""], ["02/12/2023", "SALAIRE", "", "2 100,00"]]),
    "a backslash before the closing quote": ('id,path,n\n1,"C:\\a, b\\",5\n2,"x",6\n', ["id", "path", "n"],
                                             [["1", "C:\\a, b\\", "5"], ["2", "x", "6"]]),
    "an open quote above closed ones": ('id,name,n\n1,"Ann,5\n2,"Bob, C",6\n3,"Eve",7\n', ["id", "name", "n"],
                                        [["1", '"Ann', "5"], ["2", "Bob, C", "6"], ["3", "Eve", "7"]]),
    "JSON between tabs": ('id\tdata\n1\t{"a": 1, "b": [1,2]}\n2\t{"a": 2, "b": []}\n', ["id", "data"],
                          [["1", '{"a": 1, "b": [1,2]}'], ["2", '{"a": 2, "b": []}']]),
    "texts as formulas": ('id,v\n="001",5\n="002",6\n', ["id", "v"], [['="001"', "5"], ['="002"', "6"]]),
    "a NUL in a cell": (b"id,name\n1,A\0nn\n2,Bob\n", ["id", "name"], [["1", "A\0nn"], ["2", "Bob"]]),
    "a grid": ("+----+------+\n| id | name |\n+====+======+\n| 1  | Ann  |\n+----+------+\n| 20 | Bob  |\n"
               "+----+------+\n", DRAWN[0], DRAWN[1:]),
    "rules of equals signs": ("===  =====\nid   name\n===  =====\n1    Ann\n20   Bob C\n===  =====\n", ["id", "name"],
                              [["1", "Ann"], ["20", "Bob C"]]),
    "names and values of two words": ("CONTAINER ID   IMAGE     STATUS         NAMES\n"
                                      "abc123         nginx     Up 2 hours     web\n"
                                      "def456         redis     Up 3 minutes   cache\n",
                                      ["CONTAINER ID", "IMAGE", "STATUS", "NAMES"],
                                      [["abc123", "nginx", "Up 2 hours", "web"],
                                       ["def456", "redis", "Up 3 minutes", "cache"]]),
    "koi8-r": coded("koi8-r", ["номер", "имя"], ["1", "Анна Петрова"], ["2", "Борис"], ["3", "Елена"]),
    "windows-1253": coded("cp1253", ["κωδικός", "πόλη"], ["1", "Αθήνα"], ["2", "Θεσσαλονίκη"], ["3", "Πάτρα"]),
})


LATE = [[f"A{i}", str(i % 9 + 1), "%02d" % (i % 100), "3"] for i in range(6000)] + [["Z", "foo", "bar", "4"]]
CASES.update({
    "decimal commas but for a row far below": (lines([["item", "price", "n"]] + LATE),
                                               ["item", "price", "n", "column_4"], LATE),
})

PROSE = ["This file lists all the stores of the firm", "It was made by hand from several old lists",
         "All the amounts are in euro and not cents", "What is not known is left out of the list",
         "Questions about it go to the main office", "The list is made at night and then checked"]
OUTLINE = ["id | name | n", "--- | :---: | --:", "1 | Ann | 5", "2 | Bob | 6"]
CASES.update({
    "prose above a small table": ("\n".join(PROSE) + "\n\n" + lines([HEAD3] + ROWS3), HEAD3, ROWS3),
    "prose right above a small table": ("\n".join(PROSE) + "\n" + lines([HEAD3] + ROWS3), HEAD3, ROWS3),
    "prose with semicolons above decimal commas": (
        ", and; ".join(PROSE[:3]) + "\n" + ", yes.\n".join(PROSE) + "\nid;name;n\n1;Ann;5,5\n2;Bob;6,1\n",
        ["id", "name", "n"], [["1", "Ann", "5,5"], ["2", "Bob", "6,1"]]),
    "prose above a table of texts": ("\n".join(PROSE) + "\n\na,b\nx,Ann\ny,Bob\n", PROSE[:1],
                                     [[t] for t in PROSE[1:]] + [[], ["a,b"], ["x,Ann"], ["y,Bob"]]),
    "numbered prose above a small table": ("".join("Line %d of the terms and conditions of use.\n" % i for i in range(9)) +
                                           "\n" + lines([HEAD3] + ROWS3), HEAD3, ROWS3),
    "numbered prose above texts": ("".join("Line %d of the terms and conditions of use.\n" % i for i in range(9)) +
                                   "\na,b\nx,Ann\ny,Bob\n", ["Line 0 of the terms and conditions of use."],
                                   [["Line %d of the terms and conditions of use." % i] for i in range(1, 9)] +
                                   [[], ["a,b"], ["x,Ann"], ["y,Bob"]]),
    "a rule between bars": ("id|name\n--|----\n1|Ann\n20|Bob\n", DRAWN[0], DRAWN[1:]),
    "a rule between bars and a count": ("id|name\n---|---\n1|Ann\n20|Bob\n(2 rows)\n", DRAWN[0], DRAWN[1:]),
    "markdown without outer bars": ("\n".join(OUTLINE) + "\n", ["id", "name", "n"], [["1", "Ann", "5"], ["2", "Bob", "6"]]),
    "dashes between bars below two records": ("a|b\n1|2\n--|--\n3|4\n", ["a", "b"], [["1", "2"], ["--", "--"], ["3", "4"]]),
    "the listing of a folder": (" Directory of C:\\data\r\n\r\n01/02/2024  10:00 AM    <DIR>          .\r\n"
                                "01/03/2024  11:30 AM             1,234 a.csv\r\n               1 File(s)          1,234 bytes\r\n"
                                "               1 Dir(s)  10,000,000 bytes free\r\n", ["Directory of C:\\data"],
                                [[], ["01/02/2024  10:00 AM    <DIR>          ."],
                                 ["01/03/2024  11:30 AM             1,234 a.csv"],
                                 ["               1 File(s)          1,234 bytes"],
                                 ["               1 Dir(s)  10,000,000 bytes free"]]),
    "a row that ends in its first words": ("name,city,n\nJohn van Dam,Rome,3\nMax von Mu,Oslo,1\nAnn de la\n",
                                           ["name", "city", "n"], [["John van Dam", "Rome", "3"], ["Max von Mu", "Oslo", "1"],
                                                                   ["Ann de la", "", ""]]),
    "words below a table of dates": ("day,from,n\n2024-01-02,09:10,3\n2024-01-03,10:35,1\nmade by a tool\n", ["day", "from", "n"],
                                     [["2024-01-02", "09:10", "3"], ["2024-01-03", "10:35", "1"]]),
    "euc-jp without kana": coded("euc-jp", ["番号", "氏名", "都市"], ["1", "山田太郎", "東京"], ["2", "鈴木花子", "大阪"]),
    "iso-8859-5": coded("iso8859_5", ["номер", "имя", "город"], ["1", "Анна Петрова", "Москва"], ["2", "Борис", "Казань"]),
    "Ukrainian": coded("cp1251", ["місто", "ціна"], ["Київ", "їжа"], ["Львів", "Ґанок"]),
    "Serbian": coded("cp1251", ["град", "цена"], ["Његош", "Ћуприја"], ["Љубица", "Ђорђе"]),
})


CASES.update({
    "years as names behind none": (",2020,2021,2022\nIT,1,2,3\nFR,4,5,6\n", ["column_1", "2020", "2021", "2022"],
                                   [["IT", "1", "2", "3"], ["FR", "4", "5", "6"]]),
    "numbers that count as names": ("name,1,2,3\nAnn,5.5,6,7\nBob,8,9,4.5\n", ["name", "1", "2", "3"],
                                    [["Ann", "5.5", "6", "7"], ["Bob", "8", "9", "4.5"]]),
    "one record in quotes as a whole": ('id,name,n\n1,Ann,5\n"2,Bob,6"\n3,Eve,7\n4,Li,8\n', ["id", "name", "n"],
                                        [["1", "Ann", "5"], ["2", "Bob", "6"], ["3", "Eve", "7"], ["4", "Li", "8"]]),
    "two columns and wide commas": ("\uff0c".join(CHINESE[0]) + "\n" + "\uff0c".join(CHINESE[1]) + "\n" + "\uff0c".join(CHINESE[2]) +
                                    "\n", CHINESE[0], CHINESE[1:]),
    "names in a comment above numbers": ("# made by a tool\n# x y\n  1.0  2.0\n 20.0  3.5\n  3.0  4.5\n", ["x", "y"],
                                         [["1.0", "2.0"], ["20.0", "3.5"], ["3.0", "4.5"]]),
    "decimal commas in one column": ("wert\n1,5\n3,5\n10,25\n", ["wert"], [["1,5"], ["3,5"], ["10,25"]]),
    "a name too few above numbers": ("a,b\n5,7,x\n3,4,y\n", ["a", "b", "column_3"], [["5", "7", "x"], ["3", "4", "y"]]),
    "a name too few behind a name": ("item,n\nA,21,6\nB,22,8\n", ["item", "n", "column_3"], [["A", "21", "6"], ["B", "22", "8"]]),
    "numbers that count in each row": ("a,1,2,3\nb,1,2,3\nc,1,2,3\n", ["column_%d" % i for i in range(1, 5)],
                                       [[x, "1", "2", "3"] for x in "abc"]),
})


CASES.update({
    "moments in the first row": ("2024-01-01 10:00:00,123;INFO;start\n2024-01-01 10:00:01,456;WARN;slow\n"
                                 "2024-01-01 10:00:02,789;INFO;end\n", ["column_1", "column_2", "column_3"],
                                 [["2024-01-01 10:00:00,123", "INFO", "start"], ["2024-01-01 10:00:01,456", "WARN", "slow"],
                                  ["2024-01-01 10:00:02,789", "INFO", "end"]]),
    "dates with slashes in the first row": ("31/12/2023;rent\n01/01/2024;food\n02/01/2024;fuel\n", ["column_1", "column_2"],
                                            [["31/12/2023", "rent"], ["01/01/2024", "food"], ["02/01/2024", "fuel"]]),
    "times as names": ("id;08:00;09:30\nA;1,5;2\nB;3,5;4\n", ["id", "08:00", "09:30"], [["A", "1,5", "2"], ["B", "3,5", "4"]]),
    "commas as even as tabs": ("freq,unit,geo\t2020\t2021\nA,EUR,AT\t1.5 b\t:\nA,EUR,BE\t2.5\t3.1 p\nA,EUR,DE\t: c\t4.0\n",
                               ["freq,unit,geo", "2020", "2021"], [["A,EUR,AT", "1.5 b", ":"], ["A,EUR,BE", "2.5", "3.1 p"],
                                                                   ["A,EUR,DE", ": c", "4.0"]]),
    "two end-of-file marks": (b"id,name\r\n1,Ann\r\n20,Bob\r\n\x1a\x1a", DRAWN[0], DRAWN[1:]),
    "the end of a page": ("id,name\n1,Ann\n\x0c\nid,name\n20,Bob\n", DRAWN[0], DRAWN[1:]),
    "iso-2022-jp": coded("iso2022_jp", ["番号", "氏名"], ["1", "山田"], ["2", "鈴木"]),
    "two columns of quotes and carets": ('"id"^"name"\n"1"^"A^n"\n"2"^"Bob"\n', ["id", "name"], [["1", "A^n"], ["2", "Bob"]]),
    "two aligned columns": ("  id   val\n   1  10.5\n  20   7.0\n 300  12.0\n", ["id", "val"],
                            [["1", "10.5"], ["20", "7.0"], ["300", "12.0"]]),
})


SPECTRUM = "nm,Abs\n400.0,0.112\n401.0,0.113\n402.0,0.115\n403.0,0.118\n"
MEASURED = (["nm", "Abs"], [["400.0", "0.112"], ["401.0", "0.113"], ["402.0", "0.115"], ["403.0", "0.118"]])
CASES.update({
    "labels above what was measured": ("Instrument,Spectro 5000\nOperator,Ann\nRun,3\n\n" + SPECTRUM, *MEASURED),
    "a small table above a smaller one": ("item,n\nA,1\nB,2\nC,3\n\nyear,n\n2023,5\n2024,7\n", ["item", "n"],
                                          [["A", "1"], ["B", "2"], ["C", "3"]]),
    "sections": ("[Header],,\nVersion,4,\n[Reads],,\n151,,\n[Data],,\nid,index,n\nS1,ACGT,5\nS2,TTGA,7\n", ["id", "index", "n"],
                 [["S1", "ACGT", "5"], ["S2", "TTGA", "7"]]),
    "sections of tabs": ("[Header]\nMethod\tA\nRun\t5\n[Data]\n" + SPECTRUM.replace(",", "\t"), *MEASURED),
    "one section below a table": ("id,name\n1,Ann\n[note],\n20,Bob\n", DRAWN[0], [DRAWN[1], ["[note]", ""], DRAWN[2]]),
    "two columns quoted as a whole": ('"id,name"\n"1,Ann"\n"20,Bob"\n', DRAWN[0], DRAWN[1:]),
    "blanks between two numbers": ("1 2.5\n3 -4\n\n5 6e3\n", ["column_1", "column_2"], [["1", "2.5"], ["3", "-4"], ["5", "6e3"]]),
    "names above two numbers": ("x y\n1.0 2.5\n3.0 -4\n", ["x", "y"], [["1.0", "2.5"], ["3.0", "-4"]]),
    "a NUL between numbers": (b"1 2\n3 4\n5\0 6\n", ["column_1"], [["1 2"], ["3 4"], ["5\0 6"]]),
    "parts of telephone numbers": ("030 1234\n040 5678\n089 9012\n", ["column_1"], [["030 1234"], ["040 5678"], ["089 9012"]]),
    "texts with a comma": ('"city, land"\n"Rome, Italy"\n"Oslo, Norway"\n', ["city, land"], [["Rome, Italy"], ["Oslo, Norway"]]),
})


CASES.update({
    "Thai": coded("cp874", ["ชื่อ", "เมือง"], ["สมชาย", "กรุงเทพ"], ["มานี", "เชียงใหม่"]),
    "iso-8859-6": coded("iso8859_6", ["اسم", "مدينة"], ["محمد", "القاهرة"], ["فاطمة", "الرياض"]),
    "iso-8859-15": coded("iso8859_15", ["item", "price €"], ["A", "5 €"], ["Œuf", "1 €"]),
    "macintosh with its line ends": ("nom,âge\rÉlodie,30\rZoë,25\rNoël,41\r".encode("mac_roman"), ["nom", "âge"],
                                     [["Élodie", "30"], ["Zoë", "25"], ["Noël", "41"]]),
    "typographic quotes inside of quotes": ('id,t\n1,"say “hi”, ok"\n2,x\n'.encode("cp1252"), ["id", "t"],
                                            [["1", "say “hi”, ok"], ["2", "x"]]),
    "tabs between decimal commas": ("0,00\t1,5\n0,01\t2,5\n0,02\t3,5\n", ["column_1", "column_2"],
                                    [["0,00", "1,5"], ["0,01", "2,5"], ["0,02", "3,5"]]),
    "blanks between decimal commas": ("0,00 1,5\n0,01 2,5\n0,02 3,5\n", ["column_1", "column_2"],
                                      [["0,00", "1,5"], ["0,01", "2,5"], ["0,02", "3,5"]]),
    "a millionth of a gram": ("Gerät;Prüfer;[µg]\n1;Ann;5\n".encode("cp1252"), ["Gerät", "Prüfer", "[µg]"], [["1", "Ann", "5"]]),
    "printed rows with their numbers": ("  mpg cyl  disp\n1 21.0   6 160.0\n2 22.8   4 108.0\n3 18.7   8 360.0\n",
                                        ["column_1", "mpg", "cyl", "disp"],
                                        [["1", "21.0", "6", "160.0"], ["2", "22.8", "4", "108.0"], ["3", "18.7", "8", "360.0"]]),
    "two names with another delimiter": ("id;name\n1,Ann\n20,Bob\n", DRAWN[0], DRAWN[1:]),
    "a title of two words": ("Sales; all\n1,Ann\n20,Bob\n", ["column_1", "column_2"], [["Sales; all", ""]] + DRAWN[1:]),
    "two sentences": ("This is a text.\nIt has no table, really.\n", ["This is a text."],
                      [["It has no table, really."]]),
})


def read(dtx, folder, data):
    source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
    with open(source, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    run = subprocess.run([dtx, "convert", "--repair", "--verbose", source, "-o", target, "--store",
                         os.path.join(folder, "store.db")], capture_output=True, timeout=60)
    if run.returncode:
        return None, run.stderr.decode(errors="replace")
    with open(target, newline="", encoding="utf-8") as f:
        return list(csv.reader(f)), run.stderr.decode(errors="replace")


def adds_up(notes, rows):
    """The ledger: each row that was read is in the table or was dropped for a reason."""
    told = re.findall(r"(\d+) rows? read = (\d+) out((?: \+ \d+ \w+)*)", notes)
    return len(told) == 1 and int(told[0][1]) == rows and \
        int(told[0][0]) == rows + sum(map(int, re.findall(r"\d+", told[0][2])))


for more in (dirty_wild.CASES, dirty_office.CASES, dirty_more.CASES, dirty_public.CASES, dirty_shift.CASES,
             dirty_signs.CASES, dirty_tools.CASES):
    assert not set(CASES) & set(more)
    CASES.update(more)

# There are more lines above the table than in it: --repair keeps them all, and the next step says how to skip them.
for name in ("more lines of prose than rows", "prose above a small table", "prose right above a small table",
             "prose with semicolons above decimal commas", "numbered prose above a small table",
             "lines of an account and a long sentence above its bookings", "names with marks of comments",
             "a few filled up records below comments"):
    data, head, rows = CASES[name]
    body = data.splitlines(True)[-len(rows):]
    if name not in ("prose with semicolons above decimal commas", "numbered prose above a small table"):
        CASES[name + ", in few rows"] = (data, None, r"next: --skip \d+, --header-rows 1")
    CASES[name] = (data + type(data)().join(body * 8), head, rows * 9)


def ok(got, notes, head, rows):
    if head is None:
        return got is None and re.search(rows, notes)
    return got == [head] + rows and adds_up(notes, len(rows))


def main():
    dtx, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, head, rows) in CASES.items():
            got, notes = read(dtx, folder, data)
            if ok(got, notes, head, rows):
                print("ok - dirty text: " + name)
                continue
            failed += 1
            print("# expected %s\n# got      %s\n# %s" % (str(rows if head is None else [head] + rows)[:300], str(got)[:300],
                                                         notes.replace("\n", "\n# ")))
            print("not ok - dirty text: " + name)
    print("%d passed, %d failed, 0 skipped" % (len(CASES) - failed, failed))
    return failed != 0


sys.exit(main())
