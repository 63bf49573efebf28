// The page for people: asks /search, and shows what moved and why. Every text goes in as text, never as markup; the address's
// fragment holds the request, so that a link leads to it and the back button works.
"use strict";
const form = document.getElementById("ask"), status = document.getElementById("status"), list = document.getElementById("results");
let latest = 0;

function make(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside.filter(part => part !== null && part !== ""));
  return made;
}
const number = value => value.toFixed(Math.abs(value) >= 100 ? 0 : 3).replace("-", "−");
const HOW = {mean: "the mean of its windows", sum: "the sum of its windows", max: "its best window", first: "its first window"};

async function begin() {
  const known = await (await fetch("health")).json();
  document.getElementById("about").textContent = `${known.texts.toLocaleString("en")} ${known.unit}s of ${known.collection}: ` +
    "BM25 finds those with a word of the query, a model re-ranks the first of them. Nothing leaves this machine.";
  for (const [field, names] of [["reranker", known.rerankers], ["aggregation", known.aggregations],
                                ["feedback", known.feedback]])
    form.elements[field].replaceChildren(...names.map(name => new Option(name)));
  form.elements.aggregation.value = "max";
  read();
}

/** The request that the address holds. */
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of given) if (form.elements[name]) form.elements[name].value = value;
  if (given.get("query")) search();
}

async function search() {
  const turn = ++latest, asked = new URLSearchParams(new FormData(form));
  status.textContent = "Searching …";
  list.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await (await fetch("search?" + asked)).json();
  } catch {
    answer = {error: "The service does not answer. Does it still run?"};
  }
  if (turn !== latest) return;  // a later question was asked
  list.removeAttribute("aria-busy");
  list.replaceChildren(...(answer.results || []).map(result => card(result, answer)));
  status.textContent = answer.error || said(answer);
}

function said(answer) {
  if (!answer.results.length) return "No document holds a word of this query.";
  const times = Object.entries(answer.seconds).map(([stage, seconds]) => `${stage} ${Math.round(1000 * seconds)} ms`);
  const added = Object.keys(answer.added_terms);
  return times.join(" · ") + (added.length ? ` · terms added: ${added.join(", ")}` : "") +
    ` · a score is ${answer.score}`;
}

function card(result, answer) {
  const stages = answer.stages.filter(stage => result.stages[stage]), own = result.window;
  const path = stages.map(stage => `${stage}: rank ${result.stages[stage].rank} (${number(result.stages[stage].score)})`).join(" → ");
  const text = make("p", "text", ...marked(own.text, answer.query)), more = make("button", "more", "whole window");
  more.addEventListener("click", () => { text.classList.add("whole"); more.remove(); });
  return make("li", "card",
    make("div", "line", make("span", "rank", String(result.rank)), make("h2", "", result.title), moved(result, answer.stages)),
    make("p", "quiet", path), text, more,
    make("p", "quiet", why(own, answer) + ` · ${result.doc_id}`));
}

/** How far a document went from the first stage to the last, in words and with a sign. */
function moved(result, stages) {
  const first = result.stages[stages[0]];
  if (!first) return make("span", "move up", "✦ new: found by the added terms");
  const places = first.rank - result.rank;
  return make("span", "move " + (places > 0 ? "up" : places < 0 ? "down" : ""),
    places > 0 ? `▲ up ${places}` : places < 0 ? `▼ down ${-places}` : "▬ as BM25 has it");
}

/** The window that is shown, and what it has to do with the document's score. */
function why(own, answer) {
  const place = own.of > 1 ? `Window ${own.number} of ${own.of}` : "The whole text";
  if (own.score === null) return `${place}; no model has read it`;
  if (own.of === 1) return `${place} scored ${number(own.score)}`;
  return `${place} scored ${answer.aggregation === "first" ? "" : "highest, "}${number(own.score)}; a document scores as ` +
    HOW[answer.aggregation];
}

/** A text with the query's words marked. */
function marked(text, query) {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || []);
  return text.split(/([\p{L}\p{N}]+)/u).map(part => words.has(part.toLowerCase()) ? make("mark", "", part) : part);
}

form.addEventListener("submit", event => {
  event.preventDefault();
  const wanted = "#" + new URLSearchParams(new FormData(form));
  if (location.hash === wanted) search(); else location.hash = wanted;
});
window.addEventListener("hashchange", read);
begin().catch(() => { status.textContent = "The service does not answer. Does it still run?"; });
