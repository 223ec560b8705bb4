// The documentation of the API, from openapi.json.
import { $, make } from "./elements.js";
import { requestWhenReady } from "./requests.js";

const type = (schema) => (schema.enum ? schema.enum.join(" | ") : schema.type === "array" ? `list of ${type(schema.items)}` : [schema.type].flat().join(" or "));

function fields(caption, schema) {
  const rows = Object.entries(schema.properties).map(([name, field]) =>
    make("tr", {}, make("th", { scope: "row" }, make("code", {}, name), schema.required?.includes(name) ? " (required)" : ""), make("td", {}, type(field)), make("td", {}, field.description ?? "")));
  const head = ["field", "type", "description"].map((name) => make("th", { scope: "col" }, name));
  return make("details", { open: caption === "Request" }, make("summary", {}, caption), make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

function curl(path, example) {
  const address = location.origin + path;
  if (!example) return `curl ${address}`;
  return `curl ${address} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`;
}

function card(path, verb, operation) {
  const body = operation.requestBody?.content["application/json"];
  const result = operation.responses["200"].content["application/json"].schema;
  return make(
    "section",
    { class: "card path" },
    make("h2", {}, make("span", { class: "verb" }, verb.toUpperCase()), make("code", {}, path)),
    make("p", {}, operation.summary + ". ", operation.description ?? ""),
    body ? fields("Request", body.schema) : null,
    fields("Response", result),
    make("pre", { tabindex: "0" }, curl(path, body?.example)),
  );
}

const api = await requestWhenReady("openapi.json", () => ($("lead").textContent = "The model is loading."));
$("lead").textContent = api.info.description;
$("paths").append(...Object.entries(api.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, operation]) => card(path, verb, operation))));
