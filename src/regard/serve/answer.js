// What a run says of a text: the answer, every class with its share and how far it moved, and the words.
import { make, percent, short, signed } from "./making.js";
import { drawWords } from "./words.js";

const SHOWN = 8; // classes, and heaviest words

export function drawAnswer(run, method, signedScores, text, result, state) {
  return make(
    "article",
    { class: "card", "aria-label": `Answer of ${run.name}` },
    make("header", {}, make("h3", {}, make("bdi", {}, run.name)), make("span", { class: "note" }, describe(run))),
    make("div", {}, said(result), run.task === "regression" ? null : chances(result)),
    make("div", {}, drawWords(text, result, state.crossed, state.cross, state.restore), legend(result, method, signedScores), heaviest(result)),
  );
}

function describe(run) {
  return run.model + (run.levels > 1 ? `, ${run.levels} levels` : "");
}

export const shown = (value) => (typeof value === "number" ? value.toFixed(2) : value);

function said(result) {
  const own = result.probabilities?.[result.prediction];
  const line = make("p", { class: "said" }, make("bdi", { class: "big" }, shown(result.prediction)));
  if (own !== undefined) line.append(make("span", { class: "lead" }, percent(own)));
  if (result.before) line.append(was(result));
  return line;
}

function was({ prediction, before }) {
  if (typeof prediction === "number") return make("span", { class: "was" }, `${signed(prediction - before.prediction, 2)}; with all words ${shown(before.prediction)}`);
  const changed = prediction !== before.prediction;
  const told = make("span", { class: changed ? "was changed" : "was" }, changed ? "changed: was " : "was ", make("bdi", {}, before.prediction));
  told.append(`, ${percent(before.probabilities[before.prediction])}, with all words`);
  return told;
}

function chances({ prediction, probabilities, before }) {
  const order = Object.keys(probabilities);
  // many classes: the likeliest; few: as the model has them, so that bars stay where they are while words come and go
  const listed = order.length > SHOWN ? order.sort((a, b) => probabilities[b] - probabilities[a]).slice(0, SHOWN) : order;
  const rows = listed.map((name) => {
    const share = probabilities[name], moved = before ? share - before.probabilities[name] : null;
    const track = make("span", { class: "track", "aria-hidden": "true" }, make("span", { style: { width: `${(100 * share).toFixed(2)}%` } }));
    if (before) track.append(make("i", { style: { "inset-inline-start": `${(100 * before.probabilities[name]).toFixed(2)}%` } }));
    const step = moved === null ? "" : Math.abs(moved) < 0.0005 ? "=" : `${moved > 0 ? "▲" : "▼"} ${signed(100 * moved, 1)}`;
    return make("li", { class: name === prediction ? "first" : null }, make("bdi", {}, name), track, make("span", { class: "share" }, percent(share)), make("span", { class: "moved", title: moved === null ? null : "percentage points, from the answer to all words" }, step));
  });
  const more = order.length - listed.length;
  return make("ul", { class: "chances", "aria-label": "Probabilities" }, ...rows, more > 0 ? make("li", { class: "more" }, `and ${more} more`) : null);
}

function legend(result, method, signedScores) {
  const keys = [];
  if (signedScores) keys.push(key("ramp cold", "against "), key("ramp", "for "));
  else keys.push(key("ramp", "heavier words"));
  if (signedScores && result.target !== null) keys.forEach((one) => one.append(make("bdi", {}, result.target)));
  const { forward, backward, seconds } = result.cost;
  const passes = forward + backward;
  const facts = [`${method.title}: ${passes.toLocaleString("en")} pass${passes === 1 ? "" : "es"}, ${(1000 * seconds).toFixed(1)} ms`];
  if (result.facts.convergence !== undefined) facts.push(`error ${Math.abs(result.facts.convergence).toExponential(1)}`);
  if (result.facts.r2 !== undefined) facts.push(`R² ${result.facts.r2.toFixed(2)}`);
  if (result.unread) facts.push(`${result.unread.toLocaleString("en")} words at the end are not read`);
  return make("p", { class: "legend" }, ...keys, make("span", {}, facts.join(" · ")));
}

const key = (kind, told) => make("span", { class: "key" }, make("span", { class: kind, "aria-hidden": "true" }), told);

function heaviest(result) {
  const order = result.tokens.filter((token) => token.score !== null && token.score !== 0).sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
  if (!order.length) return make("p", { class: "note" }, "No word has a score.");
  const rows = order.slice(0, SHOWN).map((token) => make("li", {}, make("bdi", {}, token.text), make("span", {}, short(token.score))));
  return make("details", {}, make("summary", {}, "Heaviest words"), make("ol", { class: "top" }, ...rows));
}
