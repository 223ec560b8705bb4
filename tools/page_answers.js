// The answers of a page that `regard export --format page` wrote, without a browser:
//   node tools/page_answers.js PAGE TEXTS > ANSWERS
// TEXTS is a JSON list; ANSWERS is {"seconds": … (of CPU time), "answers": […]}, each answer as regard.answer(text) returns it.
const { readFileSync } = require("node:fs");

const [page, texts] = process.argv.slice(2).map((path) => readFileSync(path, "utf-8"));
const scripts = [...page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)];
const data = scripts.find(([, attributes]) => attributes.includes("page-data"))[2];
(0, eval)(scripts.find(([, attributes]) => attributes === "")[2]);
regard.load(JSON.parse(data));
const before = process.cpuUsage();
const answers = JSON.parse(texts).map((text) => regard.answer(text));
process.stdout.write(JSON.stringify({ seconds: process.cpuUsage(before).user / 1e6, answers }));
