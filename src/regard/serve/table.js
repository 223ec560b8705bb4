// A pasted table, answered row by row, shown and given back as CSV.
import { Failed, Latest } from "./asking.js";
import { $, make, percent } from "./making.js";
import { shown } from "./answer.js";

const DRAWN = 200; // rows on the page; the file has all
const latest = new Latest();
let answered = null;

export function startTable(runs, read) {
  for (const run of runs) $("run").append(make("option", { value: run.name }, run.name));
  $("which").hidden = runs.length < 2;
  $("answer").addEventListener("click", () => answerTable(read));
  $("save").addEventListener("click", save);
  $("file").addEventListener("change", async () => {
    const file = $("file").files[0];
    if (!file) return;
    if (file.size > 5e6) return complain("The file is larger than 5 MB; `regard predict` reads files of any size.");
    const bytes = new Uint8Array(await file.arrayBuffer());
    const text = decoded(bytes);
    if (text === null) return complain(`${file.name}, ${firstBad(bytes)} is not UTF-8; convert the file to UTF-8 (of Windows: iconv -f cp1252 -t utf-8)`);
    $("table").value = text;
    answerTable(read);
  });
}

// As the command line reads a file: UTF-16 where its first bytes say so, else UTF-8, and null if it is not.
function decoded(bytes) {
  const mark = bytes[0] * 256 + bytes[1];
  if (mark === 0xfffe || mark === 0xfeff) return new TextDecoder(mark === 0xfffe ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

// Where the decoder put its sign for what is no character, unless the file has that sign itself.
function firstBad(bytes) {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), encoder = new TextEncoder();
  let at = 0, from = 0;
  for (const { index } of text.matchAll(/\ufffd/g)) {
    at += encoder.encode(text.slice(from, index)).length;
    from = index;
    if (bytes[at] !== 0xef || bytes[at + 1] !== 0xbf || bytes[at + 2] !== 0xbd) break;
  }
  const line = bytes.subarray(0, at).filter((byte) => byte === 10).length + 1;
  return `line ${line}: byte 0x${bytes[at].toString(16).padStart(2, "0")} at offset ${at}`;
}

function complain(sentence) {
  $("trouble").textContent = sentence ?? "";
  $("trouble").hidden = sentence === null;
}

async function answerTable(read) {
  complain(null);
  $("answer").disabled = true;
  $("tally").textContent = "Reading …";
  try {
    const asked = { table: $("table").value, format: $("format").value, run: $("run").value };
    if ($("column").value.trim()) asked.text_column = $("column").value.trim();
    const found = await latest.ask("api/table", asked);
    if (found !== null) draw(found, read);
  } catch (problem) {
    if (!(problem instanceof Failed)) throw problem;
    $("tally").textContent = "";
    complain(problem.message);
  } finally {
    $("answer").disabled = false;
  }
}

function draw(found, read) {
  answered = found;
  const told = [`${found.rows.length.toLocaleString("en")} rows, texts in “${found.text_column}”`];
  if (found.labelled) told.push(`${found.right.toLocaleString("en")} of ${found.labelled.toLocaleString("en")} as in “${found.label_column}” (${percent(found.right / found.labelled)})`);
  if (found.bad_rows) told.push(`${found.bad_rows.toLocaleString("en")} could not be used`);
  if (found.rows.length > DRAWN) told.push(`the first ${DRAWN} are shown`);
  $("tally").textContent = `${told.join(" · ")}.`;
  const text = found.columns.indexOf(found.text_column), hasLabels = found.rows.some((row) => row.label !== undefined);
  const heads = ["row", "text", "answer", "probability", ...(hasLabels ? ["label"] : [])].map((name) => make("th", { scope: "col" }, name));
  const rows = found.rows.slice(0, DRAWN).map((row) => line(row, text, hasLabels, found.labelled > 0, read));
  $("rows").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
  $("rows").hidden = $("save").hidden = false;
}

function line(row, text, hasLabels, judged, read) {
  const number = make("td", { class: "number" }, String(row.row));
  if (row.error !== undefined) return make("tr", { class: "bad" }, number, make("td", { colspan: hasLabels ? 4 : 3 }, row.error));
  const button = make("button", { type: "button", class: "read", dir: "auto", title: "Look at its words" }, row.fields[text].slice(0, 300));
  button.addEventListener("click", () => read(row.fields[text], $("run").value));
  const likely = row.probabilities ? percent(row.probabilities[row.prediction]) : "";
  const cells = [number, make("td", {}, button), make("td", {}, make("bdi", {}, shown(row.prediction))), make("td", { class: "number" }, likely)];
  if (hasLabels) cells.push(make("td", { class: "label" }, make("bdi", {}, row.label === undefined ? "" : shown(row.label))));
  return make("tr", { class: judged && row.label !== undefined && row.label !== row.prediction ? "missed" : null }, ...cells);
}

// Their own columns, and behind them the answers.
export function asCsv({ columns, rows }) {
  const classes = Object.keys(rows.find((row) => row.probabilities)?.probabilities ?? {});
  const lines = [[...columns, "prediction", ...classes.map((name) => `p(${name})`)]];
  for (const row of rows) {
    const fields = columns.map((_, place) => row.fields[place] ?? "");
    lines.push([...fields, row.prediction ?? "", ...classes.map((name) => row.probabilities?.[name] ?? "")]);
  }
  return lines.map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}

function field(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save() {
  const address = URL.createObjectURL(new Blob([asCsv(answered)], { type: "text/csv;charset=utf-8" }));
  make("a", { href: address, download: "answers.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
