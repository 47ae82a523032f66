"""The HTML report in a real browser: what it shows, that nothing in it runs or leaves, that it prints.
Usage: /usr/bin/python3 tests/report/check.py DTX"""
import base64
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, os.path.dirname(__file__))
import cdp

DTX = os.path.abspath(sys.argv[1])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
passed = failed = 0

EVIL = '<script>window.ran=1</script>'
PLAN = """{"dtx": 1, "inputs": [{"name": "main"}, {"name": "rates"}], "steps": [
 {"op": "filter", "where": "hours > 0"},
 {"op": "join", "with": "rates", "on": ["grade"]},
 {"op": "group_by", "by": ["<script>window.ran=1</script>"], "agg": {"x\\" onload=\\"window.ran=1": "sum(hours)",
  "cost": "sum(hours * rate)"}, "out": "g"},
 {"op": "sort", "in": "g", "by": [{"col": "cost", "desc": true}]}],
 "output": [{"path": "a.csv"}, {"path": "<img src=x onerror='window.ran=1'>.csv", "table": "g"}]}"""

# Contrast of two colours as the web's accessibility rules count it.
CONTRAST = """(() => {
  const lum = c => c.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const back = lum(getComputedStyle(document.body).backgroundColor);
  let worst = 99;
  for (const e of document.querySelectorAll('body *')) {
    if (!e.textContent.trim() || e.closest('style')) continue;
    const s = getComputedStyle(e), l = lum(e instanceof SVGElement ? s.fill : s.color);
    if (s.fill === 'none' && e instanceof SVGElement) continue;
    if (e instanceof SVGElement && e.tagName !== 'text' && e.tagName !== 'tspan') continue;
    worst = Math.min(worst, (Math.max(l, back) + .05) / (Math.min(l, back) + .05));
  }
  return worst;
})()"""

HEADINGS = """(() => { let last = 0;
  for (const h of document.querySelectorAll('h1,h2,h3,h4')) { const n = +h.tagName[1]; if (n > last + 1) return false; last = n; }
  return document.querySelectorAll('h1').length === 1; })()"""


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok - " if ok else "not ok - ") + name + ("" if ok or why == "" else "\n# " + str(why)))


def dtx(*args):
    subprocess.run([DTX, *args], check=True, stdin=subprocess.DEVNULL)


def reports(folder):
    os.chdir(folder)
    os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
    with open("main.csv", "w") as f:
        f.write("grade,hours,%s\nA,1,<b>bold</b>\nB,2,y\nA,0,z\nC,5,\u202eevil\n" % EVIL)
    with open("rates.csv", "w") as f:
        f.write("grade,rate\nA,10\nB,20\nC,30\n")
    with open("plan.json", "w") as f:
        f.write(PLAN)
    dtx("run", "plan.json", "main.csv", "rates=rates.csv")
    dtx("provenance", "a.csv", "--html", "typed.html")
    for name in ("xlsx/weeks.xlsx", "plans/balance.json", "snippets/balance.txt"):
        subprocess.run(["cp", os.path.join(ROOT, "fixtures", name), "."], check=True)
    dtx("run", "balance.json", "weeks.xlsx", "--snippet", "balance.txt", "-o", "b.csv")
    dtx("provenance", "b.csv", "--html", "snippet.html")
    dtx("provenance", "b.csv", "--html", "again.html")
    dtx("provenance", "a.csv", "--html", "sample.html", "--with-sample", "2")
    unusual()
    many()


def many():
    """An input of several files, few and many, joined with another."""
    for n in (3, 70):
        os.mkdir("parts%d" % n)
        for i in range(n):
            with open("parts%d/day%02d.csv" % (n, i), "w") as f:
                f.write("grade,hours\nA,%d\nB,0\n" % (i + 1))
        with open("glob.json", "w") as f:
            f.write('{"dtx": 1, "name": "Hours of all days", "inputs": [{"name": "main", "path": "parts%d/*.csv",'
                    ' "source_file": "file"}, {"name": "rates", "path": "rates.csv"}], "steps": ['
                    '{"op": "filter", "where": "hours > 0"}, {"op": "join", "with": "rates", "on": ["grade"]},'
                    '{"op": "group_by", "by": ["grade"], "agg": {"cost": "sum(hours * rate)"}}]}' % n)
        dtx("run", "glob.json", "-o", "glob%d.csv" % n)
        dtx("provenance", "glob%d.csv" % n, "--html", "glob%d.html" % n)


