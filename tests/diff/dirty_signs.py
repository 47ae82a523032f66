"""Text files whose few bytes beyond ASCII are signs rather than letters, for dirty_csv.py: the bytes, and
the table that a person reads in them."""

HEAD = ["id", "text"]


def signs(name, encoding, *texts):
    rows = [[str(i + 1), text] for i, text in enumerate(texts)]
    CASES[name] = (("id,text\n" + "".join(",".join(r) + "\n" for r in rows)).encode(encoding), HEAD, rows)


def pasted(name, good, *rest):
    """The first text in UTF-8, the others in windows-1252."""
    rows = [[str(i + 1), text] for i, text in enumerate((good,) + rest)]
    CASES[name] = (("id,text\n1,%s\n" % good).encode() + "".join(",".join(r) + "\n" for r in rows[1:]).encode("cp1252"),
                   HEAD, rows)


CASES = {}
signs("German quotation marks behind a sharp s", "cp1252", "„Spaß“", "er sagte „Groß”", "x")
signs("marks of trade", "cp1252", "Foo™", "Bar® Pro", "x")
signs("points of a list", "cp1252", "• one", "• two")
signs("sentences that are cut", "cp1252", "and so on…", "more…")
signs("ordinals", "cp1252", "nº 5", "1ª", "2º")
signs("fractions", "cp1252", "5½", "6¼")
signs("Italian of DOS", "cp850", "città", "università", "qualità")
signs("Romanian that ends in a cedilla", "cp1250", "oraş mare", "Făgăraş")
signs("Swedish of DOS", "cp437", "Malmö", "Göteborg", "Ängelholm")
pasted("signs of windows-1252 in UTF-8", "Café", "a – b", "it’s", "“hi”")
pasted("a euro behind a blank in UTF-8", "5 €", "6 €", "[€]", "(€)")
pasted("a sign between blanks in UTF-8", "größer", "10 × 20", "30 °", "5 ± 1", "• x")
CASES["apostrophes around texts that hold some"] = (
    b"id,name,'text'\n1,Men's boots,'A pair, for kids' feet and men's'\n2,Kids' hat,'It's a hat'\n3,9' line,'Nine feet, it's long'\n",
    ["id", "name", "text"],
    [["1", "Men's boots", "A pair, for kids' feet and men's"], ["2", "Kids' hat", "It's a hat"], ["3", "9' line", "Nine feet, it's long"]])
CASES["doubled apostrophes within apostrophes, others outside"] = (
    b"id,name,'text'\n1,Men's boots,'Men''s, all sizes'\n2,Women's hat,'A hat'\n3,Kids' tee,'It''s new, really'\n",
    ["id", "name", "text"],
    [["1", "Men's boots", "Men's, all sizes"], ["2", "Women's hat", "A hat"], ["3", "Kids' tee", "It's new, really"]])
CASES["apostrophes at the start of names are letters"] = (
    b"id,city,note\n1,'s-Hertogenbosch,'tis small\n2,'t Harde,'twas ok'\n3,Oss,\n",
    ["id", "city", "note"], [["1", "'s-Hertogenbosch", "'tis small"], ["2", "'t Harde", "'twas ok'"], ["3", "Oss", ""]])
CASES["cells of more lines than a sample has"] = (
    ("a,b\n" + "".join('%d,"%s"\n' % (i, "x\n" * 40000) for i in range(2)) + "9,y\n").encode(),
    ["a", "b"], [["0", "x\n" * 40000], ["1", "x\n" * 40000], ["9", "y"]])
