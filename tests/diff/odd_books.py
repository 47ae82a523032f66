"""Small workbooks as programs other than Excel write them.  `same` makes files that all contain one
table, `others` those with special cells.  All files are made here, none is from outside."""
import codecs
import gzip
import io
import re
import struct
import zipfile
from xml.sax.saxutils import quoteattr

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PKG = "http://schemas.openxmlformats.org/package/2006/relationships"
STRICT = (("http://purl.oclc.org/ooxml/officeDocument/relationships", REL),
          ("http://purl.oclc.org/ooxml/spreadsheetml/main", MAIN))
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TABLE = "name,n\na,1\nb,2\n"
RELS, BOOK, BOOK_RELS, SHEET = ("_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels",
                                "xl/worksheets/sheet1.xml")


# --- parts of .xlsx

def text(ref, value):
    return '<c r="%s" t="inlineStr"><is><t>%s</t></is></c>' % (ref, value)


def number(ref, value, style=None):
    return '<c r="%s"%s><v>%s</v></c>' % (ref, "" if style is None else ' s="%d"' % style, value)


ROWS = ('<row r="1">' + text("A1", "name") + text("B1", "n") + '</row><row r="2">' + text("A2", "a") + number("B2", 1)
        + '</row><row r="3">' + text("A3", "b") + number("B3", 2) + "</row>")


def sheet(rows, before="", after=""):
    return HEAD + '<worksheet xmlns="%s" xmlns:r="%s">%s<sheetData>%s</sheetData>%s</worksheet>' % (
        MAIN, REL, before, rows, after)


def styles(formats):
    """Style n + 1 is the n-th format: a code, or the number of a built-in one."""
    codes = "".join('<numFmt numFmtId="%d" formatCode=%s/>' % (164 + i, quoteattr(f))
                    for i, f in enumerate(formats) if isinstance(f, str))
    xfs = "".join('<xf numFmtId="%d"/>' % (164 + i if isinstance(f, str) else f) for i, f in enumerate(formats))
    return HEAD + '<styleSheet xmlns="%s"><numFmts>%s</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' \
        '<cellXfs><xf numFmtId="0"/>%s</cellXfs></styleSheet>' % (MAIN, codes, xfs)


def shared(*items):
    return HEAD + '<sst xmlns="%s" count="9" uniqueCount="1">%s</sst>' % (
        MAIN, "".join("<si>%s</si>" % i for i in items))


def relationships(*rows):
    return HEAD + '<Relationships xmlns="%s">%s</Relationships>' % (PKG, "".join(
        '<Relationship Id="%s" Type="%s/%s" Target="%s"/>' % (i, REL, kind, target) for i, kind, target in rows))


def parts(*sheets, pr="", strings=None, formats=None):
    """Name and text of every part; a sheet is its XML, or state, kind and XML."""
    names, rels, made = "", [("s", "sharedStrings", "sharedStrings.xml"), ("t", "styles", "styles.xml")], []
    for i, s in enumerate(sheets, 1):
        state, kind, xml = ("visible", "worksheet", s) if isinstance(s, str) else s
        names += '<sheet name="S%d" sheetId="%d" state="%s" r:id="rId%d"/>' % (i, i, state, i)
        rels.append(("rId%d" % i, kind, kind + "s/sheet%d.xml" % i))
        made.append(("xl/%ss/sheet%d.xml" % (kind, i), xml))
    made += [("xl/sharedStrings.xml", strings)] if strings else []
    made += [("xl/styles.xml", formats)] if formats else []
    return [("[Content_Types].xml", HEAD + "<Types/>"), (RELS, relationships(("r", "officeDocument", BOOK))),
            (BOOK, HEAD + '<workbook xmlns="%s" xmlns:r="%s">%s<sheets>%s</sheets></workbook>'
             % (MAIN, REL, pr, names)), (BOOK_RELS, relationships(*rels))] + made