def files(page):
    for n in (3, 70):
        page.open("file://" + os.path.abspath("glob%d.html" % n))
        text = page.value("document.body.innerText")
        check("%d files: all are named, with their rows" % n,
              all("day%02d.csv \u00b7 2 rows" % i in text for i in range(n)), text[:1500])
        check("%d files: the plan's name" % n, "By the plan Hours of all days, in glob.json" in text, text[:200])
        rows = page.value("[...document.querySelector('#steps').parentElement.querySelectorAll('tbody tr')]"
                          ".map(r => [...r.cells].map(c => c.innerText))")
        check("%d files: each step has its own rows" % n,
              [(r[0], r[1], r[4]) for r in rows] == [("1", "filter", str(n)), ("2", "join", str(n)), ("3", "group_by", "1")], rows)
        drawn = page.value("[...document.querySelectorAll('figure svg g')].map(g => [...g.querySelectorAll('text')]"
                           ".map(t => t.textContent).join(': '))")
        together = ["day%02d.csv: 2 rows" % i for i in range(3)] + ["3 files together: 6 rows"] if n == 3 else ["70 files: 140 rows"]
        check("%d files: what is drawn" % n, drawn == together + [
            "rates.csv: 3 rows", "1 filter: %d rows" % n, "2 join: %d rows" % n, "3 group_by: 1 row", "glob%d.csv: 1 row" % n], drawn)
        listed = page.value("[...document.querySelectorAll('figure + details li')].map(l => l.textContent)")
        check("%d files: the first step reads all of them" % n,
              any("step filter from" in one and "%d files" % n in one for one in listed), listed)
        cells = page.value("[...document.querySelector('#formulas').parentElement.querySelectorAll('tbody tr')]"
                           ".map(r => [...r.cells].map(c => c.innerText))")
        check("%d files: each formula has its source columns" % n,
              cells and all(r[2] and r[3] for r in cells) and
              any(r[0] == "cost" and r[3] == "main.hours of %d files, rates.rate" % n for r in cells), cells)


def narrow(page, name):
    """On a narrow page nothing is wider than its place."""
    page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    page.open("file://" + os.path.abspath(name))
    cut = page.value("[document.documentElement, ...document.querySelectorAll('body *')].filter(e => e.clientWidth &&"
                     " e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')"
                     ".map(e => e.tagName + ' ' + e.scrollWidth + ' ' + e.textContent.slice(0, 60))")
    check(name + ", 400 pixels: nothing is cut", cut == [], cut)
    check(name + ", 400 pixels: what was drawn is there as a list", page.value(
        "[...document.querySelectorAll('figure')].every(f => !f.checkVisibility()) &&"
        " [...document.querySelectorAll('details')].every(d => d.querySelector('ul,ol,table').checkVisibility())"))
    page.call("Emulation.clearDeviceMetricsOverride")


def unusual():
    """A file that was read with repairs, and a run that failed in its first step."""
    with open("dirty.csv", "w") as f:
        f.write('id,name,amount\n1,"a ""x,5\n2,b,1.000,00\n3,c,3,4,5\n4,d\n')
    with open("keep.json", "w") as f:
        f.write('{"dtx": 1, "steps": [{"op": "filter", "where": "id > 0"}], "output": {"path": "d.csv"}}')
    dtx("run", "keep.json", "dirty.csv", "--repair")
    dtx("provenance", "d.csv", "--html", "repaired.html")
    with open("stop.json", "w") as f:
        f.write('{"dtx": 1, "steps": [{"op": "assert", "rules": [{"rule": "range", "col": "hours", "min": 3}]}]}')
    done = subprocess.run([DTX, "run", "stop.json", "main.csv", "-o", "none.csv"], stdin=subprocess.DEVNULL)
    check("the run that is to fail fails", done.returncode == 10, done.returncode)
    log = subprocess.run([DTX, "provenance", "log"], check=True, capture_output=True, text=True).stdout
    dtx("provenance", log.split()[0], "--html", "failed.html")


