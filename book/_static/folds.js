// One switch for all code of a page, a link to a number's computation opens the fold that holds it, the list of pages stands where
// this page is, and a term's meaning, which a mouse finds on pointing at it, is written beside it on a touch screen's first tap.
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
