// The query explorer: filters and shows what `helpers.pages.explorer` collected. Every text goes in as text, never as markup; the
// address's fragment holds what is shown (#q=1001&style=plain), so that a link leads to it and the back button works.
(() => {
  "use strict";
  const root = document.getElementById("nr-explorer"), data = window.nrExplorer;
  if (!root) return;

  const LISTED = 50, OUTCOME = "outcome", OWN = "text", QUERY = "q";

  /** An element; functions among its attributes listen to the event of that name. */
  function make(tag, attributes, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") made.addEventListener(name, value);
      else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...inside.filter(part => part !== null && part !== ""));
    return made;
  }
  const hidden = text => make("span", {class: "nrx-hidden"}, text);

  if (!data) {
    root.replaceChildren(make("p", {}, "The data of the explorer is missing: run this chapter again."));
    return;
  }
  const names = data.systems.map(([name]) => name), before = data.systems.map(([, , place]) => place);
  const beyond = system => `beyond ${data.systems[system][1]}`;
  const filters = [...data.labels.map((label, place) => ({
    key: label, options: [...new Set(data.queries.map(query => query.labels[place]))].sort(),
    fits: (query, wanted) => query.labels[place] === wanted,
  })), {
    key: OUTCOME, options: data.classes,
    fits: (query, wanted) => query.classes.includes(data.classes.indexOf(wanted)),
  }];

  // ---- what is shown: read from the address ----

  let state = {}, seen = "";
  function read() {
    seen = location.hash;
    const given = new URLSearchParams(location.hash.slice(1)), chosen = {};
    filters.forEach(({key, options}) => { if (options.includes(given.get(key))) chosen[key] = given.get(key); });
    state = {chosen, own: (data.whole && given.get(OWN)) || ""};
    state.list = data.queries.filter(query => filters.every(({key, fits}) => !chosen[key] || fits(query, chosen[key])));
    state.query = data.queries.find(query => query.id === given.get(QUERY)) ||
      (Object.keys(chosen).length ? null : data.queries.find(query => query.id === data.helped_most)) || state.list[0] || data.queries[0];
  }
  /** Go to a query, or to one of the reader's own, or to other filters. */
  function go({query = null, own = "", chosen = state.chosen}) {
    const wanted = new URLSearchParams(chosen);
    if (own) wanted.set(OWN, own);
    else if (query) wanted.set(QUERY, query.id);
    visit(wanted);
  }
  /** Put an address into the browser's history and show it at once: its own event comes later. */
  function visit(address) {
    location.hash = address;
    show();
  }

  // ---- controls ----

  let options = [], active = -1;
  const input = make("input", {id: "nrx-input", type: "text", role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": "nrx-list", autocomplete: "off", spellcheck: "false",
    input: () => open(input.value), blur: close, keydown: press,
    click: () => { if (!options.length) open(""); }});
  const list = make("ul", {id: "nrx-list", role: "listbox", "aria-label": "Queries", hidden: true,
    pointerdown: event => event.preventDefault()});  // or the input would lose its focus, and the list close, before the click
  const selects = filters.map(({key, options: values, fits}) => make("select", {id: `nrx-${key.replaceAll(" ", "-")}`, change: event => {
    const chosen = {...state.chosen, [key]: event.target.value};
    if (!event.target.value) delete chosen[key];
    const stays = filters.every(each => !chosen[each.key] || each.fits(state.query, chosen[each.key]));
    go({query: stays && !state.own ? state.query : null, chosen});
  }}, make("option", {value: ""}, "any"), ...values.map(value =>
    make("option", {value}, `${value} (${data.queries.filter(query => fits(query, value)).length})`))));
  const step = (by, label, sign) => make("button", {type: "button", "aria-label": label, title: label, click: () =>
    go({query: state.list[state.own ? 0 : state.list.indexOf(state.query) + by]})}, sign);
  const previous = step(-1, "previous query", "‹"), next = step(1, "next query", "›");
  const status = make("span", {class: "nrx-status", role: "status"});

  function open(typed) {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const found = state.list.filter(query => query.id === typed.trim() || words.every(word => query.text.toLowerCase().includes(word)));
    options = found.slice(0, LISTED).map(query => ({pick: () => go({query}), parts: [query.text, " ", make("small", {}, query.labels.join(", "))]}));
    if (data.whole && words.length) {
      options.push({pick: () => go({own: typed.trim()}), parts: [`Rank the collection by BM25 for “${typed.trim()}”`], own: true});
    }
    const rows = options.map(({parts, own}, place) => make("li", {id: `nrx-option-${place}`, role: "option", class: own ? "nrx-own" : null,
      click: () => choose(place)}, ...parts));
    const more = found.length > LISTED ? `and ${found.length - LISTED} more: type to narrow the list` : found.length ? "" : "no test query fits";
    if (more) rows.splice(Math.min(found.length, LISTED), 0, make("li", {role: "presentation", class: "nrx-more"}, more));
    list.replaceChildren(...rows);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    point(words.length && options.length ? 0 : -1);
  }
  function close() {
    options = [];
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    point(-1);
  }
  function point(place) {
    active = place;
    list.querySelectorAll("[role=option]").forEach((row, n) => row.setAttribute("aria-selected", String(n === place)));
    const row = document.getElementById(`nrx-option-${place}`);
    if (row) { input.setAttribute("aria-activedescendant", row.id); row.scrollIntoView({block: "nearest"}); }
    else input.removeAttribute("aria-activedescendant");
  }
  function choose(place) {
    const {pick} = options[place];
    close();
    pick();
  }
  function press(event) {
    const moves = {ArrowDown: 1, ArrowUp: -1};
    if (event.key in moves) {
      if (!options.length) open(input.value === shownText() ? "" : input.value);
      const size = options.length;
      if (size) point(((active < 0 && event.key === "ArrowUp" ? 0 : active) + moves[event.key] + size) % size);
    } else if (event.key === "Enter") {
      if (options.length) choose(Math.max(active, 0));
    } else if (event.key === "Escape") {
      close();
      input.value = shownText();
    } else return;
    event.preventDefault();
  }
  const shownText = () => state.own || (state.query ? state.query.text : "");

  // ---- rankings ----

  const grade = value => data.grades.find(([each]) => each === value);
  function gradeBadge(value) {
    const found = grade(value);
    return found ? make("span", {class: `nrx-grade ${value >= data.min_relevance ? "nrx-good" : "nrx-poor"}`}, `${found[2]} ${found[1]}`) : null;
  }
  /** How far a passage moved, in signs for the eye and in words for the ear. */
  function movement(moved, system, whose) {
    const from = before[system], other = names[from];
    const [kind, sign, words] = moved === "new" ? ["up", "new", `not among the first ${data.systems[from][1]} of ${other}`]
      : moved === "gone" ? ["down", beyond(system), `${beyond(system)} places`]
      : moved > 0 ? ["up", `▲${moved}`, `${moved} higher than in ${other}`]
      : moved < 0 ? ["down", `▼${-moved}`, `${-moved} lower than in ${other}`] : ["still", "=", `as in ${other}`];
    return make("span", {class: `nrx-move nrx-${kind}`, title: whose ? `${whose}: ${words}` : words}, whose ? `${whose} ` : "",
      make("span", {"aria-hidden": "true"}, sign), hidden(words));
  }
  /** A text as nodes, the words of the query marked. */
  function marked(text, wanted) {
    const nodes = [];
    let from = 0;
    nrBm25.words(text).filter(word => wanted.has(word.term)).forEach(word => {
      nodes.push(text.slice(from, word.start), make("mark", {}, text.slice(word.start, word.end)));
      from = word.end;
    });
    return [...nodes, text.slice(from)].filter(node => node !== "");
  }
  function card([seat, score, value, moves], place, system, wanted) {
    const [id, title, body] = data.passages[seat];
    const text = make("p", {class: "nrx-text"}, ...marked(body, wanted));
    const more = make("button", {type: "button", class: "nrx-more", "aria-expanded": "false", "aria-label": `whole passage: ${title || id}`,
      click: () => {
        const whole = text.classList.toggle("nrx-whole");
        more.setAttribute("aria-expanded", String(whole));
        more.textContent = whole ? "less" : "more";
      }}, "more");
    const shifts = moves.map((moved, place) => system === place + 1 ? movement(moved, system)
      : system === 0 && before[place + 1] === 0 ? movement(moved, place + 1, names[place + 1]) : null);
    return make("li", {class: "nrx-card", "data-passage": seat},
      make("div", {class: "nrx-line"}, make("span", {class: "nrx-rank"}, hidden("rank "), String(place + 1)), gradeBadge(value),
        ...shifts.filter(Boolean), make("span", {class: "nrx-score", title: `${names[system]}'s score of ${id}`}, hidden("score "), String(score))),
      title ? make("strong", {}, ...marked(title, wanted)) : null, text, more);
  }
  function column(system, rows, wanted) {
    return make("section", {class: "nrx-column", "aria-labelledby": `nrx-name-${system}`},
      make("h2", {class: "nrx-name", id: `nrx-name-${system}`}, names[system]),
      system ? make("p", {class: "nrx-from"}, `arrows: places from ${names[before[system]]}`) : make("p", {class: "nrx-from"}, "the first stage"),
      rows.length ? make("ol", {}, ...rows.map((row, place) => card(row, place, system, wanted)))
        : make("p", {}, "No passage holds a word of this query."));
  }
  /** The rank of each judged answer in every ranking, whether or not a column shows it. */
  function answers(query, wanted) {
    if (!query.relevant.length) return make("p", {class: "nrx-answers"}, "No passage is judged to answer this query.");
    const head = name => make("th", {scope: "col"}, name);
    return make("table", {class: "nrx-answers"}, make("caption", {}, "Ranks of the judged answers"),
      make("thead", {}, make("tr", {}, head("answer"), ...names.map(head))),
      make("tbody", {}, ...query.relevant.map(([seat, value, ranks]) => {
        const [id, title, body] = data.passages[seat];
        return make("tr", {"data-passage": seat}, make("th", {scope: "row"}, make("details", {},
          make("summary", {}, gradeBadge(value), " ", make("strong", {}, title || id)), make("p", {}, ...marked(body, wanted)))),
          ...ranks.map((rank, system) => make("td", {}, rank === null ? beyond(system) : String(rank))));
      })));
  }
  const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;
  function asking(own) {
    const collection = data.collection === "almanac" ? "" : ` --collection ${quoted(data.collection)}`;
    return make("section", {class: "nrx-column nrx-asking", "aria-label": "Other rankings"},
      make("h2", {class: "nrx-name"}, names.slice(1).join(" and ")),
      make("p", {}, "These need a network, which this page does not hold. In the folder of the book, this command has BM25's candidates re-ranked:"),
      make("pre", {}, make("code", {}, `.venv/bin/book search --unit ${data.unit}${collection}${own.startsWith("-") ? " --" : ""} ${quoted(own)}`)));
  }
  const loads = new Map();
  /** Load the files of the passages that are not here yet; null if all are here. */
  function missing(seats) {
    const parts = new Set(seats.filter(seat => !data.passages[seat]).map(seat => Math.floor(seat / data.part)));
    return parts.size ? Promise.all([...parts].map(part => {
      if (!loads.has(part)) {
        loads.set(part, new Promise((done, failed) => document.head.append(make("script", {src: data.from.replace(".js", `-${part}.js`),
          load: () => data.passages[part * data.part] ? done() : failed(), error: failed}))));
      }
      return loads.get(part);
    })) : null;
  }
  const shownSeats = ({own, query}) => own ? [...Array(data.size).keys()]
    : query ? [...query.rankings.flat(), ...query.relevant].map(([seat]) => seat) : [];
  let built = null;
  function ranked(own) {
    if (!built) built = nrBm25.index(data.passages.map(([, title, body]) => `${title}\n${body}`));
    return nrBm25.search(built, own, data.k1, data.b, data.depth, data.passages.map(([id]) => id)).map(([seat, score]) =>
      [seat, Number(score.toPrecision(4)), null, []]);
  }

  const head = make("div", {class: "nrx-head"}), columns = make("div", {class: "nrx-columns"});
  const tabs = make("div", {class: "nrx-tabs", role: "group", "aria-label": "Ranking shown"}, ...names.map((name, system) =>
    make("button", {type: "button", click: () => front(system)}, name)));
  function front(system) {
    columns.dataset.front = system;
    tabs.childNodes.forEach((tab, n) => tab.setAttribute("aria-pressed", String(n === system)));
  }

  function show() {
    read();
    const waiting = missing(shownSeats(state));
    if (waiting) {
      status.textContent = "loading …";
      waiting.then(show, () => { status.textContent = "a file of the explorer is missing: run this chapter again"; });
      return;
    }
    const {own, query, list: found, chosen} = state, place = own ? -1 : found.indexOf(query);
    const text = shownText(), wanted = new Set(nrBm25.terms(text));
    close();
    input.value = text;
    selects.forEach((select, n) => { select.value = chosen[filters[n].key] || ""; });
    previous.disabled = place < 1;
    next.disabled = !found.length || place === found.length - 1;
    status.textContent = own ? "a query of your own" : place < 0 ? `not among the ${found.length} that fit` : `${place + 1} of ${found.length}`;
    head.replaceChildren(make("p", {class: "nrx-query"}, text), ...(own || !query ? [] : [
      make("p", {class: "nrx-kinds"}, ...[...query.labels, ...query.classes.map(n => data.classes[n])].map(kind =>
        make("span", {class: "nrx-kind"}, kind))), answers(query, wanted)]));
    columns.replaceChildren(...(own ? [column(0, ranked(own), wanted), asking(own)] : query ? query.rankings.map((rows, system) =>
      column(system, rows, wanted)) : [make("p", {}, "There is no query.")]));
    tabs.hidden = Boolean(own);
    if (own) front(0);
  }
  /** The same passage lights up in every column. */
  function light(event) {
    const at = event.target.closest("[data-passage]");
    root.querySelectorAll(".nrx-same").forEach(each => each.classList.remove("nrx-same"));
    if (at) root.querySelectorAll(`[data-passage="${Number(at.dataset.passage)}"]`).forEach(each => each.classList.add("nrx-same"));
  }

  const field = (label, control) => make("div", {class: "nrx-field"}, make("label", {for: control.id}, label), control);
  root.replaceChildren(make("div", {class: "nrx-controls", role: "search", "aria-label": "Choose a query"},
    make("div", {class: "nrx-field nrx-wide"}, make("label", {for: "nrx-input"}, data.whole ? "test query, or words of your own" : "test query"), input, list),
    ...filters.map(({key}, n) => field(key, selects[n])),
    make("div", {class: "nrx-steps"}, previous, status, next)), head, tabs, columns);
  ["pointerover", "focusin"].forEach(name => root.addEventListener(name, light));
  root.addEventListener("pointerleave", light);
  window.addEventListener("hashchange", () => {
    const ours = !location.hash || location.hash.includes("=");  // others are sections of the page
    if (ours && location.hash !== seen) show();
  });
  document.addEventListener("click", event => {  // links of the page into the explorer
    const link = event.target.closest("a[data-explore]");
    if (!link) return;
    event.preventDefault();
    root.scrollIntoView();
    visit(link.dataset.explore);
  });
  front(0);
  show();
  root.dataset.ready = "yes";
})();
