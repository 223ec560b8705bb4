// A text with its words shaded, each of which can be crossed out: by click, or by keyboard with one stop of Tab for all.
import { make, short } from "./making.js";

const MOST = 4000; // words that are drawn; a note says that there are more

// Strengths relative to the largest score of the text, and their square root, as in every report of regard.
function strength(score, largest) {
  return score === null || !(largest > 0) ? 0 : Math.sqrt(Math.min(1, Math.abs(score) / largest));
}

const heaviest = (units) => units.reduce((most, unit) => Math.max(most, Math.abs(unit.score ?? 0)), 0);

// `result` as the API gives it; `crossed` a Set of numbers of words; `cross(places)` is called to cross out or put back
export function drawWords(text, result, crossed, cross, restore) {
  const characters = Array.from(text); // spans count code points
  const cut = (a, b) => characters.slice(a, b).join("");
  const tokens = result.tokens.slice(0, MOST);
  const largest = heaviest(tokens);
  const spans = tokens.map((token, place) => word(token, place, strength(token.score, largest), crossed));
  const group = make("div", { class: "words", role: "group", "aria-label": "Words, each of which can be crossed out" });
  const end = tokens.length < result.tokens.length ? tokens[tokens.length - 1].end : characters.length;
  const within = { cut, tokens, spans };
  if (result.sentences.length) group.append(sentences(within, result, end, crossed, cross));
  else group.append(make("div", { class: "text", dir: "auto" }, ...pieces(within, 0, end)));
  if (end < characters.length) group.append(make("p", { class: "note" }, `The first ${MOST.toLocaleString("en")} of ${result.tokens.length.toLocaleString("en")} words are drawn.`));
  listen(group, spans, result, cross, restore);
  return group;
}

function word(token, place, strong, crossed) {
  const out = crossed.has(place), unread = !out && token.score === null;
  const kinds = ["w", out && "out", unread && "unread", !token.known && "new", token.score < 0 && "against"].filter(Boolean);
  const told = unread ? "not read" : out ? "crossed out" : short(token.score) + (token.known ? "" : ", unknown word");
  const given = { class: kinds.join(" "), "data-place": place, title: told, "aria-label": `${token.text}: ${told}`, style: { "--s": strong.toFixed(3) } };
  if (!unread) Object.assign(given, { role: "button", tabindex: "-1", "aria-pressed": out ? "true" : "false" });
  return make("span", given, token.text);
}

// What stands between characters, words as elements and the rest as text.
function pieces({ cut, tokens, spans }, from, to) {
  const found = [];
  let at = from;
  for (let k = firstAt(tokens, from); k < tokens.length && tokens[k].start < to; k++) {
    if (at < tokens[k].start) found.push(cut(at, tokens[k].start));
    found.push(spans[k]);
    at = tokens[k].end;
  }
  if (at < to) found.push(cut(at, to));
  return found;
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

function sentences(within, result, end, crossed, cross) {
  const list = make("ol", { class: "rows" });
  const largest = heaviest(result.sentences);
  let at = 0;
  const row = (from, to, sentence, number) => {
    const { tokens } = within, places = [];
    for (let k = firstAt(tokens, from); k < tokens.length && tokens[k].start < to; k++) places.push(k);
    if (!places.length) return;
    const part = result.parts.findIndex((one) => one.start >= from && one.start < to);
    const heading = part < 0 ? null : make("p", { class: "part" }, `Part ${part + 1} of ${result.parts.length}, ${short(result.parts[part].score)}`);
    const inside = make("div", { class: "text", dir: "auto" }, ...trimmed(pieces(within, from, to)));
    list.append(make("li", {}, heading, bar(sentence, largest, number, places, crossed, cross), inside));
  };
  result.sentences.forEach((sentence, place) => {
    if (sentence.start >= end) return;
    if (at < sentence.start) row(at, sentence.start, null, 0);
    row(Math.max(at, sentence.start), Math.min(sentence.end, end), sentence, place + 1);
    at = Math.max(at, sentence.end);
  });
  if (at < end) row(at, end, null, 0);
  return list;
}

function trimmed(found) {
  if (typeof found[0] === "string") found[0] = found[0].trimStart();
  if (typeof found.at(-1) === "string") found[found.length - 1] = found.at(-1).trimEnd();
  return found;
}

function bar(sentence, largest, number, places, crossed, cross) {
  const score = sentence?.score ?? null, out = places.every((place) => crossed.has(place));
  const told = sentence ? `Sentence ${number}: ${short(score)}` : "Words of no sentence";
  const width = largest > 0 && score !== null ? (100 * Math.abs(score)) / largest : 0;
  const made = make(
    "button",
    { type: "button", class: score < 0 ? "bar cold" : "bar", "aria-pressed": out ? "true" : "false", "aria-label": `${told}; cross the sentence out`, title: `${told}. Click to ${out ? "put it back" : "cross it out"}.` },
    make("span", { class: "track" }, make("span", { style: { width: `${width.toFixed(1)}%` } })),
    make("span", { class: "number" }, short(score)),
  );
  made.addEventListener("click", () => cross(out ? places : places.filter((place) => !crossed.has(place))));
  return made;
}

// One word can be reached by Tab; the arrow keys walk on from it.
function listen(group, spans, result, cross, restore) {
  const walked = spans.filter((span) => span.hasAttribute("role"));
  if (walked.length) walked[0].tabIndex = 0;
  const toggle = (span) => cross([Number(span.dataset.place)]);
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
    const at = walked.indexOf(span), rtl = getComputedStyle(span.parentElement).direction === "rtl";
    const steps = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1, ArrowDown: 1, ArrowUp: -1, Home: -at, End: walked.length - 1 - at };
    if (event.key in steps) walked[Math.min(walked.length - 1, Math.max(0, at + steps[event.key]))].focus();
    else if (["Enter", " ", "Delete", "Backspace"].includes(event.key)) toggle(span);
    else if (event.key === "Escape") restore();
    else return;
    event.preventDefault();
  });
}
