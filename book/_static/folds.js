// One switch for all code of a page, and a link to a number's computation opens the fold that holds it.
(() => {
  "use strict";
  const folds = [...document.querySelectorAll("div.cell details.hide.above-input")], button = document.querySelector(".nr-all-code");

  if (button && folds.length) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      folds.forEach(fold => { fold.open = open; });
      button.setAttribute("aria-pressed", open);
      button.textContent = open ? "Hide all code" : "Show all code";
    });
  }

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target?.scrollIntoView();
  }

  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
