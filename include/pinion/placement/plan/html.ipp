// Bodies of <pinion/placement/plan/plan.hpp>: the plan as html.
#pragma once

#include <string>
#include <string_view>

#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// The page around the JSON of the plan, which its script shows. No text of a graph is ever written as HTML.
inline constexpr std::string_view plan_page_head = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Placement plan</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5b6876; --line: #d9dfe6; --page: #f6f8fa; --card: #fff; --warn: #b4472f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --soft: #9aa7b4; --line: #33404d; --page: #141a21; --card: #1c242d; --warn: #f08a6c; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 15px; margin: 30px 0 8px; }
p.lead { margin: 0 0 16px; color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: 4px 12px 4px 0; white-space: nowrap; vertical-align: top; }
th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); } th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
td.wide { white-space: normal; min-width: 20em; } td.name { white-space: normal; overflow-wrap: anywhere; min-width: 7em; max-width: 15em; } code { font: 12.5px ui-monospace, monospace; }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 7px; }
.moved td { color: var(--warn); } .gone td { color: var(--soft); } .note { color: var(--warn); margin: 4px 0; }
input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 6px 10px; width: 22em; max-width: 100%; margin-bottom: 8px; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; } svg rect:hover { stroke: var(--ink); }
details summary { cursor: pointer; color: var(--soft); }
</style></head><body><main>
<h1>Placement plan</h1><p class="lead" id="lead"></p>
<div id="notes"></div>
<h2>Devices</h2><div class="card"><table id="devices"></table></div>
<h2>One step, as estimated</h2><div class="card" id="time"></div>
<h2>Nodes</h2><input id="find" placeholder="filter by node, op, device or reason" aria-label="filter"><div class="card"><table id="nodes"></table></div>
<h2>Between devices</h2><div class="card"><table id="transfers"></table></div>
<script type="application/json" id="plan">)page";

inline constexpr std::string_view plan_page_tail = R"page(</script>
<script>
const plan = JSON.parse(document.getElementById("plan").textContent), NS = "http://www.w3.org/2000/svg";
const tone = new Map(plan.devices.map((d, i) => [d.name, `hsl(${(210 + i * 137.5) % 360} 52% 52%)`]));
const short = d => d.replace("/replica:0", "").replace("/device:", "/");
const us = s => s === 0 ? "0" : s >= 1 ? s.toFixed(2) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(2) + " ms" : (s * 1e6).toFixed(1) + " µs";
const size = b => { const u = ["B", "KiB", "MiB", "GiB", "TiB"]; let i = 0; while (b >= 1024 && i < 4) { b /= 1024; ++i; } return (i ? b.toFixed(1) : b) + " " + u[i]; };
const el = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; return e; };
const numeric = new Set(["nodes", "variables", "work", "busy", "peak memory", "limit", "in", "out", "bytes"]);
function row(cells, tag = "td") { const r = el("tr"); for (const c of cells) r.append(c instanceof Node ? c : el(tag, c, tag === "th" && numeric.has(c) ? "n" : undefined)); return r; }
const num = t => el("td", t, "n"), dev = name => { const c = el("td"), s = el("span", "", "dot"); s.style.background = tone.get(name); c.append(s, el("code", short(name))); return c; };
const told = n => [n.reason, n.optimized, n.kernel, n.unrecorded && "not recorded, since " + n.unrecorded].filter(t => t).join("; "), running = plan.nodes.filter(n => n.runs).length;
const moved = plan.nodes.filter(n => n.fallback).length, crossing = plan.transfers.reduce((s, t) => s + t.bytes, 0);
document.getElementById("lead").textContent = `${running} nodes on ${plan.devices.filter(d => d.nodes).length} of ${plan.devices.length} devices · ${plan.mode} mode · ${moved} moved from where they were asked to be · ${plan.transfers.length} values (${size(crossing)}) cross · a step would take ${us(plan.makespan)}`;
for (const n of plan.notes) document.getElementById("notes").append(el("p", n, "note"));
const devices = document.getElementById("devices");
devices.append(row(["device", "nodes", "variables", "work", "busy", "peak memory", "limit", ""], "th"));
for (const d of plan.devices) devices.append(row([dev(d.name), num(d.nodes), num(size(d.variable_bytes)), num(us(d.seconds)), num(plan.makespan ? Math.round(100 * d.seconds / plan.makespan) + " %" : ""), num(size(d.peak_bytes)), num(d.memory_limit ? size(d.memory_limit) : ""), el("td", d.description)]));
const used = plan.devices.filter(d => d.nodes), W = 1100, L = 250, H = 24, svg = document.createElementNS(NS, "svg");
svg.setAttribute("viewBox", `0 0 ${W} ${used.length * H + 22}`); svg.setAttribute("width", "100%"); svg.setAttribute("role", "img"); svg.setAttribute("aria-label", "when each node runs on its device");
const put = (name, attrs, text) => { const e = document.createElementNS(NS, name); for (const k in attrs) e.setAttribute(k, attrs[k]); if (text !== undefined) e.textContent = text; svg.append(e); return e; };
used.forEach((d, y) => { put("text", { x: 0, y: y * H + 16 }, short(d.name)); put("line", { x1: L, x2: W, y1: y * H + H - 1, y2: y * H + H - 1, stroke: "currentColor", "stroke-opacity": .12 }); });
const lane = new Map(used.map((d, y) => [d.name, y])), scale = plan.makespan ? (W - L) / plan.makespan : 0;
for (const n of plan.nodes) if (n.ends > n.starts) { const r = put("rect", { x: L + n.starts * scale, y: lane.get(n.device) * H + 4, width: Math.max(.8, (n.ends - n.starts) * scale - .4), height: H - 8, rx: 2, fill: tone.get(n.device) }); const t = document.createElementNS(NS, "title"); t.textContent = `${n.name} (${n.op})\n${us(n.starts)} to ${us(n.ends)}`; r.append(t); }
for (let i = 0; i <= 4; ++i) put("text", { x: L + (W - L) * i / 4, y: used.length * H + 16, "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle" }, us(plan.makespan * i / 4));
document.getElementById("time").append(svg);
const nodes = document.getElementById("nodes");
function show(filter) {
  nodes.replaceChildren(row(["node", "op", "device", "reason", "in", "out", "made at"], "th"));
  for (const n of plan.nodes) {
    if (filter && ![n.name, n.op, n.device, told(n)].some(t => t.toLowerCase().includes(filter))) continue;
    const why = el("td", told(n), "wide");
    if (n.refused.length) { const d = el("details"); d.append(el("summary", n.refused.length + " refused")); for (const r of n.refused) d.append(el("div", r)); why.append(d); }
    const r = row([el("td", n.name, "name"), el("td", n.op, "name"), dev(n.device), why, num(size(n.bytes_in)), num(size(n.bytes_out + n.variable_bytes)), el("td", n.location, "name")]);
    r.className = n.runs ? n.fallback ? "moved" : "" : "gone";
    nodes.append(r);
  }
}
show(""); document.getElementById("find").addEventListener("input", e => show(e.target.value.toLowerCase()));
const transfers = document.getElementById("transfers");
transfers.append(row(["value", "from", "to", "bytes"], "th"));
for (const t of plan.transfers) transfers.append(row([t.value, dev(t.from), dev(t.to), num(size(t.bytes))]));
if (!plan.transfers.length) transfers.append(row(["nothing crosses"]));
</script></main></body></html>
)page";

}  // namespace detail

PINION_DECL std::string plan::to_html() const {
  return std::string(detail::plan_page_head) + to_json() + std::string(detail::plan_page_tail);
}

}}  // namespace pinion::v0
