"""The style sheet of the page: light and dark, wide and narrow, screen and paper.

Green is what is best or equal, amber what differs; red and blue are the players.
"""

STYLE = """
:root { --ground: #fbf8f3; --card: #ffffff; --ink: #332d25; --faint: #6d6355; --line: #e4dccf; --accent: #b23a20;
  --good: #2c7a4b; --better: #1f6a8a; --other: #96600a; --wash: #f4efe6; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #15181c; --card: #20242a; --ink: #e9e6e0; --faint: #a3abb6; --line: #353b44;
    --accent: #f58a70; --good: #6fcf92; --better: #74c0e0; --other: #e8b45a; --wash: #1a1e23; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 16px; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 17px/1.55 system-ui, "Helvetica Neue", Arial, sans-serif; }
.sheet { max-width: 1000px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 40px; }
header > p { max-width: 68ch; }
h1 { font-size: 2.4rem; line-height: 1.12; margin: 0 0 .4em; letter-spacing: -.02em; }
h2 { margin: 2.2em 0 .6em; font-size: 1.5rem; line-height: 1.25; border-top: 1px solid var(--line);
  padding-top: 1.1em; }
header h2 { border: 0; margin: 1.2em 0 .2em; padding: 0; font-size: 1.25rem; }
h3 { margin: 0 0 .5em; font-size: 1.12rem; line-height: 1.3; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
nav { font-size: .86rem; line-height: 1.4; padding: 18px 20px 0; max-width: 1000px; margin: 0 auto; }
nav summary { cursor: pointer; font-weight: 600; }
nav ol { padding-left: 1.4em; margin: .6em 0; } nav ul { list-style: none; padding: 0; margin: .2em 0 .8em; }
nav ul a { color: var(--faint); display: block; padding: 2px 0; }
.shown { padding-left: 1.3em; } .shown li { margin-bottom: .8em; } .shown a { font-weight: 600; }
.shown p { margin: .1em 0 0; max-width: 72ch; }
.tally { color: var(--faint); font-size: .84rem; margin-left: .4em; }
.headline { font-size: 1.08rem; border-left: 4px solid var(--accent); padding-left: .8em; max-width: 74ch; }
section.figure { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 22px;
  margin: 18px 0; overflow: hidden; }
section.figure > p { max-width: 72ch; margin: 0 0 .8em; }
img { width: 100%; max-width: 760px; height: auto; display: block; margin: 12px auto; }
.drawings { display: flex; flex-wrap: wrap; gap: 16px 26px; justify-content: center; align-items: flex-start; }
.drawings figure { margin: 8px 0; max-width: 100%; }
.drawings figcaption { color: var(--faint); font-size: .88rem; line-height: 1.4; text-align: center;
  max-width: 42ch; margin: 6px auto 0; }
svg.mdplay { display: block; margin: 0 auto; height: auto; max-width: 100%; }
.mdplay .move { cursor: default; } .mdplay .ghost, .mdplay .open { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: 5px 12px; border-bottom: 1px solid var(--line); white-space: nowrap; text-align: left;
  vertical-align: top; }
thead th { color: var(--faint); font-weight: 600; }
td.number, th.number { text-align: right; }
table.prose { width: 100%; line-height: 1.45; }
table.prose th, table.prose td { white-space: normal; overflow-wrap: anywhere; padding: 8px 12px 8px 0; }
table.prose td:nth-child(1) { width: 30%; } table.prose td:nth-child(2) { width: 27%; font-weight: 600; }
table.prose td:nth-child(3) { width: 23%; color: var(--faint); } table.prose td:nth-child(4) { width: 20%; }
.mark { font-weight: 700; white-space: nowrap; } .equal { color: var(--good); } .better { color: var(--better); }
.differs { color: var(--other); }
code { font: .82rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.command { display: block; margin-top: 14px; padding: 9px 12px; border-radius: 8px; background: var(--wash);
  color: var(--faint); white-space: pre-wrap; overflow-wrap: anywhere; }
footer { color: var(--faint); padding: 40px 0 60px; font-size: .88rem; }
@media (min-width: 1320px) {
  nav { position: fixed; top: 0; bottom: 0; left: 0; width: 290px; padding: 40px 18px 20px 28px; overflow-y: auto;
    margin: 0; }
  .sheet { margin-left: 310px; max-width: 1040px; }
}
@media (max-width: 1319px) { nav ul { display: none; } }
@media (max-width: 640px) {
  body { font-size: 16px; } h1 { font-size: 1.8rem; } section.figure { padding: 14px; } .sheet { padding: 0 12px; }
  table.prose thead { display: none; }
  table.prose tr { display: block; border-bottom: 1px solid var(--line); padding: 10px 0; }
  table.prose tbody td { display: block; width: auto; border: 0; padding: 2px 0; }
  table.prose td:nth-child(n) { width: auto; }
  table.prose td::before { content: attr(data-label) ": "; color: var(--faint); font-weight: 400;
    font-size: .84rem; }
}
@media print {
  :root { --ground: #fff; --card: #fff; }
  body { font-size: 10.5pt; } nav { display: none; } .sheet { max-width: none; padding: 0; }
  header { padding-top: 0; } h2 { break-after: avoid; } h3 { break-after: avoid; }
  section.figure { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 12px 0;
    overflow: visible; }
  tr, figure, img { break-inside: avoid; } .scroll { overflow: visible; } img { max-width: 15cm; }
  th, td { white-space: normal; padding: 3px 8px; } a { color: inherit; }
}
"""
