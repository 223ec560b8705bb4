// A text with shaded words, which can be crossed out by click or by keyboard (one tab stop for all words).
import { make, short } from "./elements.js";

const MAX_DRAWN = 4000; // words; a note says if there are more

// The square root of a score relative to the largest of the text, as in all reports of regard. Signed scores are relative to at
// least `floor`, so that a text without strong words stays pale.
function strength(score, largest) {
  return score === null || !(largest > 0) ? 0 : Math.sqrt(Math.min(1, Math.abs(score) / largest));
}

const largestScore = (units) => units.reduce((largest, unit) => Math.max(largest, Math.abs(unit.score ?? 0)), 0);

// `result` is that of the API, `crossed` a Set of word indices; `cross(indices)` is called to cross out or restore words.
export function drawWords(text, result, isSigned, crossed, cross, restore) {
  const characters = Array.from(text); // spans count code points
  const cut = (a, b) => characters.slice(a, b).join("");
  const tokens = result.tokens.slice(0, MAX_DRAWN);
  const floor = isSigned ? result.strong : 0;
  const largest = Math.max(largestScore(tokens), floor);
  const spans = tokens.map((token, index) => word(token, index, strength(token.score, largest), isSigned, crossed));
  const group = make("div", { class: "words", role: "group", "aria-label": "Words, which can be crossed out" });
  const end = tokens.length < result.tokens.length ? tokens[tokens.length - 1].end : characters.length;
  const drawing = { cut, tokens, spans };
  if (result.sentences.length) group.append(sentences(drawing, result, floor, end, crossed, cross));
  else group.append(make("div", { class: "text", dir: "auto" }, ...pieces(drawing, 0, end)));
  if (end < characters.length) group.append(make("p", { class: "note" }, `The first ${MAX_DRAWN.toLocaleString("en")} of ${result.tokens.length.toLocaleString("en")} words are shown.`));
  addListeners(group, spans, cross, restore);
  return group;
}

const READING = { beginning: ", known only by its beginning", unknown: ", unknown word", nothing: ", unknown word, only separates its neighbours" };

function word(token, index, strong, isSigned, crossed) {
  const out = crossed.has(index), unread = !out && token.score === null;
  const kinds = ["w", out && "out", unread && "unread", !token.known && "unknown", token.score < 0 && "against"].filter(Boolean);
  const label = unread ? "not read" : out ? "crossed out" : score(token, isSigned) + (READING[token.read_as] ?? (token.known ? "" : ", unknown word"));
  const attributes = { class: kinds.join(" "), "data-index": index, title: label, "aria-label": `${token.text}: ${label}`, style: { "--s": strong.toFixed(3) } };
  if (!unread) Object.assign(attributes, { role: "button", tabindex: "-1", "aria-pressed": out ? "true" : "false" });
  return make("span", attributes, token.text);
}

function score(token, isSigned) {
  if (!isSigned) return short(token.score);
  return `${token.score < 0 ? "against" : "for"} ${short(Math.abs(token.score))}, weight ${short(token.weight)}`;
}

// The text from one offset to another: words as elements, the rest as text.
function pieces({ cut, tokens, spans }, from, to) {
  const nodes = [];
  let at = from;
  for (let k = firstAt(tokens, from); k < tokens.length && tokens[k].start < to; k++) {
    if (at < tokens[k].start) nodes.push(cut(at, tokens[k].start));
    nodes.push(spans[k]);
    at = tokens[k].end;
  }
  if (at < to) nodes.push(cut(at, to));
  return nodes;
}

function firstAt(tokens, from) {
  let low = 0, high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokens[middle].start < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sentences(drawing, result, floor, end, crossed, cross) {
  const list = make("ol", { class: "rows" });
  const largest = Math.max(largestScore(result.sentences), floor);
  let at = 0;
  const row = (from, to, sentence, number) => {
    const { tokens } = drawing, indices = [];
    for (let k = firstAt(tokens, from); k < tokens.length && tokens[k].start < to; k++) indices.push(k);
    if (!indices.length) return;
    const part = result.parts.findIndex((candidate) => candidate.start >= from && candidate.start < to);
    const heading = part < 0 ? null : make("p", { class: "part" }, `Part ${part + 1} of ${result.parts.length}, ${short(result.parts[part].score)}`);
    const inside = make("div", { class: "text", dir: "auto" }, ...trimmed(pieces(drawing, from, to)));
    list.append(make("li", {}, heading, bar(sentence, largest, number, indices, crossed, cross), inside));
  };
  result.sentences.forEach((sentence, index) => {
    if (sentence.start >= end) return;
    if (at < sentence.start) row(at, sentence.start, null, 0);
    row(Math.max(at, sentence.start), Math.min(sentence.end, end), sentence, index + 1);
    at = Math.max(at, sentence.end);
  });
  if (at < end) row(at, end, null, 0);
  return list;
}

function trimmed(nodes) {
  if (typeof nodes[0] === "string") nodes[0] = nodes[0].trimStart();
  if (typeof nodes.at(-1) === "string") nodes[nodes.length - 1] = nodes.at(-1).trimEnd();
  return nodes;
}

function bar(sentence, largest, number, indices, crossed, cross) {
  const score = sentence?.score ?? null, out = indices.every((index) => crossed.has(index));
  const label = sentence ? `Sentence ${number}: ${short(score)}` : "Words outside sentences";
  const width = largest > 0 && score !== null ? (100 * Math.abs(score)) / largest : 0;
  const button = make(
    "button",
    { type: "button", class: score < 0 ? "bar cold" : "bar", "aria-pressed": out ? "true" : "false", "aria-label": `${label}; cross out the sentence`, title: `${label}. Click to ${out ? "restore it" : "cross it out"}.` },
    make("span", { class: "track" }, make("span", { style: { width: `${width.toFixed(1)}%` } })),
    make("span", { class: "number" }, short(score)),
  );
  button.addEventListener("click", () => cross(out ? indices : indices.filter((index) => !crossed.has(index))));
  return button;
}

// One word can be reached by Tab; the arrow keys move to the others.
function addListeners(group, spans, cross, restore) {
  const buttons = spans.filter((span) => span.hasAttribute("role"));
  if (buttons.length) buttons[0].tabIndex = 0;
  const toggle = (span) => cross([Number(span.dataset.index)]);
  group.addEventListener("click", (event) => {
    const span = event.target.closest(".w[role]");
    if (span) toggle(span);
  });
  group.addEventListener("focusin", (event) => {
    const span = event.target.closest(".w[role]");
    if (!span) return;
    for (const other of group.querySelectorAll('.w[tabindex="0"]')) other.tabIndex = -1;
    span.tabIndex = 0;
  });
  group.addEventListener("keydown", (event) => {
    const span = event.target.closest(".w[role]");
    if (!span || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = buttons.indexOf(span), rtl = getComputedStyle(span.parentElement).direction === "rtl";
    const steps = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1, ArrowDown: 1, ArrowUp: -1, Home: -at, End: buttons.length - 1 - at };
    if (event.key in steps) buttons[Math.min(buttons.length - 1, Math.max(0, at + steps[event.key]))].focus();
    else if (["Enter", " ", "Delete", "Backspace"].includes(event.key)) toggle(span);
    else if (event.key === "Escape") restore();
    else return;
    event.preventDefault();
  });
}
