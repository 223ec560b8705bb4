// The scatter plot: positions of tokens at a moment, and how they are drawn.
"use strict";

const MARGIN = { left: 60, right: 20, top: 18, bottom: 50 };
const REACH = 16; // largest distance in pixels from the pointer to the point it selects

function makeScatter(canvas, data) {
  const count = data.token.length;
  const scatter = {
    canvas, data, count,
    pen: canvas.getContext("2d"),
    x: new Float64Array(count), // scores as shown; NaN if a token is not shown
    y: new Float64Array(count),
    moment: null, // position in the recording, possibly between two moments; null: the saved model
    hidden: new Set(), // kinds
    matched: null, // tokens that a search found; null: no search
    selected: -1,
    hovered: -1,
    order: Array.from({ length: count }, (_, k) => k).sort((a, b) => data.kind[b] - data.kind[a]),
    sprites: [],
  };
  showSaved(scatter);
  return scatter;
}

function showSaved(scatter) {
  scatter.moment = null;
  for (let k = 0; k < scatter.count; k++) {
    scatter.x[k] = scatter.data.polarity[k] ?? NaN;
    scatter.y[k] = scatter.data.attention[k] ?? NaN;
  }
}

function showMoment(scatter, moment) {
  const { token, polarity, attention } = scatter.data.recording;
  const before = Math.floor(moment), after = Math.min(before + 1, polarity.length - 1), part = moment - before;
  scatter.moment = moment;
  scatter.x.fill(NaN);
  scatter.y.fill(NaN);
  for (let j = 0; j < token.length; j++) {
    scatter.x[token[j]] = polarity[before][j] * (1 - part) + polarity[after][j] * part;
    scatter.y[token[j]] = attention[before][j] * (1 - part) + attention[after][j] * part;
  }
}

function isShown(scatter, k) {
  return scatter.x[k] === scatter.x[k] && !scatter.hidden.has(scatter.data.kind[k]);
}

function across(scatter, value) {
  const { low, high } = scatter.data.x;
  return MARGIN.left + ((value - low) / (high - low)) * (scatter.width - MARGIN.left - MARGIN.right);
}

function down(scatter, value) {
  const { low, high } = scatter.data.y;
  return scatter.height - MARGIN.bottom - ((value - low) / (high - low)) * (scatter.height - MARGIN.top - MARGIN.bottom);
}

function nearest(scatter, left, top) {
  let found = -1, least = REACH * REACH;
  for (const k of scatter.order) {
    if (!isShown(scatter, k)) continue;
    const a = across(scatter, scatter.x[k]) - left, b = down(scatter, scatter.y[k]) - top;
    const distance = a * a + b * b;
    if (distance <= least) [found, least] = [k, distance]; // of two at the same position, the one on top
  }
  return found;
}

function resize(scatter) {
  const width = scatter.canvas.parentElement.clientWidth;
  const height = Math.round(Math.min(Math.max(width * 0.54, 340), 600));
  const ratio = window.devicePixelRatio || 1;
  Object.assign(scatter, { width, height, ratio });
  scatter.canvas.style.height = `${height}px`;
  scatter.canvas.width = Math.round(width * ratio);
  scatter.canvas.height = Math.round(height * ratio);
  updateColours(scatter);
}

// Read the current colours of the page, light or dark, and draw a sprite of each kind of mark in them.
function updateColours(scatter) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  scatter.dark = matchMedia("screen and (prefers-color-scheme: dark)").matches;
  scatter.colours = { paper: colour("--paper"), ink: colour("--ink"), faint: colour("--faint"), edge: colour("--edge") };
  scatter.font = getComputedStyle(document.body).fontFamily;
  const many = scatter.count > 1500;
  scatter.sprites = scatter.data.kinds.map((kind, index) => {
    const untyped = index === scatter.data.kinds.length - 1;
    const radius = (untyped ? 2.4 : many ? 3.6 : 4.4) * (kind.rings.length > 1 ? 1.25 : 1); // hollow marks have less colour
    return sprite(kind.rings, scatter.dark ? kind.dark : kind.light, radius, scatter);
  });
}

function sprite(rings, colour, radius, scatter) {
  const picture = document.createElement("canvas"), size = 2 * Math.ceil(radius * 1.4 + 1);
  picture.width = picture.height = Math.ceil(size * scatter.ratio);
  const pen = picture.getContext("2d");
  pen.scale(scatter.ratio, scatter.ratio);
  pen.translate(size / 2, size / 2);
  pen.beginPath();
  for (const ring of rings) {
    ring.forEach(([a, b], index) => (index ? pen.lineTo(a * radius, b * radius) : pen.moveTo(a * radius, b * radius)));
    pen.closePath();
  }
  if (!rings.length) pen.arc(0, 0, radius * 0.9, 0, 2 * Math.PI);
  pen.fillStyle = colour;
  pen.fill();
  if (rings.length < 2) {
    pen.lineWidth = 0.75; // a thin edge in the background colour separates overlapping marks
    pen.strokeStyle = scatter.colours.paper;
    pen.stroke();
  }
  return { picture, size };
}

