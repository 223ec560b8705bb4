// Details of one token: a card next to its point, and the same as a sentence for screen readers.
"use strict";

function written(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
  return text.replace("-", "−");
}

function detailsOf(scatter, k) {
  const { data } = scatter;
  const rows = [
    ["polarity", written(scatter.x[k])],
    ["attention score", written(scatter.y[k])],
    ["mean weight", written(data.weight[k])],
    ["count", written(data.count[k])],
    ["γ", written(data.gamma[k])],
  ];
  const scores = scatter.moment === null && data.by_class[k];
  if (scores) {
    const best = scores.map((value, index) => [data.classes[index], value]).sort((a, b) => b[1] - a[1]).slice(0, 5);
    for (const [name, value] of best) rows.push([`for ${name}`, written(value)]);
  }
  return { token: data.token[k], kind: data.kinds[data.kind[k]].name, rows };
}

function sentenceOf(scatter, k) {
  const { token, kind, rows } = detailsOf(scatter, k);
  return `${token}: ${kind}; ${rows.map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

function fillCard(card, scatter, k) {
  const { token, kind, rows } = detailsOf(scatter, k);
  const head = element("p", "word", [element("bdi", "", [token])]);
  const chip = element("p", "chip", [kind]);
  const colours = scatter.data.kinds[scatter.data.kind[k]];
  chip.style.setProperty("--own", scatter.dark ? colours.dark : colours.light);
  const cells = rows.flatMap(([name, value]) => [element("dt", "", [name]), element("dd", "", [value])]);
  card.replaceChildren(head, chip, element("dl", "", cells));
}

// Next to the point, on the outside if there is room: its trail during training comes from the middle.
function placeCard(card, scatter, k) {
  const x = across(scatter, scatter.x[k]), y = down(scatter, scatter.y[k]);
  const wide = card.offsetWidth, before = x - 18 - wide, after = x + 18;
  const left = x < scatter.width / 2 ? (before < 4 ? after : before) : after + wide > scatter.width ? before : after;
  const top = Math.min(Math.max(y - card.offsetHeight / 2, 4), scatter.height - card.offsetHeight - 4);
  card.style.transform = `translate(${Math.max(left, 4)}px, ${top}px)`;
}

function element(name, kind, inside) {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  node.append(...inside); // strings become text, never markup
  return node;
}
