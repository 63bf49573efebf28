// BM25 in the browser, for queries of the reader's own: words as Lucene's English analyser makes them, scores as Lucene's
// BM25Similarity computes them. A test compares it with the book's own BM25 runs.
(() => {
  "use strict";

  const STOP = new Set(("a an and are as at be but by for if in into is it no not of on or such that the their then there these " +
    "they this to was will with").split(" "));
  // Unicode's word boundaries (UAX 29) for alphabetic scripts: letters may be joined by an apostrophe, a stop or a colon, digits
  // by a comma, a stop or an apostrophe
  const WORD = /(?:[\p{L}\p{M}\p{N}_]|(?<=[\p{L}\p{M}])['’.:·](?=[\p{L}\p{M}])|(?<=\p{N})[,;.'’](?=\p{N}))+/gu;

  // ---- Porter's stemmer (1980), with the two departures of his own later version: "bli" and "logi" in the second step ----

  function isVowel(word, i) {
    return "aeiou".includes(word[i]) || (word[i] === "y" && i > 0 && !isVowel(word, i - 1));
  }
  function shape(word) {
    return Array.from(word, (_, i) => (isVowel(word, i) ? "v" : "c")).join("");
  }
  const measure = word => (shape(word).match(/vc/g) || []).length;
  const hasVowel = word => shape(word).includes("v");
  const doubled = word => /(.)\1$/.test(word) && shape(word).endsWith("c");
  const short = word => shape(word).endsWith("cvc") && !/[wxy]$/.test(word);

  const SECOND = Object.entries({ational: "ate", tional: "tion", enci: "ence", anci: "ance", izer: "ize", bli: "ble", alli: "al",
    entli: "ent", eli: "e", ousli: "ous", ization: "ize", ation: "ate", ator: "ate", alism: "al", iveness: "ive", fulness: "ful",
    ousness: "ous", aliti: "al", iviti: "ive", biliti: "ble", logi: "log"});
  const THIRD = Object.entries({icate: "ic", ative: "", alize: "al", iciti: "ic", ical: "ic", ful: "", ness: ""});
  const FOURTH = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize"].map(suffix => [suffix, /^[st]ion$/.test(suffix) ? suffix[0] : ""]);

  function replaced(word, rules, least) {
    const rule = rules.find(([suffix]) => word.endsWith(suffix));
    if (!rule) return word;
    const kept = word.slice(0, word.length - rule[0].length) + (rule[1].length === 1 && least === 2 ? rule[1] : "");
    if (measure(kept) < least) return word;
    return least === 2 ? kept : kept + rule[1];
  }
  function plural(word) {
    if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
    return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  }
  function past(word) {
    if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
    const stem = word.replace(/(ed|ing)$/, "");
    if (stem === word || !hasVowel(stem)) return word;
    if (/(at|bl|iz)$/.test(stem)) return stem + "e";
    if (doubled(stem)) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
    return measure(stem) === 1 && short(stem) ? stem + "e" : stem;
  }
  function last(word) {
    let stem = word;
    if (word.endsWith("e")) {
      const size = measure(word);
      if (size > 1 || (size === 1 && !short(word.slice(0, -1)))) stem = word.slice(0, -1);
    }
    return stem.endsWith("ll") && measure(word) > 1 ? stem.slice(0, -1) : stem;
  }
  function porter(word) {
    if (word.length < 3) return word;
    let stem = past(plural(word));
    if (stem.endsWith("y") && hasVowel(stem.slice(0, -1))) stem = stem.slice(0, -1) + "i";
    stem = replaced(replaced(stem, SECOND, 1), THIRD, 1);
    return last(replaced(stem, FOURTH, 2));
  }

  // ---- the analyser ----

  const known = new Map();
  function termOf(surface) {
    let term = known.get(surface);
    if (term === undefined) {
      const word = surface.replace(/['’＇][sS]$/, "").toLowerCase();
      term = STOP.has(word) ? "" : porter(word);
      known.set(surface, term);
    }
    return term;
  }
  /** The words of a text: where each begins and ends, and the term it is indexed as (empty for a stop word). */
  function words(text) {
    return Array.from(text.matchAll(WORD)).filter(match => /[\p{L}\p{N}]/u.test(match[0])).map(match =>
      ({start: match.index, end: match.index + match[0].length, term: termOf(match[0])}));
  }
  const terms = text => words(text).map(word => word.term).filter(Boolean);

  // ---- the index and the score ----

  /** Lucene keeps a text's length in one byte: exact below 40, then rounded down to four significant bits above 24. */
  function kept(length) {
    if (length < 24) return length;
    const above = length - 24, shift = Math.max(0, 32 - Math.clz32(above) - 4);
    return 24 + ((above >>> shift) << shift);
  }
  /** An index of texts. */
  function index(texts) {
    const postings = new Map(), lengths = new Array(texts.length);
    let total = 0;
    texts.forEach((text, doc) => {
      const found = terms(text), counts = new Map();
      found.forEach(term => counts.set(term, (counts.get(term) || 0) + 1));
      counts.forEach((count, term) => {
        if (!postings.has(term)) postings.set(term, []);
        postings.get(term).push([doc, count]);
      });
      lengths[doc] = kept(found.length);
      total += found.length;
    });
    const filled = lengths.filter(length => length > 0).length;
    return {postings, lengths, filled, average: Math.fround(total / filled)};
  }
  /** The texts that hold a term of the query, best first, as [text, score]; equal scores in the order of their ids, as Anserini breaks ties. */
  function search(built, query, k1, b, depth, ids) {
    const f = Math.fround, scores = new Map(), counts = new Map();
    terms(query).forEach(term => counts.set(term, (counts.get(term) || 0) + 1));
    counts.forEach((repeats, term) => {
      const found = built.postings.get(term) || [];
      const idf = f(Math.log(1 + (built.filled - found.length + 0.5) / (found.length + 0.5))), weight = f(repeats * idf);
      found.forEach(([doc, count]) => {
        const norm = f(1 / f(k1 * f(f(1 - b) + f(f(b * built.lengths[doc]) / built.average))));
        const score = f(weight - f(weight / f(1 + f(count * norm))));
        scores.set(doc, (scores.get(doc) || 0) + score);
      });
    });
    const ranked = Array.from(scores, ([doc, score]) => [doc, f(score)]);
    ranked.sort((x, y) => y[1] - x[1] || (ids[x[0]] < ids[y[0]] ? -1 : 1));
    return ranked.slice(0, depth);
  }

  globalThis.nrBm25 = {words, terms, index, search};
})();