def packed(made, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in made:
            z.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def streamed(made, zip64):
    """Sizes stand behind the parts, as they do where a program cannot go back."""
    class Pipe(io.RawIOBase):
        got = b""

        def writable(self):
            return True

        def write(self, data):
            self.got += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in made:
            with z.open(zipfile.ZipInfo(name), "w", force_zip64=zip64) as f:
                f.write(data.encode())
    return pipe.got


def changed(made, *swaps, only=None):
    for old, new in swaps:
        made = [(n, d.replace(old, new) if only in (None, n) else d) for n, d in made]
    return made


# --- records of .xls

def compound(name, stream):
    """A compound file with one stream."""
    stream = stream.ljust(4096, b"\0")
    n = (len(stream) + 511) // 512
    free, end = 0xFFFFFFFF, 0xFFFFFFFE

    def entry(label, kind, first, size, child):
        wide = (label + "\0").encode("utf-16-le")
        return wide.ljust(64, b"\0") + struct.pack("<HBB3I36xIQ", len(wide), kind, 1, free, free, child, first, size)

    folder = entry("Root Entry", 5, end, 0, 1) + entry(name, 2, 0, len(stream), free) + bytes(256)
    fat = list(range(1, n)) + [end, end, 0xFFFFFFFD]
    fat += [free] * (128 - len(fat))
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<5H6x9I", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, n, 0,
                                                                       4096, end, 0, end, 0)
    return (head + struct.pack("<109I", n + 1, *[free] * 108) + stream.ljust(n * 512, b"\0") + folder
            + struct.pack("<128I", *fat))


