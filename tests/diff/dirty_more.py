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
