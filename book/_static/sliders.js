// Sliders over what was computed beforehand: `helpers.pages.plots` writes them, hidden, below a figure; here they come alive.
// A marker of the figure is known by what it says when it is pointed at. Others give an interval its word.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg", AROUND = 4;

  /** One frame around the markers of a setting, in the coordinates of the figure. */
  function frame(markers) {
    const boxes = markers.map(marker => marker.getBBox()), made = document.createElementNS(SVG, "rect");
    const x = Math.min(...boxes.map(box => box.x)) - AROUND, y = Math.min(...boxes.map(box => box.y)) - AROUND;
    const width = Math.max(...boxes.map(box => box.x + box.width)) - x + AROUND;
    const height = Math.max(...boxes.map(box => box.y + box.height)) - y + AROUND;
    Object.entries({x, y, width, height, rx: AROUND}).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  }

  document.querySelectorAll(".nr-slider").forEach(box => {
    const told = JSON.parse(box.dataset.told), marks = JSON.parse(box.dataset.marks), output = box.querySelector("output");
    const inputs = [...box.querySelectorAll("input")], svg = box.previousElementSibling.querySelector("svg");
    const markers = [...svg.querySelectorAll("use > title")].map(title => [title.textContent, title.parentElement]);
    const layer = svg.appendChild(document.createElementNS(SVG, "g"));
    layer.setAttribute("class", "nr-chosen");
    function show() {
      const row = inputs.reduce((sum, input) => sum * (Number(input.max) + 1) + Number(input.value), 0);
      inputs.forEach(input => {
        const value = JSON.parse(input.dataset.values)[input.value];
        input.setAttribute("aria-valuetext", value);
        input.parentElement.nextElementSibling.textContent = value;
      });
      output.textContent = told[row];
      const chosen = markers.filter(([text]) => marks[row].includes(text)).map(([, marker]) => marker);
      layer.replaceChildren(...chosen.length ? [frame(chosen)] : []);
    }
    inputs.forEach(input => input.addEventListener("input", show));
    box.hidden = false;
    show();
  });

  // The word that an interval gives to the claim that one system ranks better: the rule of `helpers.evaluation.verdicts`.
  document.querySelectorAll(".nr-word-of").forEach(box => {
    const inputs = [...box.querySelectorAll("input")], NARROW = 1.645 / 1.96;  // of the 95 % interval's half: the 90 % one's
    function show() {
      const [difference, half, margin] = inputs.map(input => Number(input.value));
      inputs.forEach(input => { input.parentElement.nextElementSibling.textContent = Number(input.value).toFixed(3); });
      box.querySelector("output").textContent = Math.abs(difference) + NARROW * half < margin ? "too small to matter"
        : difference - half > 0 ? "agrees" : difference + half < 0 ? "disagrees" : "cannot tell";
    }
    inputs.forEach(input => input.addEventListener("input", show));
    box.hidden = false;
    show();
  });
})();