def rec(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def chars(value, form):
    wide = value.encode("utf-16-le")
    return struct.pack(form + "B", len(wide) // 2, 1) + wide


def label8(row, col, value):
    return rec(0x204, struct.pack("<3H", row, col, 0) + chars(value, "<H"))


def label5(row, col, raw):
    return rec(0x204, struct.pack("<4H", row, col, 0, len(raw)) + raw)


def real(row, col, value, style=0):
    return rec(0x203, struct.pack("<3Hd", row, col, style, value))


def formula(row, col, result):
    return rec(0x06, struct.pack("<3H", row, col, 0) + result + bytes(8))


def bof(version, what):
    return rec(0x809, struct.pack("<4H", version, what, 0, 0) + (bytes(8) if version == 0x600 else b""))


def xls(cells, more=b"", formats=(0,), page=None, hidden=None):
    """BIFF8, or BIFF5 with texts of a page; `hidden` are the cells of a first, very hidden sheet."""
    version = 0x500 if page else 0x600
    start = bof(version, 5) + (rec(0x42, struct.pack("<H", page)) if page else b"") + more
    start += b"".join(rec(0xE0, struct.pack("<2H", 0, f) + bytes(12 if page else 16)) for f in formats)
    sheets = ([(2, hidden)] if hidden else []) + [(0, cells)]
    names = [b"\x02S%d" % i if page else chars("S%d" % i, "<B") for i in range(len(sheets))]
    at = len(start) + sum(10 + len(n) for n in names) + 4
    for (state, data), name in zip(sheets, names):
        start += rec(0x85, struct.pack("<I2B", at, state, 0) + name)
        at += len(bof(version, 16) + data) + 4
    return compound("Book" if page else "Workbook", start + rec(0x0A) + b"".join(
        bof(version, 16) + data + rec(0x0A) for _, data in sheets))


XLS_ROWS = label8(0, 0, "name") + label8(0, 1, "n") + label8(1, 0, "a") + real(1, 1, 1) + label8(2, 0, "b") + real(2, 1, 2)


# --- one table

def containers(plain):
    yield "plain", packed(plain)
    yield "stored", packed(plain, zipfile.ZIP_STORED)
    yield "bytes behind", packed(plain) + bytes(3000)
    yield "bytes before", b"HTTP/1.1 200 OK\r\n\r\n" + packed(plain)
    yield "sizes behind the parts", streamed(plain, False)
    yield "sizes behind the parts, zip64", streamed(plain, True)
    yield "in gzip", gzip.compress(packed(plain))
    yield "backslashes", packed([(n.replace("/", "\\"), d) for n, d in plain])
    yield "mixed case", packed([(n.upper() if "sheet" in n else n.title(), d) for n, d in plain])
    yield "folders", packed([("_rels/", ""), ("xl/", "")] + plain)
    yield "no package relationships", packed([p for p in plain if p[0] != RELS])
    yield "no content types", packed(plain[1:])
    yield "another folder", packed([(n.replace("xl/workbook.xml", "o/b.xml").replace("xl/_rels/workbook", "o/_rels/b")
                                     .replace("xl/", "o/"), d.replace("xl/workbook.xml", "/o/b.xml"))
                                    for n, d in plain])
    target = 'Target="worksheets/sheet1.xml"'
    for name, other in (("absolute", "/xl/worksheets/sheet1.xml"), ("dots", "../xl/./worksheets/sheet1.xml"),
                        ("backslash", "worksheets\\sheet1.xml"), ("percent", "worksheets/sheet%31.xml")):
        yield "target: " + name, packed(changed(plain, (target, 'Target="%s"' % other)))


def markup(plain):
    for name, mark, code in (("le", codecs.BOM_UTF16_LE, "utf-16-le"), ("be", codecs.BOM_UTF16_BE, "utf-16-be"),
                             ("le without a mark", b"", "utf-16-le")):
        yield "utf-16 " + name, packed([(n, mark + d.replace("UTF-8", "UTF-16").encode(code)) for n, d in plain])
    yield "utf-8 mark", packed([(n, "\ufeff" + d) for n, d in plain])
    yield "no declaration", packed(changed(plain, (HEAD, "")))
    yield "prefixes", packed([(n, re.sub(r"<(/?)(?=[a-zA-Z])", r"<\1x:", d).replace('xmlns="', 'xmlns:x="'))
                              for n, d in plain])
    yield "strict", packed(changed(plain, *[(old, new) for new, old in STRICT]))
    yield "single quotes, comments", packed(changed(plain, ('"', "'"), ("<row", "<!-- c --><?pi?><row"), only=SHEET))
    yield "cdata", packed(changed(plain, ("<t>a</t>", "<t><![CDATA[a]]></t>")))
    yield "indented", packed(changed(plain, ("><", ">\r\n  <"), only=SHEET))


def grammar(plain):
    for name, swaps in (
            ("no references", [(' r="%s%s"' % (c, r), "") for c in ("A", "B", "") for r in "123"]),
            ("references of rows alone", [(' r="%s%s"' % (c, r), "") for c in "AB" for r in "123"]),
            ("small letters", [('r="A', 'r="a'), ('r="B', 'r="b')]),
            ("dollars", [('r="A', 'r="$A$'), ('r="B', 'r="$B$')]),
            ("empty attributes", [('r="2"', 'r=""'), ('r="A2"', 'r="" s=""'), ('<c r="B2"', '<c r="B2" t=""')]),
            ("blanks in attributes", [('<c r="B2"', '<c  r = " B2 " s=" 0 " ')]),
            ("blanks in values", [("<v>1</v>", "<v>\n 1 </v>")]),
            ("other digits", [("<v>1</v>", "<v>1.0E0</v>"), ("<v>2</v>", "<v>+2.</v>")]),
            ("a cell twice", [("<row r=\"2\">", '<row r="2">' + text("A2", "x"))]),
            ("rows in two", [('<c r="B2"', '</row><row r="2"><c r="B2"')]),
            ("a style that is none", [('<c r="B2"', '<c r="B2" s="300"')]),
            ("hidden row", [('<row r="2"', '<row r="2" hidden="1"')]),
            ("dimension that lies", [("<sheetData>", '<dimension ref="A1"/><sheetData>')]),
            ("merges that are none", [("</sheetData>", '</sheetData><mergeCells><mergeCell/><mergeCell ref="A9"/>'
                                       '<mergeCell ref="#REF!"/></mergeCells>')]),
            ("thousand empty rows", [("</sheetData>", '<row ht="15"/>' * 1000 + "</sheetData>")])):
        yield "cells: " + name, packed(changed(plain, *swaps, only=SHEET))


def books():
    yield "very hidden first", packed(parts(("veryHidden", "worksheet", sheet("")), sheet(ROWS)))
    yield "chart first", packed(parts(("visible", "chartsheet", "<chartsheet/>"), sheet(ROWS)))
    yield "dialog first", packed(parts(("visible", "dialogsheet", "<dialogsheet/>"), sheet(ROWS)))
    yield "all hidden", packed(parts(("hidden", "worksheet", sheet(ROWS))))
    yield "a sheet that is gone", packed(parts(sheet(ROWS), sheet(ROWS))[:-1])
    yield "xls", xls(XLS_ROWS)
    yield "xls, out of order", xls(real(2, 1, 2) + label8(2, 0, "b") + label8(0, 1, "n") + label8(0, 0, "name")
                                   + real(1, 1, 1) + label8(1, 0, "a"))
    yield "xls, chart inside", xls(bof(0x600, 0x20) + real(9, 9, 9) + rec(0x0A) + XLS_ROWS)
    yield "xls, very hidden first", xls(XLS_ROWS, hidden=label8(0, 0, "x"))
    yield "tabs named xls", b"name\tn\r\na\t1\r\nb\t2\r\n"
    yield "utf-16 text named xls", "name\tn\r\na\t1\r\nb\t2\r\n".encode("utf-16")


def same():
    """Name and bytes of files that all hold TABLE."""
    plain = parts(sheet(ROWS))
    for group in (containers(plain), markup(plain), grammar(plain), books()):
        yield from group


# --- special cells

FORMATS = [  # of serial 45351.5; None: a number
    ("[h]:mm:ss", "1088436:00:00"), ("[$-F800]dddd\\,\\ mmmm\\ dd", 0), ("[$-409]d\\-mmm\\-yy;@", 0), ("mmm", 0),
    ('[=0]"";dd/mm/yyyy', 0), ("[$-409]h:mm AM/PM", 0), (14, 0), (17, 0), (22, 0), (45, 0), (46, "1088436:00:00"),
    ("#,##0.00_);[Red]\\(#,##0.00\\)", None), ('#,##0\\ "day"', None), ("General", None), ("0.0E+0", None),
    ("[DBNum1][$-804]General", None), ('[>=1000]0,"K";0', None), ("@", None), (999, None), (49, None)]


def cells_of_formats():
    rows, want = "", {}
    for i, (_, shown) in enumerate(FORMATS, 1):
        rows += number("A%d" % i, "45351.5", i)
        want["A%d" % i] = 45351.5 if shown is None else shown or "2024-02-29T12:00:00"
    return packed(parts(sheet("<row>" + rows.replace("<c ", "</row><row><c ") + "</row>"),
                        formats=styles([f for f, _ in FORMATS]))), want


def old_page(page, code, value):
    return xls(label5(0, 0, value.encode(code)), page=page), {"A1": value}


def others():
    """Name, bytes and the cells that `dtx inspect --cells` shows."""
    yield ("formats",) + cells_of_formats()
    serials = "".join("<row>%s</row>" % number("A%d" % i, v, 1) for i, v in enumerate((1, 59, 60, 61, -1, 2958465), 1))
    yield "1900", packed(parts(sheet(serials), formats=styles([14]))), {
        "A1": "1900-01-01", "A2": "1900-02-28", "A3": 60, "A4": "1900-03-01", "A5": -1, "A6": "9999-12-31"}
    yield "1904", packed(parts(sheet(serials), formats=styles([14]), pr='<workbookPr date1904="true"/>')), {
        "A1": "1904-01-02", "A2": "1904-02-29", "A3": "1904-03-01", "A4": "1904-03-02", "A5": -1, "A6": 2958465}
    yield "texts", packed(parts(
        sheet('<row><c t="s"><v>0</v></c><c t="s"><v> 1 </v></c><c t="s"><v>2</v></c>'
              '<c t="str"><v>q_x000D_r</v></c></row>'), strings=shared(
            "<r><rPr><b/></rPr><t>ri</t></r><r><t>ch</t></r>", '<t>\u6771\u4eac</t><rPh sb="0" eb="2"><t>x</t></rPh>',
            '<t xml:space="preserve"> _x005F_x0041_ _xD83D__xDE00_</t>'))), {
        "A1": "rich", "B1": "\u6771\u4eac", "C1": " _x0041_ \U0001F600", "D1": "q\rr"}
    yield "formulas", packed(parts(sheet(
        '<row><c><f t="shared" ref="A1:B1" si="0">1+1</f></c><c><f t="shared" si="0"/><v>2</v></c>'
        '<c cm="1"><f t="array" aca="1" ref="C1" ca="1">SEQUENCE(1)</f><v>1</v></c><c t="e" vm="1"><v>#VALUE!</v></c>'
        '<c t="b"><f>TRUE()</f><v>1</v></c><c t="d"><v>2024-02-29T13:45:00.250Z</v></c>'
        '<c t="str"><f>""</f><v></v></c><c><v>8</v><f>4*2</f></c></row>'))), {
        "B1": 2, "C1": 1, "D1": "#VALUE!", "E1": True, "F1": "2024-02-29T13:45:00.25", "H1": 8}
    yield "last cell", packed(parts(sheet('<row r="1048576">' + number("XFD1048576", 3) + "</row>"))), {"XFD1048576": 3}
    yield "xls results", xls(
        formula(0, 0, struct.pack("<d", 2.5)) + formula(1, 0, bytes(6) + b"\xff\xff") + rec(0x4BC, bytes(20))
        + rec(0x207, chars("text", "<H")) + formula(2, 0, b"\1\0\1\0\0\0\xff\xff")
        + formula(3, 0, b"\2\0\7\0\0\0\xff\xff") + formula(4, 0, b"\3\0\0\0\0\0\xff\xff")
        + rec(0x205, struct.pack("<3H2B", 5, 0, 0, 42, 1))), {
        "A1": 2.5, "A2": "text", "A3": True, "A4": "#DIV/0!", "A6": "#N/A"}
    yield "xls of 1904", xls(real(0, 0, 43889, 1), rec(0x22, b"\1\0"), (0, 14)), {"A1": "2024-02-29"}
    for page, code, value in ((1252, "cp1252", "caf\u00e9 \u20ac"), (1251, "cp1251", "\u041f\u0440"),
                              (10000, "mac_roman", "caf\u00e9"), (10029, "mac_latin2", "\u0105\u0142\u017e"),
                              (10006, "mac_greek", "\u03a9\u03ae"), (10007, "mac_cyrillic", "\u041f\u0440"),
                              (10081, "mac_turkish", "\u011f\u0130"), (10001, "cp932", "\u6771\u4eac"), (932, "cp932", "\u6771\u4eac \uff71"),
                              (936, "gbk", "\u5317\u4eac"), (949, "cp949", "\uc11c\uc6b8"), (950, "cp950", "\u53f0\u5317")):
        yield ("xls of code page %d" % page,) + old_page(page, code, value)


def column(*values, style=None):
    return "".join("<row>%s</row>" % ("<c/>" if v is None else text("A%d" % i, v) if isinstance(v, str)
                                      else number("A%d" % i, v, style)) for i, v in enumerate(values, 1))


def noted():
    """Name, bytes, options, the CSV that they make and words of the one note, None: there is none."""
    for code, values, shown in (("00000", (2134, 10001), "as 2134"), ("000\\-00\\-0000", (12345678, 5), "as 12345678"),
                                ("00000", (10001, 99999), None), ("0", (1, 2), None), ("00000.0", (1, 2), None)):
        yield "format %s of %s" % (code, values), packed(parts(sheet(column("zip", *values, style=1)), formats=styles(
            [code]))), [], "zip\n%d\n%d\n" % values, shown
    yield "format 00000 beside texts", packed(parts(sheet(column("zip", "00501", 2134, style=1)), formats=styles(["00000"]))), \
        [], "zip\n00501\n2134\n", "as 2134"
    yield "format 00000 of some", packed(parts(sheet(column("zip", 501) + "<row>%s</row>" % number("A3", 2134, 1)), formats=styles(
        ["00000"]))), [], "zip\n501\n2134\n", "as 2134"
    merged = packed(parts(sheet(
        '<row r="1">' + text("A1", "k") + text("B1", "n") + '</row><row r="2">' + text("A2", "x") + number("B2", 1)
        + '</row><row r="3">' + number("B3", 2) + '</row><row r="4">' + text("A4", "y") + number("B4", 3) + "</row>",
        after='<mergeCells><mergeCell ref="A2:A3"/></mergeCells>')))
    yield "merged", merged, [], "k,n\nx,1\n,2\ny,3\n", "1 cell of 1 merged range is null"
    yield "merged, filled", merged, ["--read", "merged=fill"], "k,n\nx,1\nx,2\ny,3\n", None
    yield "merged, as asked for", merged, ["--read", "merged=anchor"], "k,n\nx,1\n,2\ny,3\n", None
    yield "a merged title", packed(parts(sheet(
        '<row r="1">' + text("A1", "Title") + '</row><row r="2">' + text("A2", "k") + text("B2", "n") + '</row><row r="3">'
        + text("A3", "x") + number("B3", 1) + "</row>", after='<mergeCells><mergeCell ref="A1:B1"/></mergeCells>'))), [], \
        "k,n\nx,1\n", "1 row above the header"
    yield "a control character", packed(parts(sheet(column("k", "a&#x1;b", "c&#55357;&#56832;")))), [], \
        "k\na\1b\nc\U0001F600\n", "2 characters that XML does not allow"
    yield "long ints", packed(parts(sheet(column("k", 1914310000010100016, 1914310000010100024)))), [], \
        "k\n1914310000010100016\n1914310000010100024\n", None
    yield "long ints and fractions", packed(parts(sheet(column("k", 1914310000010100016, 0.5)))), [], \
        "k\n1914310000010100016\n0.5\n", "no number type holds all"
