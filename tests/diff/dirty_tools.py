"""Text files as statistics programs, databases and instruments write them, for dirty_csv.py: the bytes,
and the table that a person reads in them."""



def table(text, sep="|"):
    return [line.split(sep) for line in text.split("\n")]


NUMBERED = (["column_1", "id", "name", "v"], table("1|1|Ann Lee|2.5\n2|2|Bob|NA"))
SALES = (["name", "n"], table("Bob|5\nEve|7\nLi|9\nJo|11\nMo|12"))
BOOKED = "name,n\nBob,5\nEve,7\nLi,9\nJo,11\nMo,12\n"
CASES = {
    "names of rows in quotes and blanks": ('"id" "name" "v"\n"1" 1 "Ann Lee" 2.5\n"2" 2 "Bob" NA\n', *NUMBERED),
    "names of rows in quotes and tabs": ('"id"\t"name"\t"v"\n"1"\t1\t"Ann Lee"\t2.5\n"2"\t2\t"Bob"\tNA\n', *NUMBERED),
    "names of rows in quotes and commas": ('"id","name","v"\n"1",1,"Ann Lee",2.5\n"2",2,"Bob",NA\n', *NUMBERED),
    "numbers of rows beside an id": ("id name v\n1 1 Ann 2.5\n2 2 Bob NA\n", ["column_1", "id", "name", "v"],
                                     table("1|1|Ann|2.5\n2|2|Bob|NA")),
    "names of rows beside texts": ('"a" "b"\n"x1" TRUE "u"\n"x2" FALSE "w"\n', ["column_1", "a", "b"],
                                   table("x1|TRUE|u\nx2|FALSE|w")),
    "an id and a column without a name": ("id,name\n1,Ann,x\n2,Bob,z\n", ["id", "name", "column_3"], table("1|Ann|x\n2|Bob|z")),
    "two labels above two columns": ("Report,Q1\nOwner,Ann\n\n" + BOOKED, *SALES),
    "two labels, one with a value, above two columns": ("Report,Q1\nYear,2024\n\n" + BOOKED, *SALES),
    "labels with colons above two columns": ("Report:,Q1\nOwner:,Ann\n" + BOOKED, *SALES),
    "labels with colons above texts": ("Report:,Q1\nOwner:,Ann\n\nname,city\nBob,Rome\nEve,Oslo\nLi,Bari\n", ["name", "city"],
                                       table("Bob|Rome\nEve|Oslo\nLi|Bari")),
    "names with colons": ("field:,value\nname:,Ann\nage:,30\ncity:,Rome\n", ["field:", "value"],
                          table("name:|Ann\nage:|30\ncity:|Rome")),
}


CASES.update({
    "doubled colons, and bars in some cells": ("1::Up (2009)::Comedy|Drama\n2::Heat (1995)::Crime\n3::Ring, The (2002)::Horror|Drama\n",
                                               ["column_1", "column_2", "column_3"],
                                               [["1", "Up (2009)", "Comedy|Drama"], ["2", "Heat (1995)", "Crime"],
                                                ["3", "Ring, The (2002)", "Horror|Drama"]]),
    "a log with the types of its columns": ("#separator \\x09\n#path\tconn\n#fields\tts\tuid\tproto\n#types\ttime\tstring\tenum\n"
                                            "1700000000.1\tCa\ttcp\n1700000001.2\tCb\tudp\n#close\t2024-01-01\n",
                                            ["ts", "uid", "proto"], table("1700000000.1|Ca|tcp\n1700000001.2|Cb|udp")),
    "a box of dashed bars below its shape": ("shape: (2, 2)\n┌─────┬──────┐\n│ id  ┆ name │\n╞═════╪══════╡\n│ 1   ┆ Ann  │\n"
                                             "│ 2   ┆ Bob  │\n└─────┴──────┘\n", ["id", "name"], table("1|Ann\n2|Bob")),
    "dashes as long as the names": ("\nName   Id Path\n----   -- ----\nbash    1 C:\\bin\ncmd   200 \n\n", ["Name", "Id", "Path"],
                                    table("bash|1|C:\\bin\ncmd|200|")),
})


