// What is known of one token: a card beside its point, and the same as a sentence for those who listen.
"use strict";

function written(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
  return text.replace("-", "−");
}

function detailsOf(scatter, k) {
  const { given } = scatter;
  const told = [
    ["polarity", written(scatter.x[k])],
    ["attention score", written(scatter.y[k])],
    ["mean weight", written(given.weight[k])],
    ["count", written(given.count[k])],
    ["γ", written(given.gamma[k])],
  ];
  const spoken = scatter.moment === null && given.by_class[k];
  if (spoken) {
    const best = spoken.map((value, place) => [given.classes[place], value]).sort((a, b) => b[1] - a[1]).slice(0, 5);
    for (const [name, value] of best) told.push([`for ${name}`, written(value)]);
  }
  return { token: given.token[k], kind: given.kinds[given.kind[k]].name, told };
}

function sentenceOf(scatter, k) {
  const { token, kind, told } = detailsOf(scatter, k);
  return `${token}: ${kind}; ${told.map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

function fillCard(card, scatter, k) {
  const { token, kind, told } = detailsOf(scatter, k);
  const head = element("p", "word", [element("bdi", "", [token])]);
  const chip = element("p", "chip", [kind]);
  const colours = scatter.given.kinds[scatter.given.kind[k]];
  chip.style.setProperty("--own", scatter.dark ? colours.dark : colours.light);
  const rows = told.flatMap(([name, value]) => [element("dt", "", [name]), element("dd", "", [value])]);
  card.replaceChildren(head, chip, element("dl", "", rows));
}

// Beside the point, outwards where there is room: its way along training comes from the middle.
function placeCard(card, scatter, k) {
  const x = across(scatter, scatter.x[k]), y = down(scatter, scatter.y[k]);
  const wide = card.offsetWidth, before = x - 18 - wide, after = x + 18;
  const left = x < scatter.width / 2 ? (before < 4 ? after : before) : after + wide > scatter.width ? before : after;
  const top = Math.min(Math.max(y - card.offsetHeight / 2, 4), scatter.height - card.offsetHeight - 4);
  card.style.transform = `translate(${Math.max(left, 4)}px, ${top}px)`;
}

function element(name, kind, inside) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...inside); // strings become text, never markup
  return made;
}
