// The page: what is typed, chosen and crossed out becomes one question; its answer is drawn.
import { drawAnswer, shown } from "./answer.js";
import { Failed, Latest, askReady } from "./asking.js";
import { $, make, percent } from "./making.js";
import { startTable } from "./table.js";

const PAUSE = 120; // milliseconds without a key before a text is sent
const EXAMPLE = "The staff were kind and the room was spotless. Breakfast was a disappointment, though: cold eggs, and I waited half an hour. I would still come back.";
const latest = new Latest();
const state = { crossed: new Set(), cross, restore };
let facts = null, timer = 0;

async function start() {
  facts = await askReady("api/runs", () => $("results").replaceChildren(make("p", { class: "empty" }, "The model is loading; what you write is answered as soon as it is there.")));
  const names = facts.runs.map((run) => run.name);
  document.title = `regard: ${names.join(" and ")}`;
  const title = ["What ", make("bdi", {}, names[0]), ...(names.length > 1 ? [" and ", make("bdi", {}, names[1])] : []), names.length > 1 ? " look at" : " looks at"];
  $("title").replaceChildren(...title);
  $("facts").replaceChildren(...facts.runs.map((run) => make("div", {}, make("dt", {}, make("bdi", {}, run.name)), make("dd", {}, make("bdi", {}, describe(run))))));
  $("version").textContent = `regard ${facts.version}`;
  listMethods();
  listTargets();
  startTable(facts.runs, (text) => {
    $("text").value = text;
    state.crossed.clear();
    send();
    $("text").focus();
  });
  $("text").addEventListener("input", () => {
    state.crossed.clear(); // numbers of words mean another text's
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
  });
  $("method").addEventListener("change", send);
  $("target").addEventListener("change", send);
  $("back").addEventListener("click", () => {
    restore();
    $("text").focus();
  });
  $("example").addEventListener("click", () => {
    $("text").value = EXAMPLE;
    state.crossed.clear();
    send();
  });
  await send();
}

function describe(run) {
  const what = run.task === "regression" ? "a number" : run.classes.length > 6 ? `${run.classes.length} classes` : run.classes.join(", ");
  return `${run.model}${run.levels > 1 ? `, ${run.levels} levels` : ""}; answers ${what}`;
}

function listMethods() {
  const known = new Set(facts.runs.flatMap((run) => run.methods));
  const listed = facts.methods.filter((method) => known.has(method.name));
  const option = (method) => make("option", { value: method.name }, method.title);
  $("method").append(...listed.filter((method) => !method.control).map(option));
  const controls = listed.filter((method) => method.control).map(option);
  if (controls.length) $("method").append(make("optgroup", { label: "to compare with" }, ...controls));
  const defaults = facts.runs.map((run) => run.default_method);
  $("method").value = defaults.find((name) => name !== "attention") ?? defaults[0];
}

function listTargets() {
  const shared = facts.runs.map((run) => run.classes).reduce((one, other) => one.filter((name) => other.includes(name)));
  $("target").append(make("option", { value: "" }, "the answer given"), ...shared.map((name) => make("option", { value: name }, name)));
}

const methodNow = () => facts.methods.find((method) => method.name === $("method").value);

function cross(places) {
  for (const place of places) if (!state.crossed.delete(place)) state.crossed.add(place);
  mark();
  send();
}

function restore() {
  if (!state.crossed.size) return;
  state.crossed.clear();
  mark();
  send();
}

// Seen at once, before the answer is there.
function mark() {
  for (const span of document.querySelectorAll("#results .w[role]")) {
    const out = state.crossed.has(Number(span.dataset.place));
    span.classList.toggle("out", out);
    span.setAttribute("aria-pressed", out ? "true" : "false");
  }
}

function complain(sentence) {
  $("problem").textContent = sentence ?? "";
  $("problem").hidden = sentence === null;
}

async function send() {
  clearTimeout(timer);
  const text = $("text").value, method = methodNow(), runs = facts.runs;
  const hasTargets = method.signed || method.name === "gradient";
  $("about").hidden = !hasTargets || $("target").options.length < 3;
  $("says").textContent = method.sentence ? `${method.sentence[0].toUpperCase()}${method.sentence.slice(1)}.` : "";
  $("back").hidden = state.crossed.size === 0;
  if (!text.trim()) {
    latest.drop();
    complain(null);
    $("agreement").hidden = true;
    $("results").setAttribute("aria-busy", "false");
    $("results").replaceChildren(make("p", { class: "empty" }, "The answer appears here."));
    return;
  }
  const asked = { text, method: method.name, without: [...state.crossed] };
  if (!$("about").hidden && $("target").value) asked.target = $("target").value;
  $("results").setAttribute("aria-busy", "true");
  try {
    const found = await latest.ask(runs.length > 1 ? "api/compare" : "api/explain", asked);
    if (found === null) return; // a later question is on its way
    complain(null);
    draw(text, method, found);
  } catch (problem) {
    if (!(problem instanceof Failed)) throw problem;
    complain(problem.message);
  }
  $("results").setAttribute("aria-busy", "false");
}

function draw(text, method, found) {
  const focus = focused();
  const run = (result, place) => facts.runs.find((one) => one.name === result.run) ?? facts.runs[place];
  $("results").replaceChildren(...found.results.map((result, place) => drawAnswer(run(result, place), method, found.signed, text, result, state)));
  refocus(focus);
  const { agreement } = found, told = [];
  if (agreement?.tau != null) told.push(`Kendall’s τ ${agreement.tau.toFixed(2).replace("-", "−")}`);
  if (agreement?.divergence != null) told.push(`Jensen–Shannon divergence ${agreement.divergence.toFixed(3)}`);
  $("agreement").hidden = !told.length;
  $("agreement").textContent = told.length ? `How far the two agree on the words: ${told.join(", ")}.` : "";
  $("status").textContent = found.results.map((result, place) => spoken(run(result, place), result)).join(" ");
}

function spoken(run, result) {
  const share = result.probabilities?.[result.prediction];
  const likely = share === undefined ? "" : `, ${percent(share)}`;
  const before = result.before ? `; with all words ${shown(result.before.prediction)}` : "";
  return `${run.name}: ${shown(result.prediction)}${likely}${before}.`;
}

// Where the keyboard was, so that a new drawing does not take it away.
function focused() {
  const now = document.activeElement, article = now?.closest?.("#results article");
  if (!article) return null;
  const own = now.matches(".w") ? `.w[data-place="${now.dataset.place}"]` : now.matches(".bar") ? ".bar" : "summary";
  return { card: [...$("results").children].indexOf(article), own, at: [...article.querySelectorAll(own)].indexOf(now) };
}

function refocus(focus) {
  if (focus === null) return;
  const found = $("results").children[focus.card]?.querySelectorAll(focus.own);
  found?.[Math.min(focus.at, found.length - 1)]?.focus({ preventScroll: true });
}

start().catch((problem) => complain(problem instanceof Failed ? problem.message : "Something went wrong on this page; load it again."));
