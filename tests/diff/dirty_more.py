"""Text files of more kinds that people have, for dirty_csv.py: the bytes, and the table that a person
reads in them."""

HEAD = ["id", "name", "n"]
PAIRED = [["1", '"Ann', "5"], ["2", "Bob", "6"], ["3", 'Eve"', "7"], ["4", "Li", "8"]]
MANY = [[str(i), "name%d" % i, str(i * 7)] for i in range(3000)]
STRAY = [row[:] for row in MANY]
STRAY[2100][1], STRAY[2200][1] = '"name2100', 'name2200"'


def lines(rows, sep=","):
    return "".join(sep.join(r) + "\n" for r in rows)


CASES = {
    "two quotes that pair up over lines": (lines([HEAD] + PAIRED), HEAD, PAIRED),
    "... far below": (lines([HEAD] + STRAY), HEAD, STRAY),
    "... between semicolons": (lines([HEAD] + PAIRED, ";"), HEAD, PAIRED),
    "... with CRLF": (lines([HEAD] + PAIRED).replace("\n", "\r\n"), HEAD, PAIRED),
    "... at line ends": ('id,n,name\n1,5,"Ann\n2,6,Bob"\n3,7,Eve\n', ["id", "n", "name"],
                         [["1", "5", '"Ann'], ["2", "6", 'Bob"'], ["3", "7", "Eve"]]),
    "... beside quoted cells": (lines([HEAD] + PAIRED) + '5,"Li, Lo",9\n6,"x\ny",1\n', HEAD,
                                PAIRED + [["5", "Li, Lo", "9"], ["6", "x\ny", "1"]]),
    "... twice": (lines([HEAD] + PAIRED * 2), HEAD, PAIRED * 2),
    "... between texts": ('a,b,c\nx,"Ann,p\ny,Bob,q\nz,Eve",r\nw,Li,s\n', ["a", "b", "c"],
                          [["x", '"Ann', "p"], ["y", "Bob", "q"], ["z", 'Eve"', "r"], ["w", "Li", "s"]]),
    "... out of the header": ('id,"name,n\n1,Ann,5\n2,Bob",6\n3,Eve,7\n', ["id", '"name', "n"],
                              [["1", "Ann", "5"], ["2", 'Bob"', "6"], ["3", "Eve", "7"]]),
    "two columns and two quotes that pair up": ('k,v\n1,"a\n2,b"\n3,c\n', ["k", "v"], [["1", '"a'], ["2", 'b"'], ["3", "c"]]),
    "an address in two lines": ('name,address,city\nAnn,"12 High St, Flat 2\nOxford, UK",London\nBob,x,y\n',
                                ["name", "address", "city"],
                                [["Ann", "12 High St, Flat 2\nOxford, UK", "London"], ["Bob", "x", "y"]]),
    "a numbered list in a cell": ('id,list\n17,"to buy:\n1, milk\n2, eggs"\n18,x\n', ["id", "list"],
                                  [["17", "to buy:\n1, milk\n2, eggs"], ["18", "x"]]),
    "rows of another table in a cell": ('id,doc\n1,"a,b\n1,2\n3,4"\n2,x\n', ["id", "doc"], [["1", "a,b\n1,2\n3,4"], ["2", "x"]]),
}

ROWS = [["1", "Ann", "5"], ["2", "Bob", "6"], ["3", "Eve", "7"]]
TABLE = lines([HEAD] + ROWS)
SQL = ["column_1", "column_2", "column_3"]
CASES.update({
    "line ends spelled out": (TABLE.strip().replace("\n", "\\n"), HEAD, ROWS),
    "line ends spelled out as two": (TABLE.replace("\n", "\\r\\n") + "\n", HEAD, ROWS),
    "a string of a program": ('"' + TABLE.replace("Ann", '\\"A,n\\"').replace("\n", "\\n") + '"\n', HEAD,
                              [["1", "A,n", "5"]] + ROWS[1:]),
    "paths that begin with n": ("path,n\nC:\\new,1\nD:\\nil,2\n", ["path", "n"], [["C:\\new", "1"], ["D:\\nil", "2"]]),
    "tuples": ("(1,'Ann',5),\n(2,'B,ob',6),\n(3,'O''Neil',NULL);\n", SQL,
               [["1", "Ann", "5"], ["2", "B,ob", "6"], ["3", "O'Neil", "NULL"]]),
    "tuples below their names": ("INSERT INTO `t` (`id`, `name`, n) VALUES\n(1,'Ann',5),\n(2,'B\\'ob',6);\n", HEAD,
                                 [["1", "Ann", "5"], ["2", "B'ob", "6"]]),
    "a statement for each tuple": ("".join("INSERT INTO t (id, name, n) VALUES (%s,'%s',%s);\n" % tuple(r) for r in ROWS),
                                   HEAD, ROWS),
    "statements around tuples": ("-- dump\nBEGIN;\n" + "".join("INSERT INTO t VALUES (%s,'%s',%s);\n" % tuple(r)
                                                              for r in ROWS) + "COMMIT;\n", SQL, ROWS),
    "AsciiDoc": ('[cols="1,2",options="header"]\n|===\n|id |name |n\n\n|1 |Ann |5\n|2 |Bob |6\n|3 |Eve |7\n|===\n', HEAD, ROWS),
    "AsciiDoc with a line for each cell": ("= Title\n\nText, of it.\n\n.Table 1\n|===\n|id |name |n\n\n" + "\n\n".join(
        "\n".join("|" + c for c in r) for r in ROWS) + "\n|===\n\nEnd.\n", HEAD, ROWS),
    "vertical tabs": (TABLE.replace(",", "\v"), HEAD, ROWS),
    "blanks that do not break": (TABLE.replace(",", "\u00a0"), HEAD, ROWS),
    "such blanks between thousands": ("prix\n1\u00a0234\u00a0567\n2\u00a0345\u00a0678\n3\u00a0345\u00a0678\n", ["prix"],
                                      [["1\u00a0234\u00a0567"], ["2\u00a0345\u00a0678"], ["3\u00a0345\u00a0678"]]),
    "dates in one column": ("date\n01/02/2024\n02/02/2024\n03/02/2024\n", ["date"], [["01/02/2024"], ["02/02/2024"],
                                                                                     ["03/02/2024"]]),
    "paths in one column": ("a/b/c\nd/e/f\ng/h/i\nj/k/l\n", ["a/b/c"], [["d/e/f"], ["g/h/i"], ["j/k/l"]]),
    "names of runs in one column": ("sample_run_id\nab_cd_1\nab_cd_2\nef_gh_3\n", ["sample_run_id"],
                                    [["ab_cd_1"], ["ab_cd_2"], ["ef_gh_3"]]),
})
CASES.update({"the delimiter " + mark: (TABLE.replace(",", mark), HEAD, ROWS) for mark in "/%=+_\\$"})