DOCS = [["1", '{"a": 1, "b": "x"}', "5"], ["2", '{"a": [2, 3]}', "6"], ["3", "{}", "7"]]
CASES.update({
    "a title and a row with a line feed between CR LF": ("Staff\nid,name,n\r\n1,Ann,5\n2,Bob,6\r\n3,Eve,7\r\n4,Li,8\r\n", ["id", "name", "n"],
                                                         table("1|Ann|5\n2|Bob|6\n3|Eve|7\n4|Li|8")),
    "JSON without quotes around it": ("id,doc,n\n" + "".join(",".join(r) + "\n" for r in DOCS), ["id", "doc", "n"], DOCS),
    "JSON in quotes": ('id,doc,n\n1,"{""a"": 1, ""b"": ""x""}",5\n2,"{""a"": [2, 3]}",6\n3,{},7\n', ["id", "doc", "n"], DOCS),
})


PERIODS = table("2024-01-02|Rent|-5.00|10.00\n2024-01-03|Pay|15.00|25.00\n2024-01-04|Tea|-5.00|20.00")
MORE = "".join('"%s","%d","%d"\n' % (n, i, i + 1) for i, n in enumerate(("Yukon", "Alberta", "Quebec", "Manitoba")))
WEATHER = "# SOURCE: office\n# STN      LON   LAT\n# 260      5.180 52.100\n#\n# TG = mean, in 0.1 degrees\n# STN,DAY,   TG\n"
CASES.update({
    "one record of an account above its bookings": ("Account,Name,Currency\n123,Ann,EUR\n\nDate,Text,Amount,Balance\n" +
                                                    "".join(",".join(r) + "\n" for r in PERIODS), ["Date", "Text", "Amount", "Balance"], PERIODS),
    "an end-of-file mark in a line": (b"id,name\r\n1,Ann\r\n2,Bob\r\n\x1a\r\n", ["id", "name"], table("1|Ann\n2|Bob")),
    "a few filled up records below comments": (WEATHER + "  260,0101,   81\n  260,0102,   92\n", ["# STN", "DAY", "TG"],
                                               table("  260|0101|   81\n  260|0102|   92")),
    "names above a bare mark": (WEATHER + "# \n" + "".join("  260,%04d,%5d\n" % (i, i * 7) for i in range(30)), ["# STN", "DAY", "TG"],
                                [["# ", "", ""]] + [["  260", "%04d" % i, "%5d" % (i * 7)] for i in range(30)]),
})


CENSUS = (["Geography", "2022", "2023"], [["Canada", "38,929,902", "40,097,761"], ["Ontario", "15,109,416", "15,608,369"]])
CASES.update({
    "numbered notes below their heading": ('"Population"\n\n"Geography","2022","2023"\n"Canada","38,929,902","40,097,761"\n'
                                           '"Ontario","15,109,416","15,608,369"\n' + MORE + '\n"Footnotes:"\n"1","Estimates, final."\n"2","Of July."\n'
                                           '"How to cite: the office, 2024."\n', CENSUS[0],
                                           CENSUS[1] + [r.strip('"').split('","') for r in MORE.split()]),
    "a short record above a sentence": ("id,name,n\n1,Ann,5\n2,Bob,6\n3,Eve\nGenerated by the office on Monday\n", ["id", "name", "n"],
                                        table("1|Ann|5\n2|Bob|6\n3|Eve|")),
    "two labels above columns with a blank line": ("Report,Q1\nOwner,Ann\n\nname,n\nBob,5\n\n" + BOOKED.split("\n", 2)[2], *SALES),
})


CASES.update({
    "the byte 1A in the last cell": (b"id,name\n1,Ann\n2,\x1a\n", ["id", "name"], [["1", "Ann"], ["2", "\x1a"]]),
})
CASES["maps without quotes or names"] = (
    "1,{'a': 1, 'b': 2},x\n2,{'a': 3},y\n3,{},z\n", ["column_1", "column_2", "column_3"],
    [["1", "{'a': 1, 'b': 2}", "x"], ["2", "{'a': 3}", "y"], ["3", "{}", "z"]])
CASES["braces that delimiters part alike"] = ("id,from,to\n1,{a,b}\n2,{c,d}\n", ["id", "from", "to"], [["1", "{a", "b}"], ["2", "{c", "d}"]])
