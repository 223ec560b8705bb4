// The page: the text and the crossed-out words are answered by the model in the page; nothing is sent anywhere.
import { drawAnswer } from "./answer.js";
import { answer } from "./answering.js";
import { $, make } from "./elements.js";
import { Model } from "./model.js";
import { currentFocus, markCrossed, restoreFocus, statusText } from "./redrawing.js";

const METHOD = { title: "leave-one-out" };
const state = { crossed: new Set(), cross, restore };
let model = null, run = null;

function load(data) {
  model = new Model(data);
  model.functionWords = new Set(data.function_words);
  run = { name: data.name, model: data.model, levels: 1, task: data.task.kind };
}

function start() {
  const data = $("page-data");
  load(JSON.parse(data.textContent));
  data.remove(); // the text of the tables is no longer needed
  const { classes } = model.task;
  $("target-field").hidden = !classes;
  $("target").append(make("option", { value: "" }, "the predicted one"), ...(classes ?? []).map((name) => make("option", { value: name }, name)));
  $("text").addEventListener("input", () => {
    state.crossed.clear(); // word numbers refer to the old text
    show();
  });
  $("target").addEventListener("change", show);
  $("restore").addEventListener("click", () => {
    restore();
    $("text").focus();
  });
  $("example").addEventListener("click", () => {
    $("text").value = $("example").dataset.text;
    state.crossed.clear();
    show();
  });
  show();
}

function cross(indices) {
  for (const index of indices) if (!state.crossed.delete(index)) state.crossed.add(index);
  markCrossed(state.crossed);
  show();
}

function restore() {
  if (!state.crossed.size) return;
  state.crossed.clear();
  show();
}

function show() {
  const text = $("text").value, focus = currentFocus();
  $("restore").hidden = state.crossed.size === 0;
  if (!text.trim()) {
    $("results").replaceChildren(make("p", { class: "empty" }, "The prediction appears here."));
    $("status").textContent = "";
    return;
  }
  const result = answer(model, text, state.crossed, $("target").value || null);
  $("results").replaceChildren(drawAnswer(run, METHOD, true, text, result, state));
  restoreFocus(focus);
  $("status").textContent = statusText(run, result);
}

// For the console of the browser, and for programs that read the page: regard.answer("a text")
globalThis.regard = { load, answer: (text, target = null) => answer(model, text, new Set(), target) };
if (typeof document !== "undefined") start();
