// A run's result for a text: the prediction, the probability of every class and how it changed, and the words.
import { make, percent, short, signed } from "./elements.js";
import { drawWords } from "./words.js";

const SHOWN = 8; // classes, and words with the largest scores

export function drawAnswer(run, method, signedScores, text, result, state) {
  return make(
    "article",
    { class: "card", "aria-label": `Prediction of ${run.name}` },
    make("header", {}, make("h3", {}, make("bdi", {}, run.name)), make("span", { class: "note" }, describe(run))),
    make("div", {}, prediction(result), run.task === "regression" ? null : probabilityList(result)),
    make("div", {}, caution(result.note), drawWords(text, result, signedScores, state.crossed, state.cross, state.restore), legend(result, method, signedScores), signedScores ? strongestWords(result) : topWords(result)),
  );
}

const caution = (note) => (note ? make("p", { class: "alert", role: "note" }, `${note[0].toUpperCase()}${note.slice(1)}.`) : null);

function describe(run) {
  return run.model + (run.levels > 1 ? `, ${run.levels} levels` : "");
}

// A class, a number, or the labels of a text that may have several.
export const shown = (value) => (typeof value === "number" ? value.toFixed(2) : Array.isArray(value) ? value.join(", ") || "(no label)" : value);

// The probability of the predicted class, or of each predicted label; "" for a number.
export const confidence = ({ prediction, probabilities }) => (probabilities ? [prediction].flat().map((name) => percent(probabilities[name])).join(", ") : "");

const isSame = (one, other) => shown(one) === shown(other);

function prediction(result) {
  const probability = confidence(result);
  const line = make("p", { class: "prediction" }, make("bdi", { class: "big" }, shown(result.prediction)));
  if (probability) line.append(make("span", { class: "lead" }, probability));
  if (result.before) line.append(comparison(result));
  return line;
}

function comparison({ prediction, before }) {
  if (typeof prediction === "number") return make("span", { class: "before" }, `${signed(prediction - before.prediction, 2)}; with all words ${shown(before.prediction)}`);
  const changed = !isSame(prediction, before.prediction);
  const line = make("span", { class: changed ? "before changed" : "before" }, changed ? "changed; with all words " : "with all words ", make("bdi", {}, shown(before.prediction)));
  line.append(before.prediction.length ? `, ${confidence(before)}` : "");
  return line;
}

function probabilityList({ prediction, probabilities, before }) {
  const order = Object.keys(probabilities);
  // many classes: the most probable ones; few: in the model's order, so that bars stay in place while words change
  const listed = order.length > SHOWN ? order.sort((a, b) => probabilities[b] - probabilities[a]).slice(0, SHOWN) : order;
  const rows = listed.map((name) => {
    const probability = probabilities[name], change = before ? probability - before.probabilities[name] : null;
    const track = make("span", { class: "track", "aria-hidden": "true" }, make("span", { style: { width: `${(100 * probability).toFixed(2)}%` } }));
    if (before) track.append(make("i", { style: { "inset-inline-start": `${(100 * before.probabilities[name]).toFixed(2)}%` } }));
    const step = change === null ? "" : Math.abs(change) < 0.0005 ? "=" : `${change > 0 ? "▲" : "▼"} ${signed(100 * change, 1)}`;
    return make("li", { class: [prediction].flat().includes(name) ? "predicted" : null }, make("bdi", {}, name), track, make("span", { class: "probability" }, percent(probability)), make("span", { class: "change", title: change === null ? null : "change in percentage points, compared with all words" }, step));
  });
  const more = order.length - listed.length;
  return make("ul", { class: "probabilities", "aria-label": "Probabilities" }, ...rows, more > 0 ? make("li", { class: "more" }, `and ${more} more`) : null);
}

function legend(result, method, signedScores) {
  const keys = [];
  if (signedScores) keys.push(key("ramp cold", "against "), key("ramp", "for "));
  else keys.push(key("ramp", "larger weight"));
  if (signedScores && result.target !== null) keys.forEach((entry) => entry.append(make("bdi", {}, result.target)));
  const { forward, backward, seconds } = result.cost;
  const passes = forward + backward;
  const facts = [`${method.title}: ${passes.toLocaleString("en")} pass${passes === 1 ? "" : "es"}, ${(1000 * seconds).toFixed(1)} ms`];
  if (result.facts.convergence !== undefined) facts.push(`error ${Math.abs(result.facts.convergence).toExponential(1)}`);
  if (result.facts.r2 !== undefined) facts.push(`R² ${result.facts.r2.toFixed(2)}`);
  if (result.unread) facts.push(`the last ${result.unread.toLocaleString("en")} words are not read`);
  return make("p", { class: "legend" }, ...keys, make("span", {}, facts.join(" · ")));
}

const key = (kind, label) => make("span", { class: "key" }, make("span", { class: kind, "aria-hidden": "true" }), label);

function strongestWords({ strongest, target, strong }) {
  const titles = target === null ? { for: "Raise the number:", against: "Lower it:" } : { for: `For ${target}:`, against: "Against:" };
  const entry = ({ text, tokens, contribution, mark }) => {
    const times = tokens.length > 1 ? ` ×${tokens.length}` : "", together = times && " together";
    return make("li", {}, make("bdi", {}, text), `${times}${mark && ` (${mark})`} `, make("span", { class: "note" }, signed(contribution, 2) + together));
  };
  const list = (side) => (strongest[side].length ? make("div", { class: "strongest" }, make("span", { class: "note" }, titles[side]), make("ul", {}, ...strongest[side].map(entry))) : null);
  if (!strongest.for.length && !strongest.against.length) return make("p", { class: "note" }, `No word contributes ${Number((0.05 * strong).toPrecision(2))} or more.`);
  return make("div", {}, list("for"), list("against"));
}

function topWords(result) {
  const order = result.tokens.filter((token) => token.score !== null && token.score !== 0).sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
  if (!order.length) return make("p", { class: "note" }, "No word has a score.");
  const rows = order.slice(0, SHOWN).map((token) => make("li", {}, make("bdi", {}, token.text), make("span", {}, short(token.score))));
  return make("details", {}, make("summary", {}, "Words with the largest scores"), make("ol", { class: "top" }, ...rows));
}
