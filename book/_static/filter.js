// A page of tables with a box to filter their rows: `press.generated` writes the box, hidden; here it comes alive.
(() => {
  "use strict";
  document.querySelectorAll(".nr-filter").forEach(box => {
    const input = box.querySelector("input"), output = box.querySelector("output"), page = box.closest("article, main");
    const rows = [...page.querySelectorAll(".nr-table tbody tr")].map(row => {
      const caption = row.closest("table").caption.textContent;
      return [row, `${caption} ${row.textContent}`.toLowerCase()];
    });
    function show() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kept = rows.filter(([row, text]) => !(row.hidden = !words.every(word => text.includes(word))));
      output.textContent = words.length ? `${kept.length} of ${rows.length} rows` : "";
      page.querySelectorAll(".nr-scroll").forEach(table => { table.hidden = !table.querySelector("tbody tr:not([hidden])"); });
    }
    input.addEventListener("input", show);
    box.hidden = false;
    show();
  });
})();
