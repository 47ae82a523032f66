#!/usr/bin/python3
"""Files that are made to exhaust a reader.  Each must be read, or refused with the right exit status
and message, within a second of processor time and 64 MiB.

usage: bombs.py DTX
"""
import os
import resource
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CPU_S = 3.0  # a second, with a margin for a busy machine
PEAK_KB = (64 + 16) << 10  # 64 MiB for the file, the rest for the program and its libraries


def book(path, sheet, strings=None, extra=(), level=6):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as z:
        z.writestr("_rels/.rels", '<Relationships><Relationship Id="a" Type="%s/officeDocument" '
                   'Target="xl/workbook.xml"/></Relationships>' % REL)
        z.writestr("xl/workbook.xml", '<workbook xmlns="%s" xmlns:r="%s"><sheets><sheet name="S" '
                   'sheetId="1" r:id="s"/></sheets></workbook>' % (MAIN, REL))
        z.writestr("xl/_rels/workbook.xml.rels", '<Relationships><Relationship Id="s" '
                   'Type="%s/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="t" '
                   'Type="%s/sharedStrings" Target="sharedStrings.xml"/></Relationships>' % (REL, REL))
        if strings is not None:
            z.writestr("xl/sharedStrings.xml", strings)
        with z.open("xl/worksheets/sheet1.xml", "w") as f:
            for part in ([sheet] if isinstance(sheet, (str, bytes)) else sheet):
                f.write(part.encode() if isinstance(part, str) else part)
        for name, data in extra:
            z.writestr(name, data)


def sheet(body):
    return '<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (MAIN, body)


def blanks(path):
    book(path, [sheet("").replace("</sheetData></worksheet>", "")] + [b" " * (1 << 20)] * 64)


def elements(path):
    """Elements without meaning: each has four bytes in the file and costs a hundred in memory."""
    book(path, [sheet("").replace("</sheetData></worksheet>", "")] + [b"<a/>" * (1 << 18)] * 32)


def one_row(path):
    """Repeats one cell in one row, so that no window of rows ever becomes full."""
    book(path, [sheet("").replace("</sheetData></worksheet>", "<row>")]
         + [b'<c r="A1"><v>1</v></c>' * (1 << 16)] * 16)


def no_strings(path):
    """Very many empty shared strings, of which a cell uses the last."""
    book(path, sheet('<row r="1"><c r="A1" t="s"><v>60000000</v></c></row>'),
         '<sst xmlns="%s">' % MAIN + "<si/>" * 5000000)


def deep(path):
    book(path, "<worksheet>" + "<a>" * 1000000)


def doctype(path):
    book(path, '<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><worksheet>&b;</worksheet>')


def counts(path):
    book(path, '<worksheet xmlns="%s"><dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" '
         't="s"><v>0</v></c></row><row r="2"><c r="A2"><v>1</v></c></row></sheetData>'
         '<mergeCells count="4000000000"/></worksheet>' % MAIN,
         '<sst xmlns="%s" count="4000000000" uniqueCount="4000000000"><si><t>k</t></si></sst>' % MAIN)


def corners(path):
    book(path, sheet('<row r="1"><c r="A1" t="str"><v>k</v></c><c r="XFD1" t="str"><v>v</v></c></row>'
                     '<row r="1048576"><c r="A1048576"><v>1</v></c><c r="XFD1048576"><v>2</v></c></row>'))


def merged(path):
    body = sheet('<row r="1"><c r="A1" t="str"><v>k</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>')
    book(path, body.replace("</worksheet>", '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'))


def long_text(path):
    book(path, [sheet("").replace("</sheetData></worksheet>", "")
                + '<row r="1"><c r="A1" t="inlineStr"><is><t>'] + [b"x" * (1 << 20)] * 32)


def attributes(path):
    book(path, "<worksheet " + " ".join('a%d="1"' % i for i in range(200000)) + "/>")


def bad_cell(path):
    book(path, sheet('<row r="9999999999"><c r="ZZZZ99999999"><v>1</v></c></row>'))


def many_entries(path):
    with zipfile.ZipFile(path, "w") as z:
        for i in range(12000):
            z.writestr("a%d" % i, "")


def end_record(count, size, offset):
    return struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, size, offset, 0)