def warned(page):
    page.open("file://" + os.path.abspath("repaired.html"))
    rows = page.value("[...document.querySelector('#warnings').parentElement.querySelectorAll('tbody tr')]"
                      ".map(r => [...r.cells].map(c => c.innerText))")
    check("a repair names what was refused, and where",
          any(r[0] == "repaired: ragged_rows" and "fewer cells" in r[1] and r[2] == "main L3" for r in rows), rows)
    check("what was not counted has no number", rows and all(not r[3].startswith(("-", "\u2212")) for r in rows), rows)
    page.open("file://" + os.path.abspath("failed.html"))
    text = page.value("document.body.innerText + document.querySelector('figure').textContent")
    check("a failed run says by what", "assert_failed" in text and "at least 3" in text, text)
    check("a failed run does not say that its input has no rows", "0 rows" not in text)
    check("a failed run says so before all else, in words", page.value("document.querySelector('h1 + p').innerText") ==
          "This run failed: assert_failed, a rule of the plan does not hold, in step 1.", text[:300])
    rows = page.value("[...document.querySelector('#events').parentElement.querySelectorAll('tbody tr')]"
                      ".map(r => [...r.cells].map(c => c.innerText))")
    check("each event says what it was", rows and all(r[1] for r in rows) and rows[0][1] == "run of stop.json, steps: 1", rows)
    check("a table without rows is not shown",
          page.value("[...document.querySelectorAll('tbody')].every(t => t.rows.length)"))