function draw(scatter) {
  const { pen, ratio, width, height } = scatter;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  drawAxes(scatter);
  drawPoints(scatter);
  if (scatter.selected >= 0) drawTrail(scatter, scatter.selected);
  drawNames(scatter);
  for (const k of new Set([scatter.hovered, scatter.selected])) if (k >= 0 && isShown(scatter, k)) drawRing(scatter, k, 2);
}

function drawAxes(scatter) {
  const { pen, width, height, colours, data } = scatter;
  const right = width - MARGIN.right, bottom = height - MARGIN.bottom;
  pen.font = `12px ${scatter.font}`;
  pen.lineWidth = 1;
  pen.fillStyle = colours.faint;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const [value, name] of data.y.ticks) {
    const y = Math.round(down(scatter, value)) + 0.5;
    stroke(pen, MARGIN.left, y, right, y, value === 0 ? colours.faint : colours.edge);
    pen.fillText(name, MARGIN.left - 8, y);
  }
  pen.textAlign = "center";
  const few = width < 520 ? 2 : 1;
  data.x.ticks.forEach(([value, name], index) => {
    const x = Math.round(across(scatter, value)) + 0.5;
    stroke(pen, x, MARGIN.top, x, bottom, value === 0 ? colours.faint : colours.edge);
    if (index % few === 0 || value === 0) pen.fillText(name, x, bottom + 14);
  });
  const room = right - MARGIN.left, wide = pen.measureText(data.x.title).width > room;
  const lines = wide ? data.x.title.split(/(?<=:) /) : [data.x.title]; // "polarity score:" and what its ends mean
  const middle = wide ? width / 2 : MARGIN.left + room / 2;
  lines.forEach((line, index) => pen.fillText(line, middle, bottom + (lines.length > 1 ? 29 + 14 * index : 36), wide ? width - 8 : room));
  pen.save();
  pen.translate(14, (MARGIN.top + bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(data.y.title, 0, 0);
  pen.restore();
}

function stroke(pen, x1, y1, x2, y2, colour) {
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function drawPoints(scatter) {
  const { pen, matched, data } = scatter;
  const put = (k, strength) => {
    const { picture, size } = scatter.sprites[data.kind[k]];
    pen.globalAlpha = strength;
    pen.drawImage(picture, across(scatter, scatter.x[k]) - size / 2, down(scatter, scatter.y[k]) - size / 2, size, size);
  };
  for (const k of scatter.order) if (isShown(scatter, k)) put(k, matched ? 0.14 : 0.78);
  if (matched) {
    for (const k of matched) if (isShown(scatter, k)) put(k, 1);
  }
  pen.globalAlpha = 1;
  if (matched && matched.size <= 200) for (const k of matched) if (isShown(scatter, k)) drawRing(scatter, k, 1);
}

function drawRing(scatter, k, thick) {
  const { pen, colours } = scatter;
  pen.beginPath();
  pen.arc(across(scatter, scatter.x[k]), down(scatter, scatter.y[k]), 7.5, 0, 2 * Math.PI);
  pen.lineWidth = thick;
  pen.strokeStyle = colours.ink;
  pen.stroke();
}

// The path of a token from the start of training to the moment shown.
function drawTrail(scatter, k) {
  const { pen, data, moment } = scatter;
  const column = moment === null ? -1 : data.recording.token.indexOf(k);
  if (column < 0 || !isShown(scatter, k)) return;
  pen.beginPath();
  for (let index = 0; index <= moment; index++) {
    const x = across(scatter, data.recording.polarity[index][column]);
    const y = down(scatter, data.recording.attention[index][column]);
    if (index) pen.lineTo(x, y);
    else pen.moveTo(x, y);
  }
  pen.lineTo(across(scatter, scatter.x[k]), down(scatter, scatter.y[k]));
  pen.lineWidth = 1.5;
  pen.strokeStyle = scatter.colours.ink;
  pen.stroke();
}

// Labels next to points: the selected token first, then search results or the strongest words; labels never overlap.
function drawNames(scatter) {
  const { pen, data, matched, colours } = scatter;
  const found = matched ? [...matched].slice(0, 30) : data.named;
  const taken = [];
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.lineJoin = "round";
  for (const k of new Set([scatter.selected, ...found])) {
    if (k < 0 || !isShown(scatter, k)) continue;
    pen.font = `${k === scatter.selected ? "600 13px" : "12px"} ${scatter.font}`;
    const x = across(scatter, scatter.x[k]), y = down(scatter, scatter.y[k]);
    const name = shortened(pen, data.token[k], 0.4 * scatter.width), wide = pen.measureText(name).width;
    let left = x > scatter.width / 2 ? x + 9 : x - 9 - wide; // on the outside, where there are fewer points
    if (left < MARGIN.left || left + wide > scatter.width - 4) left = 2 * x - left - wide;
    if (taken.some(([start, end, line]) => left < end && start < left + wide && Math.abs(line - y) < 14)) continue;
    taken.push([left - 4, left + wide + 4, y]);
    pen.lineWidth = 3.5;
    pen.strokeStyle = colours.paper;
    pen.strokeText(name, left, y);
    pen.fillStyle = colours.ink;
    pen.fillText(name, left, y);
  }
}

// A word cut to fit the plot; the card shows all of it.
function shortened(pen, word, most) {
  if (pen.measureText(word).width <= most) return word;
  const letters = [...word].slice(0, 60);
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > most) letters.pop();
  return `${letters.join("")}…`;
}
