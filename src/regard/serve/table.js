// A pasted table: one prediction per row, shown on the page and available as CSV.
import { confidence, shown } from "./answer.js";
import { $, make, percent } from "./elements.js";
import { Latest, RequestFailed } from "./requests.js";

const DRAWN = 200; // rows on the page; the CSV file has all of them
const latest = new Latest();
let predictions = null;

export function startTable(runs, openText) {
  for (const run of runs) $("run").append(make("option", { value: run.name }, run.name));
  $("run-field").hidden = runs.length < 2;
  $("predict").addEventListener("click", () => predictTable(openText));
  $("save").addEventListener("click", save);
  $("file").addEventListener("change", async () => {
    const file = $("file").files[0];
    if (!file) return;
    if (file.size > 5e6) return showProblem("The file is larger than 5 MB; `regard predict` reads files of any size.");
    const bytes = new Uint8Array(await file.arrayBuffer());
    const text = decoded(bytes);
    if (text === null) return showProblem(`${file.name}, ${firstBad(bytes)} is not UTF-8; convert the file, e.g. from Windows with iconv -f cp1252 -t utf-8`);
    $("table").value = text;
    predictTable(openText);
  });
}

// As on the command line: UTF-16 if there is a byte order mark, else UTF-8; null if it is neither.
function decoded(bytes) {
  const mark = bytes[0] * 256 + bytes[1];
  if (mark === 0xfffe || mark === 0xfeff) return new TextDecoder(mark === 0xfffe ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

// Where the decoder inserted the first replacement character, unless the file itself contains it there.
function firstBad(bytes) {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), encoder = new TextEncoder();
  let offset = 0, from = 0;
  for (const { index } of text.matchAll(/\ufffd/g)) {
    offset += encoder.encode(text.slice(from, index)).length;
    from = index;
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) break;
  }
  const line = bytes.subarray(0, offset).filter((byte) => byte === 10).length + 1;
  return `line ${line}: byte 0x${bytes[offset].toString(16).padStart(2, "0")} at offset ${offset}`;
}

function showProblem(sentence) {
  $("table-problem").textContent = sentence ?? "";
  $("table-problem").hidden = sentence === null;
}

async function predictTable(openText) {
  showProblem(null);
  $("predict").disabled = true;
  $("table-summary").textContent = "Predicting …";
  try {
    const fields = { table: $("table").value, format: $("format").value, run: $("run").value };
    if ($("column").value.trim()) fields.text_column = $("column").value.trim();
    const response = await latest.request("api/table", fields);
    if (response !== null) draw(response, openText);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    $("table-summary").textContent = "";
    showProblem(error.message);
  } finally {
    $("predict").disabled = false;
  }
}

function draw(response, openText) {
  predictions = response;
  const summary = [`${response.rows.length.toLocaleString("en")} rows, texts in “${response.text_column}”`];
  if (response.labelled) summary.push(`${response.right.toLocaleString("en")} of ${response.labelled.toLocaleString("en")} match “${response.label_column}” (${percent(response.right / response.labelled)})`);
  if (response.bad_rows) summary.push(`${response.bad_rows.toLocaleString("en")} could not be used`);
  if (response.rows.length > DRAWN) summary.push(`the first ${DRAWN} are shown`);
  $("table-summary").textContent = `${summary.join(" · ")}.`;
  const text = response.columns.indexOf(response.text_column), hasLabels = response.rows.some((row) => row.label !== undefined);
  const heads = ["row", "text", "prediction", "probability", ...(hasLabels ? ["label"] : [])].map((name) => make("th", { scope: "col" }, name));
  const rows = response.rows.slice(0, DRAWN).map((row) => line(row, text, hasLabels, response.labelled > 0, openText));
  $("rows").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
  $("rows").hidden = $("save").hidden = false;
  offerEscaping();
}

function line(row, text, hasLabels, hasClasses, openText) {
  const number = make("td", { class: "number" }, String(row.row));
  if (row.error !== undefined) return make("tr", { class: "bad" }, number, make("td", { colspan: hasLabels ? 4 : 3 }, row.error));
  const button = make("button", { type: "button", class: "open", dir: "auto", title: "Show its words" }, row.fields[text].slice(0, 300));
  button.addEventListener("click", () => openText(row.fields[text], $("run").value));
  const probability = confidence(row);
  const cells = [number, make("td", {}, button), make("td", {}, make("bdi", {}, shown(row.prediction))), make("td", { class: "number" }, probability)];
  if (hasLabels) cells.push(make("td", { class: "label" }, make("bdi", {}, row.label === undefined ? "" : shown(row.label))));
  return make("tr", { class: hasClasses && row.label !== undefined && shown(row.label) !== shown(row.prediction) ? "missed" : null }, ...cells);
}

// The columns of the table, followed by the predictions.
export function asCsv({ columns, rows }, change = (cell) => cell) {
  const classes = Object.keys(rows.find((row) => row.probabilities)?.probabilities ?? {});
  const lines = [[...columns, "prediction", ...classes.map((name) => `p(${name})`)]];
  for (const row of rows) {
    const fields = columns.map((_, index) => row.fields[index] ?? "");
    lines.push([...fields, [row.prediction ?? ""].flat().join(";"), ...classes.map((name) => row.probabilities?.[name] ?? "")]);
  }
  return lines.map((line) => line.map((cell) => field(change(String(cell)))).join(",")).join("\r\n") + "\r\n";
}

// Whether a spreadsheet would run a cell, by the same rule as for the files that commands write.
export function isFormula(text) {
  return /^[\t\r]*[=+\-@][^]*\w/.test(text) && Number.isNaN(Number(text));
}

function field(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const escape = make("input", { type: "checkbox" }), escaping = make("label", {}, escape, make("span"));

// Beside the button that saves, if a spreadsheet would run some cells.
function offerEscaping() {
  let count = 0;
  asCsv(predictions, (cell) => {
    count += isFormula(cell);
    return cell;
  });
  const cells = count === 1 ? "1 cell begins" : `${count} cells begin`;
  escaping.lastChild.textContent = ` ${cells} like a formula, which a spreadsheet would run: put ' before each`;
  escape.checked = false;
  if (count > 0) $("save").after(escaping);
  else escaping.remove();
}

function save() {
  const content = escape.checked ? asCsv(predictions, (cell) => (isFormula(cell) ? `'${cell}` : cell)) : asCsv(predictions);
  const address = URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" }));
  make("a", { href: address, download: "predictions.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
