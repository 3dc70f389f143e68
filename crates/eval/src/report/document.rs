//! What all pages have in common: their head, and what they look like on a screen, on a telephone and on paper.

use crate::escape::escape;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #222; --pale: #666; --paper: #fff; --grid: #ddd; --link: #0059a0; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --pale: #a0a0a0; --paper: #181818; --grid: #444; --link: #7cc0f4; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { line-height: 1.2; } h2 { margin: 3rem 0 0; padding-top: 1rem; border-top: 1px solid var(--grid); } h3 { margin: 0 0 0.5rem; }
a { color: var(--link); } figure { margin: 2rem 0; }
.scroll { overflow-x: auto; }
.plot svg { display: block; width: 100%; min-width: 38rem; height: auto; color: var(--ink); }
svg text { font: 14px system-ui, sans-serif; fill: var(--ink); } svg .grid { stroke: var(--grid); }
table { border-collapse: collapse; font-size: 0.9rem; width: 100%; } td, th { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--grid); text-align: left; vertical-align: top; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } .pale, summary { color: var(--pale); }
.parameters { font-size: 0.9rem; margin: 0.5rem 0; } .parameters div { display: inline; margin-right: 1rem; } .parameters dt, .parameters dd { display: inline; margin: 0; } .parameters dt { color: var(--pale); } .parameters dt::after { content: ': '; }
.claims { list-style: none; padding: 0; } .claims li { margin: 0 0 0.8rem; } .claims p { margin: 0 0 0 1.5rem; } .verdict { font-weight: 600; }
@media print {
  :root { color-scheme: light; --ink: #000; --pale: #333; --paper: #fff; --grid: #bbb; --link: #000; }
  body { font-size: 10pt; max-width: none; padding: 0; } nav { display: none; }
  .scroll { overflow: visible; } .plot svg { min-width: 0; } table { font-size: 8pt; }
  figure, .claims li, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
";

/// The page with this title and body.
pub(super) fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n",
        title = escape(title)
    )
}
