#!/usr/bin/env python3
"""`tactus watch --html`: the figures in the page are those of the JSON; the page needs nothing else, and in a
browser nothing of it is too wide for a phone.

usage: test_watch_page.py TACTUS CAPTURES
"""
import html.parser
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from watch_lab import pcapng, stream

SUMMARY = {"mean": "mean_ns", "stdev": "stdev_ns", "min": "min_ns", "p50": "p50_ns", "p99": "p99_ns",
           "p99.9": "p99_9_ns", "max": "max_ns", "range": "range_ns", "n": "n"}
TABLES = {"Interval between arrivals, ns": "interval_ns", "Lateness against the media grid, ns": "lateness_ns",
          "Margin: presentation time - arrival, ns": "margin_ns"}
COUNTS = {"PDUs": "pdus", "lost": "lost", "dup": "duplicated", "reord": "reordered", "rate Hz": "rate_hz",
          "ch": "channels", "fr/PDU": "frames_per_pdu", "VLAN": "vlan_id", "PCP": "pcp"}


class Tables(html.parser.HTMLParser):
    """{caption: rows}, the first of which are headings; and every tag with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.text, self.rows = {}, [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.text = ""
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[self.text] = self.rows
        elif tag in ("th", "td"):
            self.rows[-1].append(self.text)


def shown(value):
    """As a table shows it: unknown, with tenths (mean and stdev), or in groups of three."""
    if value is None:
        return "-"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def faults_of_figures(seen, page):
    for caption, key in TABLES.items():
        heads, *rows = page.tables[caption]
        for stream, row in zip(seen["streams"], rows, strict=True):
            for head, cell in zip(heads, row, strict=True):
                if head not in SUMMARY:
                    continue
                value = stream[key][SUMMARY[head]]
                value = float(value) if head in ("mean", "stdev") and value is not None else value
                # JSON has 0.001 ns where the table has tenths: a half may go either way.
                near = value is not None and isinstance(value, float) and abs(float(cell.replace(",", "")) - value) <= 0.051
                if cell != shown(value) and not near:
                    yield f"{caption}: {head} is {cell} in the page, {value} in the JSON"
    heads, *rows = page.tables["Streams"]
    for stream, row in zip(seen["streams"], rows, strict=True):
        for head, cell in zip(heads, row, strict=True):
            if head in COUNTS and cell != shown(stream.get(COUNTS[head])):
                yield f"Streams: {head} is {cell} in the page, {stream.get(COUNTS[head])} in the JSON"
    said = [row[3] for row in page.tables.get("Findings", [[]])[1:]]
    if said != [finding["text"] for stream in seen["streams"] for finding in stream["findings"]]:
        yield f"other findings in the page: {said}"


def faults_of_page(text, page):
    if "This machine" in text:
        yield "this machine is shown, and a file may be of another"
    for caption in ("Intervals, how many of each", "Margin before presentation"):
        bars = re.search(caption + r"</title>.*?values in (\d+) bars", text, re.DOTALL)
        if bars and int(bars.group(1)) < 8:
            yield f"{caption}: {bars.group(1)} bars"
    if re.search(r"<script|https?:|//|@import|url\(", re.sub(r"<!DOCTYPE.*", "", text)):
        yield "something is fetched or run"
    figures = [attributes for tag, attributes in page.tags if tag == "svg"]
    if not figures or any(a.get("role") != "img" or "aria-labelledby" not in a for a in figures):
        yield f"{len(figures)} figures, not all of which have a name"
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    wanted = [a[key] for a in figures for key in ("aria-labelledby", "aria-describedby")]
    if len(ids) != len(set(ids)) or not set(wanted) <= set(ids):
        yield "the figures' names are not there, or twice"


def faults_in_browser(browser, folder, name):
    """Frames as wide as a phone and as a desk, light and dark: nothing may be wider than its frame."""
    frames = "".join(f'<iframe src="{name}" style="width:{width}px;height:900px;color-scheme:{scheme}"></iframe>'
                     for width in (320, 390, 1200) for scheme in ("light", "dark"))
    (folder / "frames.html").write_text(f"""<!DOCTYPE html><body>{frames}<script>onload = () => {{
        document.body.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(f => {{
            const d = f.contentDocument, s = f.contentWindow.getComputedStyle(d.body);
            return [f.clientWidth, d.documentElement.scrollWidth, s.backgroundColor, s.color,
                    d.querySelectorAll("svg").length,
                    [...d.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).length,
                    [...d.querySelectorAll("svg text")].filter(t => {{
                        const b = t.getBBox(), v = t.ownerSVGElement.viewBox.baseVal;
                        return b.x < 0 || b.y < 0 || b.x + b.width > v.width || b.y + b.height > v.height;
                    }}).map(t => t.textContent)];
        }}))}}</script>""")
    done = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                           f"--user-data-dir={folder}/profile", "--dump-dom", f"file://{folder}/frames.html"],
                          capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"<body>(\[.*?\])(<|$)", done.stdout)
    if not found:
        return [f"the browser did not measure: {done.stdout[-300:]} {done.stderr[-300:]}"]
    measured = json.loads(found.group(1))
    faults = [f"{wide} px of content in a frame of {frame}" for frame, wide, *_ in measured if wide > frame]
    for frame, _, _, _, drawings, scrolled, clipped in measured:
        faults += [f"nothing is drawn in {frame} px"] * (drawings == 0)
        faults += [f"{scrolled} tables do not fit in {frame} px"] * (frame > 1000 and scrolled > 0)
        faults += [f"clipped in {frame} px: {clipped}"] * bool(clipped)
    if len({(paper, ink) for _, _, paper, ink, *_ in measured}) != 2:
        faults.append(f"light and dark are not two: {measured}")
    return faults


def main(tactus, captures):
    captures = sorted(pathlib.Path(captures).glob("*.pcapng"))
    seeded = random.Random(1)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        captures.append(folder / "paced.pcapng")  # to some 100 ns, with a margin of 2 ms
        captures[-1].write_bytes(pcapng((arrival + int(seeded.gauss(0, 100)), data)
                                        for arrival, data in stream(range(4000))))
        for path in captures:
            out = folder / f"{path.stem}.html"
            done = subprocess.run([tactus, "watch", "--json", "--html", out, path], stdout=subprocess.PIPE, check=True)
            text = out.read_text()
            page = Tables(text)
            faults += [f"{path.name}: {fault}" for fault in (
                *faults_of_figures(json.loads(done.stdout), page), *faults_of_page(text, page))]
        bad = subprocess.run([tactus, "watch", "--html", folder / "no/such.html", captures[0]], capture_output=True,
                             text=True, check=False)
        if bad.returncode != 3 or "No such file" not in bad.stderr:
            faults.append(f"a page that cannot be written: {bad.returncode} {bad.stderr}")
        if browser:
            faults += faults_in_browser(browser, folder, f"{captures[0].stem}.html")
        else:
            print("chromium is not installed\n[  SKIPPED ] watch_page in a browser")
    print(*faults, f"{len(captures)} pages compared, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
