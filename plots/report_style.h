// The report's style sheet.
#pragma once

namespace hyfreedp::plots {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --ink: #1c1e21; --dim: #5d6470; --paper: #ffffff; --soft: #f3f4f6; --line: #d9dce1;
  --warn: #8a4b00; --warn-paper: #fff4e0; --bad: #b3261e; --good: #0b6b3a; --link: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6ea; --dim: #a2a9b4; --paper: #16181c; --soft: #20242a; --line: #3a404a; --warn: #ffcf8a;
    --warn-paper: #3a2a10; --bad: #ff9d94; --good: #7ddba6; --link: #8fc3ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); }
p, li { max-width: 52rem; }
small { display: block; font-size: .8rem; color: var(--dim); font-weight: 400; line-height: 1.35; }
sup { font-size: .7em; line-height: 0; margin-left: .15em; white-space: nowrap; font-weight: 400; }
.banner, .watermark { padding: .6rem .8rem; border-left: 4px solid var(--warn); background: var(--warn-paper); color: var(--warn); }
.watermark { font-weight: 700; text-transform: uppercase; }
table { border-collapse: collapse; width: 100%; margin: 0 0 1.5rem; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); }
tbody th { font-weight: 600; }
.results td { white-space: nowrap; }
.results td strong { color: var(--good); }
.failed span, .bad { color: var(--bad); white-space: normal; }
.absent span, .time span { color: var(--dim); }
.confidential { color: var(--warn); }
.footnotes, .notes { font-size: .88rem; padding-left: 1.4rem; }
figure { margin: 0 0 2rem; }
.canvas { background: #ffffff; color: #222222; border: 1px solid var(--line); border-radius: 6px; padding: .5rem;
  display: flex; flex-wrap: wrap; gap: .5rem 1rem; }
.picture { flex: 1 1 auto; min-width: 0; overflow-x: auto; }
.picture svg { display: block; width: 100%; height: auto; }
.legend { flex: 1 1 14rem; align-self: center; list-style: none; margin: 0; padding: 0; font-size: .82rem; line-height: 1.3;
  display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .3rem 1rem; align-content: center; }
.legend li { display: flex; gap: .5rem; align-items: center; }
.legend svg { flex: none; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0; padding: 0; }
article { margin-top: 3.5rem; border-top: 3px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
figcaption { font-size: .88rem; color: var(--dim); margin-top: .4rem; max-width: 52rem; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: .82rem; border-radius: 6px; }
code { font-size: .88em; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 46rem) {
  table, caption, tbody, tr, th, td { display: block; width: 100%; }
  thead { display: none; }
  tr { border: 1px solid var(--line); border-radius: 6px; padding: .4rem .6rem; margin-bottom: .6rem; }
  th, td { border: 0; padding: .2rem 0; }
  tbody td { display: grid; grid-template-columns: 7.5rem 1fr; column-gap: .6rem; }
  tbody td::before { content: attr(data-column); color: var(--dim); grid-row: span 3; }
  td > * { grid-column: 2; }
  .results td { white-space: normal; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
)css";

}  // namespace hyfreedp::plots