def shows(page, name):
    url = "file://" + os.path.abspath(name)
    asked = page.open(url)
    check(name + " asks for nothing but itself", asked == [url], asked)
    check(name + " has one h1, and levels without a gap", page.value(HEADINGS))
    check(name + " holds no script and no foreign element",
          page.value("document.querySelectorAll('script,img,b,iframe,link,object').length") == 0)
    check(name + " ran nothing", page.value("window.ran === undefined"))
    check(name + " has a name and a description for each picture", page.value(
        "[...document.querySelectorAll('svg[role=img]')].every(s => s.querySelector('title') && s.querySelector('desc'))"
        " && document.querySelectorAll('svg:not(.profile)').length === 2"))
    check(name + " says of each header cell what it heads",
          page.value("[...document.querySelectorAll('th')].every(t => t.hasAttribute('scope'))"))
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    check(name + " is passed to its summary by the first key, in sight", page.value(
        "(e => e.getAttribute('href') === '#summary' && e.className === 'skip' && getComputedStyle(e).outlineWidth === '3px' && "
        "e.getBoundingClientRect().left >= 0)(document.activeElement)"))
    check(name + " has a name for each table", page.value(
        "[...document.querySelectorAll('table')].every(t => t.caption || t.getAttribute('aria-label'))"))
    check(name + " links to sections that are there", page.value(
        "[...document.querySelectorAll('nav a')].every(a => document.getElementById(a.hash.slice(1)))"))
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        worst = page.value(CONTRAST)
        check("%s, %s: contrast of 4.5 at least" % (name, scheme), worst >= 4.5, worst)
    dark = page.value("getComputedStyle(document.body).backgroundColor")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    check(name + " is dark where that is wanted", dark != page.value("getComputedStyle(document.body).backgroundColor"))
    wide = page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    check(name + " does not scroll sideways", wide)
    pdf = base64.b64decode(page.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    sizes = set(re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", pdf))
    page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    check(name + " prints on white", page.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)")
    check(name + " prints what is folded", page.value(
        "[...document.querySelectorAll('details')].every(d => d.querySelector('ul,ol,table').checkVisibility())"))
    page.call("Emulation.setEmulatedMedia", media="", features=[])
    check(name + " prints on A4", all(abs(float(w) - 595) < 1.5 and abs(float(h) - 842) < 1.5 for w, h in sizes), sizes)


def content(page):
    page.open("file://" + os.path.abspath("typed.html"))
    text = page.value("document.body.innerText")
    check("each source of a column is named once", page.value(
        "[...document.querySelector('#formulas').parentElement.querySelectorAll('tbody tr')].every(r => "
        "(n => new Set(n).size === n.length)(r.cells[3].innerText.split(', ')))"))
    check("hostile names are shown as they are", EVIL in text and 'x" onload="window.ran=1' in text)
    check("no cell of the data is shown", "evil" not in text and "bold" not in text)
    check("a step is drawn for each of the plan",
          page.value("document.querySelectorAll('svg rect.step').length") == 4)
    check("columns of the results are drawn, each with its bars in words", page.value(
        "(() => { const p = [...document.querySelectorAll('svg.profile')]; return p.length === 6 &&"
        " p.every(s => s.querySelectorAll('rect').length && /[0-9]/.test(s.querySelector('desc').textContent)); })()"))
    check("each step stands with its formulas", page.value(
        "/cost = sum\\(hours \\* rate\\)/.test([...document.querySelectorAll('section')]"
        ".find(s => s.querySelector('#steps')).innerText)"))
    check("both files are read by the join",
          page.value("[...document.querySelectorAll('figure + details li')].some(l => /join from filter and rates/.test(l.textContent))"))
    page.open("file://" + os.path.abspath("sample.html"))
    text = page.value("document.querySelector('#sample').parentElement.innerText")
    check("rows of the result are shown where they are asked for", "<b>bold</b>" in text and "cost" in text, text)
    check("cells with markup are shown as they are", page.value("document.querySelectorAll('b').length") == 0)
    page.open("file://" + os.path.abspath("snippet.html") + "#L7")
    check("a line of code can be linked to",
          page.value("document.querySelector('tr:target td:last-child').textContent") == "def transform(tables, params):")
    check("the snippet's frame is its own", page.value("document.querySelectorAll('svg rect.snippet').length") == 1)
    same = open("snippet.html", "rb").read() == open("again.html", "rb").read()
    check("the same record gives the same bytes", same)


class Listener(BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Listener.asked.append(self.path)
        self.send_response(404)
        self.end_headers()

    def log_message(self, *args):
        pass


def policy(page):
    """What a leak would look like: stopped by the page's policy, and shown to happen without it."""
    server = HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    text = open("typed.html").read()
    bad = "<script>document.title='ran'</script><img src='http://127.0.0.1:%d/leak'>" % port
    bare = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text)
    for name, page_text, leaks in (("with.html", text, False), ("without.html", bare, True)):
        with open(name, "w") as f:
            f.write(page_text.replace("</main>", bad + "</main>"))
        Listener.asked.clear()
        page.open("file://" + os.path.abspath(name))
        ran = page.value("document.title") == "ran"
        check("a script in the page %s" % ("runs without the policy" if leaks else "is stopped"), ran == leaks)
        check("a picture from elsewhere %s" % ("is asked for without the policy" if leaks else "is not asked for"),
              bool(Listener.asked) == leaks, Listener.asked)
    server.shutdown()


def main():
    if not cdp.BROWSER:
        print("ok - report in a browser # SKIP chromium is not installed (make deps-test-all)")
        print("0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory(prefix="dtx-report-") as folder:
        reports(folder)
        page = cdp.Page()
        try:
            shows(page, "typed.html")
            shows(page, "snippet.html")
            shows(page, "sample.html")
            content(page)
            warned(page)
            files(page)
            for name in ("typed.html", "snippet.html", "sample.html", "repaired.html", "failed.html", "glob3.html", "glob70.html"):
                narrow(page, name)
            policy(page)
        finally:
            page.close()
            os.chdir("/")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed > 0)


main()
