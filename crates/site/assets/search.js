// The search: it looks through the text under each heading, for those that have all words that were typed.
"use strict";

const MOST = 20;
const form = document.querySelector("form[role=search]");
const field = document.getElementById("search");
const found = document.getElementById("found");
const root = form.dataset.root;
let index;

/** Loads what is searched, once. It is a script, as a page that was opened from a file may fetch nothing. */
function load() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}search-index.js`;
    script.addEventListener("load", () => {
      resolve(
        window.searchIndex.map(([page, title, heading, text]) => {
          const whole = `${title} ${heading} ${text}`.toLowerCase();
          return { page, title, heading, text, whole, name: `${title} ${heading}`.toLowerCase() };
        }),
      );
    });
    script.addEventListener("error", () => {
      index = undefined;
      reject(new Error("What is searched could not be loaded."));
    });
    document.head.append(script);
  });
  return index;
}

/** How well an entry fits the words: most if its headings have them. */
function fit({ whole, name, page }, words) {
  let sum = page.startsWith("decisions/") || page.startsWith("notes/") ? 0 : 2;
  for (const word of words) {
    if (!whole.includes(word)) return 0;
    sum += name.includes(word) ? 20 : 1;
    sum += Math.min(whole.split(word).length, 6);
  }
  return sum;
}

/** The text around the first of the words that it has. */
function around(text, words) {
  const small = text.toLowerCase();
  const at = Math.max(0, ...words.map((word) => small.indexOf(word)).filter((at) => at > 0).slice(0, 1));
  const start = text.lastIndexOf(" ", Math.max(0, at - 60)) + 1;
  return `${start > 0 ? "… " : ""}${text.slice(start, start + 200)}${text.length > start + 200 ? " …" : ""}`;
}

function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}

function entry({ page, title, heading, text }, words) {
  const link = element("a", heading === "" ? title : `${title}: ${heading}`);
  link.href = root + page;
  return element("li", link, element("p", around(text, words)));
}

async function show() {
  const typed = field.value;
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    found.hidden = true;
    found.replaceChildren();
    return;
  }
  let answer;
  try {
    const fits = (await load()).map((entry) => [fit(entry, words), entry]).filter(([sum]) => sum > 0);
    fits.sort(([one], [other]) => other - one);
    const count = `${fits.length} found${fits.length > MOST ? `, of which these ${MOST} fit best` : ""}`;
    const status = element("p", count);
    status.setAttribute("role", "status");
    answer = [status, element("ol", ...fits.slice(0, MOST).map(([, fit]) => entry(fit, words)))];
  } catch (error) {
    answer = [element("p", error.message)];
  }
  // Another word may have been typed meanwhile.
  if (field.value !== typed) return;
  found.replaceChildren(...answer);
  found.hidden = false;
}

field.addEventListener("focus", () => void load().catch(() => undefined));
field.addEventListener("input", () => void show());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});
form.hidden = false;
