"""Text files of kinds that public offices and laboratories publish, for dirty_csv.py: the bytes, and
the table that a person reads in them."""

VISITS = ["When", "Where", "Travel Air", "Travel Rail", "Total"]
TRIPS = [["01.02.24", "Rome", "20", "", "20"], ["02.02.24", "Oslo", "", "7.5", "7.5"]]
WAVE = (["cm-1", "A"], [["4000.00", "0.01"], ["3999.00", "0.02"], ["3998.00", "0.01"]])
COLOURS = [["red", "small", "A"], ["red", "big", "B"], ["blue", "small", "A"], ["green", "big", "A"]]


def lines(rows, sep=","):
    return "".join(sep.join(r) + "\n" for r in rows)


def places(cells):
    """A row of fixed places, each cell at the right of its own."""
    return "".join(c.rjust(7) for c in cells).rstrip() + "\n"


SKY = ["yyyy", "mm", "tmax", "rain"]
DAYS = [["1941", str(m), "---" if m < 3 else "%.1f" % (m * 1.5), "%.1f" % (m * 7.1)] for m in range(1, 13)]
UNITS = ["", "", "degC", "mm"]
STATION = "A station\nLocation 224100E 252100N, 133 metres\nMissing data are marked by  ---, estimated ones with *.\n"
SAID = ["user ann here", "failed: a, b, c"]

