"""Makes report.md and a plot for each program of what the programs printed: report.py FOLDER PROGRAM...

The folder holds facts.txt ("name | value") and PROGRAM.RUN.txt. The lines of a program that begin with "row |" or
"missing |" are told in bench/contest.hpp; others are quoted as they are, from the last run.
"""
import collections
import html
import math
import pathlib
import statistics
import sys

Row = collections.namedtuple("Row", "work who beside ours theirs ratio reach share")


def read(path):
    """The rows, the missing and the other lines of one run."""
    rows, missing, others = [], [], []
    for line in path.read_text().splitlines():
        kind, *cells = [cell.strip() for cell in line.split(" | ")]
        if kind == "row" and len(cells) == 7:
            ratio, (sign, limit) = float(cells[5]), cells[6].split()
            share = float(limit) / ratio if sign == "<=" else ratio / float(limit)
            rows.append(Row(*cells[:5], ratio, cells[6], share))
        elif kind == "missing":
            missing.append(cells)
        else:
            others.append(line)
    return rows, missing, others


def median(runs):
    """One row for each comparison: the one whose ratio is the median of all runs (the lower of two)."""
    by_work = collections.defaultdict(list)
    for rows in runs:
        for row in rows:
            by_work[row.work, row.who, row.beside].append(row)
    chosen = []
    for rows in by_work.values():
        middle = statistics.median_low([row.ratio for row in rows])
        chosen.append(next(row for row in rows if row.ratio == middle))
    return chosen


def table(rows):
    lines = ["| work | contender | beside | | | ratio | reach | |", "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        mark = "reached" if r.share >= 1 else f"{r.share:.2g} of it"
        cells = [r.work, r.who, r.beside, r.ours, r.theirs, f"{r.ratio:.3g}", r.reach, mark]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def plot(rows):
    """Bars on a logarithmic scale, from 1 % of what should be reached to ten times that."""
    left, width, height, step = 600, 420, 18, 140
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height * len(rows) + 40}"'
        ' font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for power, label in enumerate(["0.01", "0.1", "reach", "10 x"]):
        x = left + power * step
        text.append(f'<line x1="{x}" y1="20" x2="{x}" y2="{height * len(rows) + 24}" stroke="#999"/>')
        text.append(f'<text x="{x}" y="14" text-anchor="middle">{label}</text>')
    for i, r in enumerate(rows):
        y = 24 + i * height
        decades = min(3, max(0, 2 + math.log10(max(r.share, 1e-9))))
        colour = "#4a8" if r.share >= 1 else "#d84"
        name = html.escape(f"{r.work}: {r.who} / {r.beside}")
        text.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{name}</text>')
        text.append(f'<rect x="{left}" y="{y}" width="{decades * step:.0f}" height="{height - 4}" fill="{colour}"/>')
        text.append(f'<text x="{left + decades * step + 4:.0f}" y="{y + 11}">{r.ratio:.3g}</text>')
    return "\n".join(text + ["</svg>", ""])


def section(folder, program):
    runs = [read(path) for path in sorted(folder.glob(program + ".*.txt"))]
    rows, lines = median([r for r, _, _ in runs]), [f"## {program}", ""]
    if rows:
        (folder / f"{program}.svg").write_text(plot(rows))
        lines += table(rows) + ["", f"![{program}]({program}.svg)", ""]
    for work, why in sorted({tuple(m) for _, missing, _ in runs for m in missing}):
        lines += [f"- not there: {work}: {why}"]
    if runs and runs[-1][2]:
        lines += ["", "```", *runs[-1][2], "```"]
    return lines + [""]


def main(folder, programs):
    facts = [line.split(" | ", 1) for line in (folder / "facts.txt").read_text().splitlines()]
    lines = ["# Benchmarks", "", "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts), ""]
    lines += ["Each ratio is the median over rounds of one run, in which the contenders took turns, and the median of"]
    lines += ["the runs. It is of times where it should be at most the reach (<=), of rates where at least (>=). A bar"]
    lines += ["shows which part of the reach it is.", ""]
    for program in programs:
        lines += section(folder, program)
    (folder / "report.md").write_text("\n".join(lines))


main(pathlib.Path(sys.argv[1]), sys.argv[2:])
