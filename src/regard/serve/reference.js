// The API as openapi.json tells it.
import { askReady } from "./asking.js";
import { $, make } from "./making.js";

const kind = (schema) => (schema.enum ? schema.enum.join(" | ") : schema.type === "array" ? `list of ${kind(schema.items)}` : [schema.type].flat().join(" or "));

function fields(caption, schema) {
  const rows = Object.entries(schema.properties).map(([name, own]) =>
    make("tr", {}, make("th", { scope: "row" }, make("code", {}, name), schema.required?.includes(name) ? " (needed)" : ""), make("td", {}, kind(own)), make("td", {}, own.description ?? "")));
  const head = ["field", "kind", ""].map((name) => make("th", { scope: "col" }, name));
  return make("details", { open: caption === "Asked" }, make("summary", {}, caption), make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

function curl(path, example) {
  const address = location.origin + path;
  if (!example) return `curl ${address}`;
  return `curl ${address} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`;
}

function card(path, verb, own) {
  const asked = own.requestBody?.content["application/json"];
  const result = own.responses["200"].content["application/json"].schema;
  return make(
    "section",
    { class: "card path" },
    make("h2", {}, make("span", { class: "verb" }, verb.toUpperCase()), make("code", {}, path)),
    make("p", {}, own.summary + ". ", own.description ?? ""),
    asked ? fields("Asked", asked.schema) : null,
    fields("Answered", result),
    make("pre", { tabindex: "0" }, curl(path, asked?.example)),
  );
}

const found = await askReady("openapi.json", () => ($("lead").textContent = "The model is loading."));
$("lead").textContent = found.info.description;
$("paths").append(...Object.entries(found.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, own]) => card(path, verb, own))));