PDH = ["(PDH-CSV 4.0)", "\\\\HOST\\Processor(_Total)\\% Processor Time"]
LVM = "LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\nDate\t2024/01/05\n***End_of_Header***\t\n\t\n"
SEGMENT = "Channels\t2\t\t\nSamples\t2\t2\t\nX0\t0.0\t0.0\t\nDelta_X\t0.1\t0.1\t\n***End_of_Header***\t\t\t\n"
SIGNAL = ["X_Value", "Voltage", "Voltage_0", "Comment"]
TOA = ["TIMESTAMP", "RECORD", "BattV_Min", "AirTC_Avg"]
CASES.update({
    "what a counter says at its end": (
        '\r\n"%s","%s"\r\n"01/02/2024 10:00:00.123","1.5"\r\n"01/02/2024 10:00:01.123","2.5"\r\n\r\nExiting, please wait...  '
        "                       \r\nThe command completed successfully.\r\n\r\n" % tuple(PDH), PDH,
        [["01/02/2024 10:00:00.123", "1.5"], ["01/02/2024 10:00:01.123", "2.5"]]),
    "two heads above a signal": (LVM + SEGMENT + "\t".join(SIGNAL) + "\n0.0\t1.5\t2.5\n0.1\t1.6\t2.6\n", SIGNAL,
                                 [["0.0", "1.5", "2.5", ""], ["0.1", "1.6", "2.6", ""]]),
    "two segments of a signal": (LVM + (SEGMENT + "\t".join(SIGNAL) + "\n0.0\t1.5\t2.5\n0.1\t1.6\t2.6\n\n") * 2, SIGNAL,
                                 [["0.0", "1.5", "2.5", ""], ["0.1", "1.6", "2.6", ""]] * 2),
    "a logger's four lines": (
        '"TOA5","CR1000","CR1000","1234","CR1000.Std.32","CPU:p.CR1","5678","T1"\r\n"%s","%s","%s","%s"\r\n"TS","RN","Volts",'
        '"Deg C"\r\n"","","Min","Avg"\r\n"2024-01-01 00:00:00",0,12.5,"NAN"\r\n"2024-01-01 00:10:00",1,12.4,3.5\r\n' % tuple(TOA),
        TOA, [["2024-01-01 00:00:00", "0", "12.5", "NAN"], ["2024-01-01 00:10:00", "1", "12.4", "3.5"]]),
})


def coded(encoding, *rows):
    return lines(rows).encode(encoding), list(rows[0]), [list(r) for r in rows[1:]]


LATVIA = ["id", "vārds", "pilsēta"], ["1", "Jānis Bērziņš", "Rīga"], ["2", "Ilze Kalniņa", "Jūrmala"], ["3", "Līga Ozoliņa", "Rēzekne"]
HUNGARY = ["id", "név", "város"], ["1", "Tóth Gábor", "Győr"], ["2", "Szűcs Éva", "Pécs"], ["3", "Horváth Ödön", "Petőfi utca"]
CASES.update({
    "Latvian in " + name: coded(name, *LATVIA) for name in ("cp1257", "iso8859_13", "iso8859_4", "cp775")})
CASES.update({"Hungarian in " + name: coded(name, *HUNGARY) for name in ("cp1250", "iso8859_2", "cp852")})
CASES.update({
    "Lithuanian in iso-8859-4": coded("iso8859_4", ["id", "vardas", "miestas"], ["1", "Jonas Žukauskas", "Panevėžys"],
                                      ["2", "Rūta", "Šilutė"]),
    "only blanks that do not break, in windows-1252": (TABLE.replace(",", "\u00a0").encode("cp1252"), HEAD, ROWS),
    "only one letter of cp850": coded("cp850", ["id", "ciudad"], ["1", "Málaga"], ["2", "Bogotá"], ["3", "Cáceres"]),
})
