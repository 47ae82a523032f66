#!/usr/bin/env python3
"""Files made to hurt their reader: each must be read, or refused with exit 4, in a second and in
64 MiB besides its own bytes.

usage: hostile.py DTX [PART]      PART: only kinds whose name holds it

Everything is made here, in a temporary folder, one file at a time (up to 500 MB each).  Time is
that of the processors, of dtx and its reader process together, so that a busy machine does not
matter.  Exit 1 if one kind does not hold.
"""
import gzip
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PKG = "http://schemas.openxmlformats.org/package/2006"
DOC = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (f'<Types xmlns="{PKG}/content-types"><Default Extension="xml" '
         'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType='
         '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>')
RELS = (f'<Relationships xmlns="{PKG}/relationships"><Relationship Id="r1" '
        f'Type="{DOC}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
BOOK = (f'<workbook xmlns="{MAIN}" xmlns:r="{DOC}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>')
PARTS = (f'<Relationships xmlns="{PKG}/relationships">'
         f'<Relationship Id="r1" Type="{DOC}/worksheet" Target="worksheets/sheet1.xml"/>'
         f'<Relationship Id="r2" Type="{DOC}/sharedStrings" Target="sharedStrings.xml"/>'
         f'<Relationship Id="r3" Type="{DOC}/styles" Target="styles.xml"/></Relationships>')
HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
ONE = '<row r="2"><c r="A2"><v>1</v></c></row>'
MIB = 1 << 20


def sheet(rows, before="", behind=""):
    return f'<worksheet xmlns="{MAIN}">{before}<sheetData>{rows}</sheetData>{behind}</worksheet>'


def repeated(begin, piece, times, end):
    """A part of which one piece is repeated: written without holding it."""
    def write(out):
        out.write(begin.encode())
        block = piece if isinstance(piece, bytes) else piece.encode()
        many = max(1, MIB // len(block))
        for _ in range(times // many):
            out.write(block * many)
        out.write(block * (times % many))
        out.write(end.encode())
    return write


def book(path, rows=None, strings=None, styles=None, workbook=BOOK, rels=PARTS, more=()):
    parts = [("[Content_Types].xml", TYPES), ("_rels/.rels", RELS), ("xl/workbook.xml", workbook),
             ("xl/_rels/workbook.xml.rels", rels),
             ("xl/worksheets/sheet1.xml", rows or sheet(HEAD + ONE)),
             ("xl/sharedStrings.xml", strings), ("xl/styles.xml", styles), *more]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts:
            if callable(data):
                with archive.open(name, "w", force_zip64=True) as out:
                    data(out)
            elif data is not None:
                archive.writestr(name, data)


def edited(path, edit, **parts):
    """A workbook whose bytes are changed afterwards."""
    book(path, **parts)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    edit(data)
    with open(path, "wb") as file:
        file.write(data)


def entries(data):
    """Places of the central directory's entries."""
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        yield at
        at = data.find(b"PK\x01\x02", at + 4)


def overlap(data):
    first, *rest = list(entries(data))
    for at in rest[3:]:
        data[at + 42:at + 46] = data[first + 42:first + 46]


def lie_size(data):
    for at in entries(data):
        struct.pack_into("<I", data, at + 24, 0x7fffffff)


def zip64_lie(data):
    end = data.rfind(b"PK\x05\x06")
    struct.pack_into("<HHII", data, end + 8, 0xffff, 0xffff, 0xffffffff, 0xffffffff)
    far = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1 << 60, 1 << 60, 1 << 62,
                      1 << 61)
    data[end:end] = far + struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)


def quine(path):
    """An archive whose only entry is said to be the archive itself."""
    book(path)
    with open(path, "rb") as file:
        inner = file.read()
    book(path, more=[("xl/embeddings/" + "a" * 200 + ".xlsx", inner)] * 1)


def kernel(path):
    """Many entries over one stream of zeros, each saying that it is all of it."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = body.compress(bytes(16 * MIB)) + body.flush()
    crc = zlib.crc32(bytes(16 * MIB))
    with open(path, "wb") as file:
        head = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 8, 0, 0, crc, len(packed),
                           16 * MIB, 1, 0) + b"a"
        file.write(head + packed)
        start = file.tell()
        for i in range(5000):
            name = b"%d" % i
            file.write(struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, crc,
                                   len(packed), 16 * MIB, len(name), 0, 0, 0, 0, 0, 0) + name)
        size = file.tell() - start
        file.write(struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 5000, 5000, size, start, 0))


def cfb(path, fat, directory=1):
    """A compound file with the given allocation table of its first 128 sectors."""
    head = struct.pack("<8s16sHHHHHHIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16),
                       0x3e, 3, 0xfffe, 9, 6, 0, 0, 0, 1, directory, 0, 4096, 0xfffffffe, 0,
                       0xfffffffe, 0)
    head += struct.pack("<109I", 0, *[0xffffffff] * 108)
    table = struct.pack("<128I", *(fat + [0xffffffff] * (128 - len(fat))))
    entry = ("Workbook".encode("utf-16le").ljust(64, b"\0") +
             struct.pack("<HBBIII", 18, 2, 1, 0xffffffff, 0xffffffff, 0xffffffff) + bytes(36) +
             struct.pack("<IQ", 2, 1 << 30))
    root = ("Root Entry".encode("utf-16le").ljust(64, b"\0") +
            struct.pack("<HBBIII", 22, 5, 1, 0xffffffff, 0xffffffff, 1) + bytes(36) +
            struct.pack("<IQ", 0xfffffffe, 0))
    with open(path, "wb") as file:
        file.write(head + table + (root + entry).ljust(512, b"\0") + bytes(512 * 60))


def text(data, times=1, end=b"", begin=b""):
    def write(path):
        with open(path, "wb") as file:
            file.write(begin)
            block = max(1, MIB // max(1, len(data)))
            for _ in range(times // block):
                file.write(data * block)
            file.write(data * (times % block))
            file.write(end)
    return write


def packed(data, times, begin=b""):
    def write(path):
        with gzip.open(path, "wb", 9) as file:
            file.write(begin)
            for _ in range(times):
                file.write(data)
    return write


def noise(size, seed, table=None):
    def write(path):
        data = random.Random(seed).randbytes(size)
        with open(path, "wb") as file:
            file.write(data.translate(table) if table else data)
    return write


def xlsx(**parts):
    return lambda path: book(path, **parts)


REFUSED, READ = 4, 0
STRINGS = f'<sst xmlns="{MAIN}">'
ROWS = f'<worksheet xmlns="{MAIN}"><sheetData>'
BELOW = "</sheetData></worksheet>"
MERGED = "".join(f'<mergeCell ref="A{i}:XFD{i}"/>' for i in range(3, 200000))
# name, maker, exit status (None: either), a word of the message
KINDS = [
    ("commas.csv", text(b",", 60 * MIB, b"\n"), REFUSED, "65536"),
    ("blank-lines.csv", text(b"\n", 100 * MIB), REFUSED, "empty_input"),
    ("blank-then-table.csv", text(b"\r\n", 40 * MIB, b"a,b\n1,2\n"), READ, ""),
    ("returns.csv", text(b"\r", 50 * MIB), REFUSED, "empty_input"),
    ("blanks.csv", text(b" ", 100 * MIB), None, ""),
    ("nul.csv", text(b"\0", 100 * MIB), REFUSED, "empty_input"),
    ("quotes.csv", text(b'"', 50 * MIB), REFUSED, "16 MiB"),
    ("cell-500m.csv", text(b"x", 500 * MIB, b"\n", b"a,b\n1,"), REFUSED, "16 MiB"),
    ("columns-1m.csv", text(b"name,", MIB, b"z\n"), REFUSED, "65536"),
    ("same-names.csv", text(b"name,", 16000, b"z\n" + b"1," * 16000 + b"1\n"), READ, ""),
    ("utf16-noise.csv", lambda p: noise(20 * MIB, 1)(p) or open(p, "r+b").write(b"\xff\xfe"),
     REFUSED, ""),
    ("noise.csv", noise(30 * MIB, 2), REFUSED, "unsupported_format"),
    ("delimiters.csv", noise(2 * MIB, 3, bytes(b',;\t|"\'\n \\'[i % 9] for i in range(256))), None,
     ""),
    ("gzip-zeros.csv.gz", packed(bytes(MIB), 2000), REFUSED, "archive.ratio"),
    ("gzip-rows.csv.gz", packed(b"1,2\n" * (MIB // 4), 1500, b"a,b\n"), REFUSED, "archive.ratio"),
    ("gzip-of-gzip.csv.gz", lambda p: open(p, "wb").write(gzip.compress(gzip.compress(b"a\n1\n"))),
     REFUSED, "twice"),
    ("gzip-members.csv.gz", text(gzip.compress(b""), 500000), None, ""),
    ("depth.json", text(b"[", 1000000), REFUSED, ""),
    ("objects.json", text(b'{"a":', 1000000), REFUSED, "1024 deep"),
    ("text-200m.json", text(b"x", 200 * MIB, b'"}]', b'[{"a":"'), REFUSED, "16 MiB"),
    ("line-200m.jsonl", text(b"[1,2,3,4],", 20 * MIB, b"0]}\n", b'{"a":['), REFUSED, "16 MiB"),
    ("members-1m.json", lambda p: open(p, "w").write(
        "[{" + ",".join(f'"k{i}":1' for i in range(1000000)) + "}]"), REFUSED, "100000"),
    ("members-differ.jsonl", lambda p: open(p, "w").write(
        "".join('{"k%d":1}\n' % i for i in range(300000))), REFUSED, "100000"),
    ("escapes.json", text(b"\\u0041", 2 * MIB, b'"}]', b'[{"a":"'), READ, ""),
    ("depth.xlsx", xlsx(rows=ROWS + "<a>" * 1000000), REFUSED, "64 deep"),
    ("attributes.xlsx", xlsx(rows=ROWS + "<row " + " ".join(
        f'a{i}="1"' for i in range(100000)) + "/>"), REFUSED, "attributes"),
    ("attribute-64m.xlsx", xlsx(rows=repeated(ROWS + '<row r="', "1", 64 * MIB, '"/>' + BELOW)),
     REFUSED, ""),
    ("laughs.xlsx", xlsx(rows='<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>' +
                         sheet(HEAD)), REFUSED, "DOCTYPE"),
    ("blank-part.xlsx", xlsx(rows=repeated(ROWS, " ", 300 * MIB, BELOW)), REFUSED, ""),
    ("comment.xlsx", xlsx(rows=repeated(ROWS + "<!--", "-x", 100 * MIB, "-->" + BELOW)), REFUSED,
     ""),
    ("cells-32m.xlsx", xlsx(rows=repeated(ROWS, "<row>" + "<c><v>1</v></c>" * 160 + "</row>",
                                          200000, BELOW)), REFUSED, "archive.ratio"),
    ("rows-8m.xlsx", xlsx(rows=repeated(ROWS, "<row/>", 8 * MIB, BELOW)), REFUSED, ""),
    ("strings-2m.xlsx", xlsx(rows=sheet('<row><c t="s"><v>0</v></c></row>'), strings=repeated(
        STRINGS, "<si><t>x</t></si>", 2000000, "</sst>")), READ, ""),
    ("strings-none.xlsx", xlsx(strings=repeated(STRINGS, "<si/>", 8000000, "</sst>")), None, ""),
    ("string-64m.xlsx", xlsx(rows=sheet('<row><c t="s"><v>0</v></c></row>'), strings=repeated(
        STRINGS + "<si><t>", "a", 64 * MIB, "</t></si></sst>")), REFUSED, "archive.text"),
    ("runs-8m.xlsx", xlsx(rows=sheet('<row><c t="s"><v>0</v></c></row>'), strings=repeated(
        STRINGS + "<si>", "<r><t/></r>", 8000000, "</si></sst>")), REFUSED, ""),
    ("styles.xlsx", xlsx(styles=repeated(f'<styleSheet xmlns="{MAIN}"><cellXfs>',
                                         '<xf numFmtId="14"/>', 1000000,
                                         "</cellXfs></styleSheet>")), REFUSED, "styles"),
    ("formats.xlsx", xlsx(styles=f'<styleSheet xmlns="{MAIN}"><numFmts>' + "".join(
        f'<numFmt numFmtId="{i}" formatCode="0.{"0" * (i % 50)}"/>' for i in range(164, 100000)) +
        "</numFmts></styleSheet>"), REFUSED, "formats"),
    ("merge-all.xlsx", xlsx(rows=sheet(HEAD + ONE, behind='<mergeCells><mergeCell '
                                       'ref="A3:XFD1048576"/></mergeCells>')), READ, ""),
    ("merge-rows.xlsx", xlsx(rows=sheet(HEAD + ONE, behind=f"<mergeCells>{MERGED}</mergeCells>")),
     READ, ""),
    ("merges-2m.xlsx", xlsx(rows=repeated(ROWS + HEAD + "</sheetData><mergeCells>",
                                          '<mergeCell ref="A3:B3"/>', 2000000,
                                          "</mergeCells></worksheet>")), REFUSED, ""),
    ("corners.xlsx", xlsx(rows=sheet(HEAD + '<row r="1048576"><c r="XFD1048576"><v>1</v></c>'
                                     "</row>")), READ, ""),
    ("row-number.xlsx", xlsx(rows=sheet('<row r="99999999999"><c><v>1</v></c></row>')), REFUSED,
     "row number"),
    ("dimension.xlsx", xlsx(rows=sheet(HEAD + ONE, '<dimension ref="A1:XFD1048576"/>')), READ, ""),
    ("sheets-1m.xlsx", xlsx(workbook=BOOK.replace('<sheet name="S" sheetId="1" r:id="r1"/>', "".join(
        f'<sheet name="S{i}" sheetId="{i}" r:id="r1"/>' for i in range(1, 1000000)))), REFUSED,
     "sheets"),
    ("relations-1m.xlsx", xlsx(rels=PARTS.replace("<Relationship Id=\"r1\"", "".join(
        f'<Relationship Id="x{i}" Type="{DOC}/theme" Target="t{i}.xml"/>' for i in range(300000)) +
        "<Relationship Id=\"r1\"")), None, ""),
    ("names-1m.xlsx", xlsx(workbook=BOOK.replace("</workbook>", "<definedNames>" + "".join(
        f'<definedName name="n{i}">S!$A$1</definedName>' for i in range(1000000)) +
        "</definedNames></workbook>")), None, ""),
    ("entries-20k.xlsx", xlsx(more=[(f"junk/{i}", "") for i in range(20000)]), REFUSED,
     "archive.entries"),
    ("overlap.xlsx", lambda p: edited(p, overlap), REFUSED, "corrupt_file"),
    ("kernel.xlsx", kernel, REFUSED, ""),
    ("size-lie.xlsx", lambda p: edited(p, lie_size), REFUSED, ""),
    ("zip64-lie.xlsx", lambda p: edited(p, zip64_lie), REFUSED, "corrupt_file"),
    ("itself.xlsx", quine, READ, ""),
    ("fat-loop.xls", lambda p: cfb(p, [0xfffffffd, 0xfffffffe, 3, 2]), REFUSED, ""),
    ("directory-loop.xls", lambda p: cfb(p, [0xfffffffd, 1, 3, 0xfffffffe]), REFUSED, ""),
    ("chain-out.xls", lambda p: cfb(p, [0xfffffffd, 0xfffffffe, 0x7fffffff]), REFUSED, ""),
]


def run(argv):
    """Exit status, what it said, seconds of processor, peak KiB of one process.  time(1) asks, since
    a child of this process would begin with what this one holds."""
    with tempfile.NamedTemporaryFile("r") as figures:
        done = subprocess.run(["/usr/bin/time", "-q", "-o", figures.name, "-f", "%U %S %M", *argv],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=120, check=False)
        user, system, peak = figures.read().split()[-3:]
    return (done.returncode, done.stderr.decode(errors="replace"), float(user) + float(system),
            int(peak))


def main():
    dtx, part = os.path.abspath(sys.argv[1]), "".join(sys.argv[2:3])
    bad = 0
    print(f"{'kind':22} {'':8} {'exit':>4} {'CPU s':>6} {'MiB':>6}  message")
    for name, make, status, word in KINDS:
        if part not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            make(path)
            own = 0 if name.endswith((".gz", ".xlsx")) else os.path.getsize(path) / MIB
            for repair in ([], ["--repair"]):
                code, said, seconds, peak = run([dtx, "convert", *repair, "--store",
                                                 os.path.join(folder, "store.db"), path,
                                                 "-o", os.path.join(folder, "out.csv")])
                more = peak / 1024 - own
                wanted = status in (None, code) or (repair and code in (READ, REFUSED))
                ok = (wanted and seconds <= 1.0 and more <= 64 and
                      (repair or word in said))
                bad += not ok
                line = said.replace(folder + "/", "").strip().split("\n")[0][:100]
                print(f"{name:22} {'repair' if repair else '':8} {code:4} {seconds:6.2f} "
                      f"{more:6.1f}  {'' if ok else 'NOT '}{line}", flush=True)
    print(f"{bad} do not hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
