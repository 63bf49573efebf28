// What the browser tests ask of an open page. Each function of `look` returns complaints, or things for Python to follow up.
window.look = (() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const named = (element) => element.outerHTML.replace(/\s+/g, " ").slice(0, 110);

  // an element's own text, without that of its children
  const ownText = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.data).join("").trim();

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {  // any CSS colour as red, green, blue (0 to 255) and alpha (0 to 1)
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = ([r, g, b, alpha], ground) => [r, g, b].map((part, n) => part * alpha + ground[n] * (1 - alpha));
  const luminance = (colour) => {  // WCAG 2, relative luminance
    const [r, g, b] = colour.map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {  // the opaque colour behind an element
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const filled = (element) => {  // the colour of a shape with its opacity, or null
    const style = getComputedStyle(element);
    if (style.fill === "none") return null;
    const [r, g, b, alpha] = rgba(style.fill);
    return [r, g, b, alpha * style.fillOpacity * style.opacity];
  };

  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const box = (element) => { let at = element; while (at && at !== document.body && !scrolls(at)) at = at.parentElement; return at; };

  return {
    unfold() { all("details").forEach((part) => { part.open = true; }); },

    links: () => [...new Set(all("a[href]").map((link) => link.href))],
    visibleLinks: () => all("main a[href]").filter(shown).map((link) => link.href),
    anchors: () => [...all("[id]").map((e) => e.id), ...all("a[name]").map((e) => e.name)],
    brokenImages: () => all("img").filter((image) => !image.complete || !image.naturalWidth).map(named),

    // the text of every picture of the page's own part; null where there is none
    pictures: () => all("main img, main svg, main canvas").filter((p) => p.ariaHidden !== "true" && !p.closest("button, [aria-hidden=true]"))
      .map((p) => ({ what: named(p), text: p.getAttribute("aria-label") ?? p.getAttribute("alt") })),

    // one text of each look: the same colours, size and weight have the same contrast, and a table has thousands of them
    samples() {
      const found = new Map();
      for (const e of all("body *:not(svg *)").filter((each) => ownText(each) && shown(each))) {
        const style = getComputedStyle(e), behind = [];
        for (let at = e; at; at = at.parentElement) {
          const { backgroundColor, backgroundImage, opacity } = getComputedStyle(at);
          behind.push(`${backgroundColor} ${backgroundImage} ${opacity}`);
          if (/^rgb\(/.test(backgroundColor)) break;
        }
        const key = [style.color, style.fontSize, style.fontWeight, ...new Set(behind)].join();
        if (!found.has(key)) found.set(key, e);
      }
      return [...found.values()];
    },

    // text of plots that stands out too little from what is behind it
    paleText(least) {
      const found = [];
      for (const plot of all("figure svg")) {
        plot.scrollIntoView({ block: "center", behavior: "instant" });
        const page = ground(plot);
        for (const text of all("text", plot).filter((t) => t.textContent.trim())) {
          const { left, top, width, height } = text.getBoundingClientRect();
          const below = document.elementsFromPoint(left + width / 2, top + height / 2)
            .filter((e) => plot.contains(e) && e !== plot && !e.closest("text")).map(filled).find((c) => c && c[3] > 0);
          const behind = below ? over(below, page) : page;
          const ratio = contrast(over(filled(text), behind), behind);
          if (ratio < least) found.push(`${ratio.toFixed(2)}: ${text.textContent.trim()} in ${plot.ariaLabel.slice(0, 60)}`);
        }
      }
      return found;
    },

    // text smaller than the given sizes in pixels, of the page and of its plots
    smallText(leastText, leastPlot) {
      const size = (e) => parseFloat(getComputedStyle(e).fontSize);
      const scale = (e) => { const m = e.getScreenCTM(); return Math.hypot(m.a, m.b); };
      const texts = all("body *:not(svg *, math *, script, style, noscript, sub, sup)").filter((e) => ownText(e) && shown(e) && size(e) < leastText - 0.05);
      const plots = all("figure svg text").filter((e) => size(e) * scale(e) < leastPlot - 0.05);
      return [...texts.map((e) => `${size(e).toFixed(1)} px: ${named(e)}`),
        ...plots.map((e) => `${(size(e) * scale(e)).toFixed(1)} px: ${named(e)}`)];
    },

    // what makes the page wider than the screen
    tooWide() {
      const width = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= width && document.body.scrollWidth <= width) return [];
      const out = all("body *").filter((e) => shown(e) && e.getBoundingClientRect().right > width + 1 && !box(e.parentElement)?.closest("main"));
      return [`${document.documentElement.scrollWidth} px wide`, ...out.slice(0, 5).map(named)];
    },

    // tables and plots outside a box that scrolls, and boxes that neither the keyboard nor a screen reader finds
    boxes() {
      const found = [];
      for (const wide of all("main table, main figure svg, main pre")) {
        const place = box(wide);
        if (!place || place === document.body) { found.push(`in no box that scrolls: ${named(wide)}`); continue; }
        if (place.scrollWidth <= place.clientWidth) continue;
        place.scrollLeft = 1e6;
        if (place.scrollLeft === 0) found.push(`does not scroll: ${named(place)}`);
        place.scrollLeft = 0;
        if (place.tabIndex < 0 || !place.hasAttribute("tabindex")) found.push(`not reached by the keyboard: ${named(place)}`);
        if (wide.tagName === "TABLE" && !(place.role === "region" && place.ariaLabel)) found.push(`a region without a name: ${named(place)}`);
      }
      return found;
    },

    // where the keyboard is, and whether the place before showed that it had the focus
    step() {
      const looks = (element) => [element, ...element.children].map((e) => { const s = getComputedStyle(e);
        return [s.outlineStyle, s.outlineWidth, s.boxShadow, s.backgroundColor, s.textDecoration, s.border].join(); }).join(" | ");
      const before = this.before, now = document.activeElement;
      this.before = { element: now, looks: looks(now) };
      return { at: named(now), tag: now.tagName.toLowerCase(), classes: [...now.classList], href: now.href ?? null,
        inside: now.closest(".bd-sidebar-primary") ? "contents" : now.closest("main") ? "main" : "",
        unseen: before && before.element !== now && before.element !== document.body && looks(before.element) === before.looks ? named(before.element) : null };
    },
  };
})();
