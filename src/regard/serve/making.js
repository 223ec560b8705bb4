// Elements out of names, attributes and texts. All text goes in as text: nothing here is ever parsed as HTML.
export function make(name, given = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") made.className = value;
    else if (key === "style") for (const [property, own] of Object.entries(value)) made.style.setProperty(property, own);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside.filter((one) => one !== null && one !== undefined));
  return made;
}

export const $ = (id) => document.getElementById(id);

export const percent = (value) => (value > 0 && value < 0.0005 ? "<0.1 %" : `${(100 * value).toFixed(1)} %`);

// a score in few characters; what is too small for them is not written as zero
export function short(value) {
  if (value === null) return "–";
  const size = Math.abs(value), sign = value < 0 ? "−" : "";
  if (size > 0 && size < 0.0005) return `${sign}<.001`;
  return sign + (size >= 100 ? size.toFixed(0) : size >= 10 ? size.toFixed(1) : size.toFixed(3));
}

export const signed = (value, digits) => (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(digits);
