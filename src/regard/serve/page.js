// The page: the text, the options and the crossed-out words become one request; its result is drawn.
import { drawAnswer } from "./answer.js";
import { $, make } from "./elements.js";
import { currentFocus, markCrossed, restoreFocus, statusText } from "./redrawing.js";
import { Latest, RequestFailed, requestWhenReady } from "./requests.js";
import { startTable } from "./table.js";

const PAUSE = 120; // milliseconds after the last key press before a text is sent
const EXAMPLE = "The staff were kind and the room was spotless. Breakfast was a disappointment, though: cold eggs, and I waited half an hour. I would still come back.";
const latest = new Latest();
const state = { crossed: new Set(), cross, restore };
let facts = null, timer = 0;

async function start() {
  facts = await requestWhenReady("api/runs", () => $("results").replaceChildren(make("p", { class: "empty" }, "The model is loading; the prediction follows as soon as it is ready.")));
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
    state.crossed.clear(); // word numbers refer to the old text
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
  });
  $("method").addEventListener("change", send);
  $("target").addEventListener("change", send);
  $("restore").addEventListener("click", () => {
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
  const output = run.task === "regression" ? "a number" : run.classes.length > 6 ? `${run.classes.length} classes` : run.classes.join(", ");
  return `${run.model}${run.levels > 1 ? `, ${run.levels} levels` : ""}; predicts ${output}`;
}

function listMethods() {
  const available = new Set(facts.runs.flatMap((run) => run.methods));
  const listed = facts.methods.filter((method) => available.has(method.name));
  const option = (method) => make("option", { value: method.name }, method.title);
  $("method").append(...listed.filter((method) => !method.control).map(option));
  const controls = listed.filter((method) => method.control).map(option);
  if (controls.length) $("method").append(make("optgroup", { label: "for comparison" }, ...controls));
  const defaults = facts.runs.map((run) => run.default_contribution);
  // leaving words out is fast for flat models only
  $("method").value = facts.start.method ?? defaults.find((name) => name !== "leave_one_out") ?? defaults[0];
}

function listTargets() {
  const shared = facts.runs.map((run) => run.classes).reduce((one, other) => one.filter((name) => other.includes(name)));
  $("target").append(make("option", { value: "" }, "the predicted one"), ...shared.map((name) => make("option", { value: name }, name)));
  $("target").value = facts.start.target ?? "";
}

const currentMethod = () => facts.methods.find((method) => method.name === $("method").value);

function cross(indices) {
  for (const index of indices) if (!state.crossed.delete(index)) state.crossed.add(index);
  markCrossed(state.crossed);
  send();
}

function restore() {
  if (!state.crossed.size) return;
  state.crossed.clear();
  markCrossed(state.crossed);
  send();
}

function showProblem(sentence) {
  $("problem").textContent = sentence ?? "";
  $("problem").hidden = sentence === null;
}

async function send() {
  clearTimeout(timer);
  const text = $("text").value, method = currentMethod(), runs = facts.runs;
  const hasTargets = method.signed || method.name === "gradient";
  $("target-field").hidden = !hasTargets || $("target").options.length < 3;
  $("method-note").textContent = method.sentence ? `${method.sentence[0].toUpperCase()}${method.sentence.slice(1)}.` : "";
  $("restore").hidden = state.crossed.size === 0;
  if (!text.trim()) {
    latest.drop();
    showProblem(null);
    $("agreement").hidden = true;
    $("results").setAttribute("aria-busy", "false");
    $("results").replaceChildren(make("p", { class: "empty" }, "The prediction appears here."));
    return;
  }
  const fields = { text, method: method.name, without: [...state.crossed] };
  if (!$("target-field").hidden && $("target").value) fields.target = $("target").value;
  $("results").setAttribute("aria-busy", "true");
  try {
    const response = await latest.request(runs.length > 1 ? "api/compare" : "api/explain", fields);
    if (response === null) return; // a later request is on its way
    showProblem(null);
    draw(text, method, response);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    showProblem(error.message);
  }
  $("results").setAttribute("aria-busy", "false");
}

function draw(text, method, response) {
  const focus = currentFocus();
  const run = (result, index) => facts.runs.find((candidate) => candidate.name === result.run) ?? facts.runs[index];
  $("results").replaceChildren(...response.results.map((result, index) => drawAnswer(run(result, index), method, response.signed, text, result, state)));
  restoreFocus(focus);
  const { agreement } = response, measures = [];
  if (agreement?.tau != null) measures.push(`Kendall’s τ ${agreement.tau.toFixed(2).replace("-", "−")}`);
  if (agreement?.divergence != null) measures.push(`Jensen–Shannon divergence ${agreement.divergence.toFixed(3)}`);
  $("agreement").hidden = !measures.length;
  $("agreement").textContent = measures.length ? `Agreement of the two runs on the words: ${measures.join(", ")}.` : "";
  $("status").textContent = response.results.map((result, index) => statusText(run(result, index), result)).join(" ");
}

start().catch((error) => showProblem(error instanceof RequestFailed ? error.message : "Something went wrong on this page; please reload it."));
