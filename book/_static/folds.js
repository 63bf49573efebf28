// One switch for all code of a page, a chapter as slides, a link to a number's computation opens the fold that holds it, the list of
// pages stands where this page is, and a term's meaning, which a mouse finds on pointing at it, is written beside it on a touch
// screen's first tap.
(() => {
  "use strict";
  const folds = [...document.querySelectorAll("div.cell details.hide.above-input")], button = document.querySelector(".nr-all-code");

  if (button && folds.length) {
    button.hidden = false;
    document.documentElement.classList.add("nr-switch");
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      folds.forEach(fold => { fold.open = open; });
      button.setAttribute("aria-pressed", open);
      button.textContent = open ? "Hide all code" : "Show all code";
    });
  }

  // A chapter as slides: its head, then its sections down to the exercise. Arrows and buttons turn, Escape ends.
  const root = document.documentElement, head = document.querySelector(".nr-run")?.closest("section");
  const slides = head ? [head, ...head.querySelectorAll(":scope > section:not(#more)")] : [];
  let shown = -1;

  function turn(to) {
    shown = Math.min(to, slides.length - 1);
    slides.forEach((slide, number) => slide.classList.toggle("nr-slide", number === shown));
    root.classList.toggle("nr-slides", shown >= 0);
    place.textContent = `${shown + 1} of ${slides.length}`;
    scrollTo(0, 0);
  }

  function labelled(text, name, action) {
    const made = Object.assign(document.createElement("button"), {className: "nr-button", type: "button", textContent: text});
    made.setAttribute("aria-label", name);
    made.addEventListener("click", action);
    return made;
  }

  const bar = document.createElement("div"), place = document.createElement("span");
  if (button && slides.length > 1) {
    bar.className = "nr-turn";
    bar.append(labelled("←", "Slide before", () => turn(Math.max(0, shown - 1))), place,
               labelled("→", "Next slide", () => turn(shown + 1)), labelled("×", "End the slides", () => turn(-1)));
    head.append(bar);
    button.before(labelled("Slides", "Show this chapter as slides", () => turn(0)), " ");
    addEventListener("keydown", event => {
      const to = {ArrowRight: shown + 1, ArrowLeft: Math.max(0, shown - 1), Escape: -1}[event.key];
      if (shown < 0 || to === undefined || event.target.closest("input, .nr-scroll, .nr-figure")) return;
      event.preventDefault();
      turn(to);
    });
  }

  addEventListener("load", () => {  // after the theme, which puts the list where it stood on the page before
    const list = document.querySelector(".bd-sidebar-primary"), here = list?.querySelector("a.current, .current.active > a");
    if (here) list.scrollTop += here.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
  });

  document.querySelectorAll("a.nr-term[title]").forEach(term => term.addEventListener("click", event => {
    if (!matchMedia("(hover: none)").matches || !term.title) return;  // the second tap follows the link
    term.after(Object.assign(document.createElement("span"), {className: "nr-meaning", textContent: ` (${term.title})`}));
    term.title = "";
    event.preventDefault();
  }));

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target?.scrollIntoView();
  }

  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
