// The Python of one page, run by Pyodide, which is fetched when the button is pressed, and not before.
(() => {
  "use strict";
  const code = document.getElementById("nr-python"), button = document.getElementById("nr-python-run");
  const said = document.getElementById("nr-python-said"), out = document.getElementById("nr-python-out");
  let python = null;

  function fetched() {
    return new Promise((done, failed) => document.head.append(Object.assign(document.createElement("script"), {
      src: `${code.dataset.from}pyodide.js`, integrity: code.dataset.digest, crossOrigin: "anonymous", onload: done,
      onerror: () => failed(new Error("Python could not be fetched; this needs the network, or the mirror is not reached"))})));
  }

  async function run() {
    const lines = [];
    button.disabled = true;
    try {
      if (!python) {
        said.textContent = "Python is on its way ...";
        await fetched();
        python = await loadPyodide({indexURL: code.dataset.from});
      }
      python.setStdout({batched: line => lines.push(line)});
      const grades = `import json\nruns = {name: [[int(grade) for grade in row] for row in rows]
        for name, rows in json.loads(${JSON.stringify(code.dataset.grades)}).items()}\nrelevant_from = ${code.dataset.relevant}\n`;
      await python.runPythonAsync(grades + code.value);
      said.textContent = "Computed here, now.";
    } catch (error) {
      said.textContent = python ? "The code has an error." : String(error.message);
      if (python) lines.push(String(error.message));
    }
    if (lines.length) out.textContent = lines.join("\n");
    button.disabled = false;
  }

  if (code && button) {
    button.hidden = false;
    button.addEventListener("click", run);
  }
})();