def overlap(path):
    """Many names for the same bytes."""
    data = zlib.compress(b"\0" * (1 << 20), 9)[2:-4]
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, zlib.crc32(b"\0" * (1 << 20)),
                        len(data), 1 << 20, 1, 0) + b"a" + data
    central = b""
    for i in range(9000):
        name = b"n%d" % i
        central += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0,
                               zlib.crc32(b"\0" * (1 << 20)), len(data), 1 << 20, len(name), 0, 0, 0, 0, 0,
                               0) + name
    with open(path, "wb") as f:
        f.write(local + central + end_record(9000, len(central), len(local)))


def lying_size(path):
    """The directory declares 10 bytes, the stream unpacks to 16 MiB."""
    book(path, [b" " * (1 << 20)] * 16)
    raw = bytearray(open(path, "rb").read())
    at = raw.rfind(b"xl/worksheets/sheet1.xml") - 46
    raw[at + 24:at + 28] = struct.pack("<I", 10)
    open(path, "wb").write(raw)


def twice(path):
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("xl/workbook.xml", "<a/>")
        z.writestr("XL/Workbook.XML", "<b/>")


def compound(path):
    """A chain of sectors without an end: every sector is its own successor."""
    head = bytearray(512)
    head[:8] = bytes.fromhex("d0cf11e0a1b11ae1")
    struct.pack_into("<HHHHH", head, 24, 0x3E, 3, 0xFFFE, 9, 6)
    struct.pack_into("<IIII", head, 44, 1, 1, 0, 4096)
    struct.pack_into("<IIII", head, 60, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    struct.pack_into("<109I", head, 76, *([0] + [0xFFFFFFFF] * 108))
    loop = struct.pack("<128I", *range(128))
    with open(path, "wb") as f:
        f.write(bytes(head) + loop + b"\0" * 512 * 126)


# name, function that makes it, exit status, a word of the message; None: it is read
CASES = [
    ("64 MiB of blanks", blanks, 8, "without a tag (limit 'archive.text')"),
    ("8 M elements that mean nothing", elements, 8, "without a value (limit 'archive.idle')"),
    ("a million cells in one row", one_row, 4, "16384 cells"),
    ("5 M empty strings", no_strings, 8, "without a value (limit 'archive.idle')"),
    ("a million levels", deep, 8, "limit 'archive.depth'"),
    ("a DOCTYPE", doctype, 4, "DOCTYPE"),
    ("counts of four thousand million", counts, 0, None),
    ("cells in two far corners", corners, 0, None),
    ("a merge of the whole sheet", merged, 0, None),
    ("a text of 32 MiB", long_text, 8, "limit 'archive.text'|limit 'archive.ratio'"),
    ("200,000 attributes", attributes, 8, "limit 'archive.attributes'|limit 'archive.tag'"),
    ("a cell beyond the last", bad_cell, 4, ""),
    ("12,000 entries", many_entries, 8, "limit 'archive.entries'"),
    ("9,000 names for the same bytes", overlap, 4, "another name|overlap"),
    ("a size that lies", lying_size, 4, ""),
    ("two parts of one name", twice, 4, "two|named"),
    ("a chain of sectors without end", compound, 4, ""),
]


def measured(argv, seconds):
    """Exit status, stderr, and processor time and peak memory of dtx with its children."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        p = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=seconds)
        use = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(write, repr((p.returncode, p.stderr.decode(errors="replace")[:2000],
                              use.ru_utime + use.ru_stime, use.ru_maxrss)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        text = f.read()
    os.waitpid(pid, 0)
    return eval(text) if text else (-1, "no end in %d s" % seconds, seconds, 0)


def verdict(got, want, words):
    status, err, cpu, peak = got
    if status != want:
        return "exit %d, expected %d: %s" % (status, want, err.strip())
    if words and not any(w in err for w in words.split("|")):
        return "the message names none of %s: %s" % (words, err.strip())
    if "process" in err:
        return "the reader did not say it itself: " + err.strip()
    if cpu > CPU_S:
        return "%.2f s of processor time" % cpu
    if peak > PEAK_KB:
        return "%d MiB" % (peak >> 10)
    return ""


def main():
    dtx = os.path.realpath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
        os.environ["HOME"] = folder
        for name, make, want, words in CASES:
            path = os.path.join(folder, "bomb.xlsx")
            make(path)
            got = measured([dtx, "convert", path, "-o", os.path.join(folder, "out.csv"), "--header-rows", "1"], 60)
            wrong = verdict(got, want, words)
            failed += bool(wrong)
            print("%s - %s%s" % ("not ok" if wrong else "ok", name,
                                 ": " + wrong if wrong else " (%.2f s, %d MiB)" % (got[2], got[3] >> 10)))
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
