// The page: the scatter with its pointer, keys, legend, search and player.
"use strict";

const data = JSON.parse(document.getElementById("page-data").textContent);
const scatter = makeScatter(document.getElementById("scatter"), data);
const card = document.getElementById("card"), readout = document.getElementById("readout");
const HINT = readout.textContent;
let player = null, kinds = null, waiting = false;

// Draw at most once per frame.
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw(scatter);
    report();
  });
}

function report() {
  const k = scatter.hovered >= 0 ? scatter.hovered : scatter.selected;
  const shown = k >= 0 && isShown(scatter, k);
  card.hidden = !shown;
  if (shown) {
    fillCard(card, scatter, k);
    placeCard(card, scatter, k);
  }
  const words = shown ? sentenceOf(scatter, k) : HINT;
  if (!player?.playing() && readout.textContent !== words) readout.textContent = words;
}

function hover(k) {
  if (k === scatter.hovered) return;
  scatter.hovered = k;
  scatter.canvas.style.cursor = k >= 0 ? "pointer" : "";
  redraw();
}

function select(k) {
  scatter.selected = k;
  redraw();
}

// A token chosen from the list may be shown only in the other view, or its kind may be switched off.
function reveal(k) {
  kinds.reveal(data.kind[k]);
  if (Number.isNaN(scatter.x[k])) (data.polarity[k] === null ? player.end : player.back)();
  select(k);
}

// The next visible token right, left, above or below the selected one.
function walkTokens(scores, direction) {
  const shown = scatter.order.filter((k) => isShown(scatter, k)).sort((a, b) => scores[a] - scores[b] || a - b);
  const at = shown.indexOf(scatter.selected);
  const first = data.named.find((k) => isShown(scatter, k)) ?? shown[0] ?? -1;
  select(at < 0 ? first : shown[Math.min(Math.max(at + direction, 0), shown.length - 1)]);
}

const KEYS = {
  ArrowRight: () => walkTokens(scatter.x, 1),
  ArrowLeft: () => walkTokens(scatter.x, -1),
  ArrowUp: () => walkTokens(scatter.y, 1),
  ArrowDown: () => walkTokens(scatter.y, -1),
  Escape: () => select(-1),
};

function listenToCanvas(canvas) {
  canvas.addEventListener("pointermove", (event) => hover(nearest(scatter, event.offsetX, event.offsetY)));
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("pointerdown", (event) => select(nearest(scatter, event.offsetX, event.offsetY)));
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible") && scatter.selected < 0) walkTokens(scatter.x, 1);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
}

function start() {
  const part = (id) => document.getElementById(id);
  resize(scatter);
  listenToCanvas(scatter.canvas);
  kinds = makeKinds(scatter, redraw);
  makeSearch(scatter, { input: part("search"), list: part("search-results"), status: part("search-status") }, (hits) => {
    scatter.matched = hits && hits.size ? hits : null;
    redraw();
  }, reveal);
  if (data.recording) {
    const controls = { play: part("play"), slider: part("moment"), when: part("when"), saved: part("saved") };
    player = makePlayer(scatter, controls, redraw);
  }
  const fit = () => (resize(scatter), draw(scatter)); // immediately, because printing does not wait for a frame
  new ResizeObserver(fit).observe(scatter.canvas.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit);
  matchMedia("print").addEventListener("change", fit);
}

start();