CASES = {
    "prose right above fixed places": (STATION + "".join(map(places, [SKY, UNITS] + DAYS)), SKY, [UNITS] + DAYS),
    "... with a mark behind a number": (STATION + "".join(map(places, [SKY, UNITS] + DAYS)) +
                                        places(["1942", "1", "5.1", "20.4"]).replace("5.1 ", "5.1*").rstrip() + "*  made up\n",
                                        SKY + ["column_5"], [r + [""] for r in [UNITS] + DAYS] +
                                        [["1942", "1", "5.1*", "20.4*", "made up"]]),
    "a row of delimiters inside of the names": ("When,Where,Travel,,Total\n,,,,\n,,Air,Rail,\n" + lines(TRIPS), VISITS, TRIPS),
    "... two of them and a title": ("Visits 2024,,,,\n,,,,\nWhen,Where,Travel,,Total\n,,,,\n,,,,\n,,Air,Rail,\n" + lines(TRIPS),
                                    VISITS, TRIPS),
    "a row of delimiters below the names": ("When,Where,,Total\n,,,\n,Rome,x,20\n02.02.24,Oslo,y,7\n",
                                            ["When", "Where", "column_3", "Total"],
                                            [["", "", "", ""], ["", "Rome", "x", "20"], ["02.02.24", "Oslo", "y", "7"]]),
    "a sentence wider than the table": ("Made as New Set,Sample 12 By Ann Date Friday, January 19 2024\n" +
                                        lines([WAVE[0]] + WAVE[1]), *WAVE),
    "a name with a comma above units": ("Time, local,Temp\ns,C\n0,20.5\n1,20.7\n", ["s", "C"], [["0", "20.5"], ["1", "20.7"]]),
    "texts without names": (lines(COLOURS), ["column_1", "column_2", "column_3"], COLOURS),
    "answers without names": ('"Yes","Rare"\n"Yes","Raw"\n"No",\n"Yes","Done"\n"Yes","Well"\n', ["column_1", "column_2"],
                              [["Yes", "Rare"], ["Yes", "Raw"], ["No", ""], ["Yes", "Done"], ["Yes", "Well"]]),
    "texts below names that begin again": ("name,city\nAnn,Rome\nBob,Oslo\nname,city\nEve,Bern\n", ["name", "city"],
                                           [["Ann", "Rome"], ["Bob", "Oslo"], ["name", "city"], ["Eve", "Bern"]]),
    "a name that is a value too": ("kind,note\nkind,a\nsort,b\nkind of,c\nother,d\n", ["kind", "note"],
                                   [["kind", "a"], ["sort", "b"], ["kind of", "c"], ["other", "d"]]),
    "degrees in cp850": ("Ort;Temp\nKöln;20 °C\nRom;25 °C\n".encode("cp850"), ["Ort", "Temp"], [["Köln", "20 °C"], ["Rom", "25 °C"]]),
    "degrees in Chinese": ("#样品,1\n#温度,20°C\n\n/°C,min\n21.5,0.1\n21.7,0.2\n".encode("gb18030"), ["/°C", "min"],
                           [["21.5", "0.1"], ["21.7", "0.2"]]),
    "a remark filled up below a blank line": ("a,b,c\n1,2,x\n3,4,y\n\nReport made on Monday,,\n", ["a", "b", "c"],
                                              [["1", "2", "x"], ["3", "4", "y"]]),
    "a note filled up": ("a,b,c\n1,2,x\n3,4,y\nSource: the office,,\n", ["a", "b", "c"], [["1", "2", "x"], ["3", "4", "y"]]),
    "rows that begin in words between blank lines": ("a,b,c\n1,2,x\n\n3,4,y\n\nsome more to come,,\n", ["a", "b", "c"],
                                                     [["1", "2", "x"], ["3", "4", "y"], ["some more to come", "", ""]]),
    "units below names of which one is missing": ("a,b,c,\n,kg,m,\n1,5,7,x\n2,6,8,y\n", ["a", "b", "c", "column_4"],
                                                  [["", "kg", "m", ""], ["1", "5", "7", "x"], ["2", "6", "8", "y"]]),
    "names told apart by a second row": ("Area,Sales,Sales\n,North,South\nA,5,7\nB,6,8\n",
                                         ["Area", "Sales North", "Sales South"], [["A", "5", "7"], ["B", "6", "8"]]),
    "names twice and a row without a first cell": ("id,x,x\n,a,b\nm,c,d\nn,e,f\n", ["id", "x", "x_2"],
                                                   [["", "a", "b"], ["m", "c", "d"], ["n", "e", "f"]]),
    "rules through all fixed places": (
        "Subject   Kg     Group\n----------------------\nS01       70.5   A\nS02       65.2   B\nS03       80.1   A\n"
        "----------------------\nMean      71.9\n", ["Subject", "Kg", "Group"],
        [["S01", "70.5", "A"], ["S02", "65.2", "B"], ["S03", "80.1", "A"], ["Mean", "71.9", ""]]),
    "a version and sums above records": (
        "2|reg|20240131|80|19830613|20240130|+1000\nreg|*|asn|*|2|summary\nreg|IT|asn|173|1|20020801|given\n"
        "reg|NO|asn|681|1|20020801|given\nreg|NO|ipv4|1.0.0.0|256|20110811|used\n", ["column_%d" % i for i in range(1, 8)],
        [["2", "reg", "20240131", "80", "19830613", "20240130", "+1000"], ["reg", "*", "asn", "*", "2", "summary", ""],
         ["reg", "IT", "asn", "173", "1", "20020801", "given"], ["reg", "NO", "asn", "681", "1", "20020801", "given"],
         ["reg", "NO", "ipv4", "1.0.0.0", "256", "20110811", "used"]]),
    "the top of each page": ("Acme Ltd - stock,,Page 1 of 2\nPrinted 31/01/2024,,\nid,name,n\n1,Ann,5\n2,Bob,6\n"
                             "Acme Ltd - stock,,Page 2 of 2\nPrinted 31/01/2024,,\nid,name,n\n3,Eve,7\n4,Li,8\n", ["id", "name", "n"],
                             [["1", "Ann", "5"], ["2", "Bob", "6"], ["3", "Eve", "7"], ["4", "Li", "8"]]),
    "a line of the top alone": ("Stock list 1,,\nid,name,n\n1,Ann,5\nStock list 2,,\n2,Bob,6\n", ["id", "name", "n"],
                                [["1", "Ann", "5"], ["Stock list 2", "", ""], ["2", "Bob", "6"]]),
    "colons behind times": ("".join("Jan 31 10:0%d:0%d host sshd[10%d0]: %s\n" % (i, i, i, SAID[i % 4 == 1]) for i in range(9)),
                            ["column_1"], [["Jan 31 10:0%d:0%d host sshd[10%d0]: %s" % (i, i, i, SAID[i % 4 == 1])] for i in range(9)]),
    "the same with a comma in each line": ("".join("Jan 31 10:0%d:0%d sshd: done, %s\n" % (i, i, "abcde"[i]) for i in range(5)),
                                           ["column_1", "column_2"],
                                           [["Jan 31 10:0%d:0%d sshd: done" % (i, i), "abcde"[i]] for i in range(5)]),
    "times between colons": ("root:x:10:15:/root\nann:x:20:25:/home\nbob:y:30:35:/tmp\n", ["column_%d" % i for i in range(1, 6)],
                             [["root", "x", "10", "15", "/root"], ["ann", "x", "20", "25", "/home"], ["bob", "y", "30", "35", "/tmp"]]),
    "moments in brackets": ("[2024-01-31 10:00:01] a;x\n[2024-01-31 10:00:02] b;y\n[2024-01-31 10:00:05] c;z\n",
                            ["column_1", "column_2"], [["[2024-01-31 10:00:01] a", "x"], ["[2024-01-31 10:00:02] b", "y"],
                                                       ["[2024-01-31 10:00:05] c", "z"]]),
    "a table of Markdown in prose": ("# Results\n\nSome text, with a comma.\n\n| Name | Score |\n|------|------:|\n| Ann  | 5     |\n"
                                     "| Bob  | 7     |\n\nMore text to read.\n", ["Name", "Score"], [["Ann", "5"], ["Bob", "7"]]),
    "notes in German, filled up": ("Area;2019;2020\nA;1.200;1.300\nB;900;950\n\nHinweis: alles vorläufig;;\nStand: 31.01.2024;;\n"
                                   "© Amt;;\n", ["Area", "2019", "2020"], [["A", "1.200", "1.300"], ["B", "900", "950"]]),
}
