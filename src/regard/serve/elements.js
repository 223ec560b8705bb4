// Create elements from names, attributes and texts. Text is always inserted as text: nothing is ever parsed as HTML.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") element.className = value;
    else if (key === "style") for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const $ = (id) => document.getElementById(id);

export const percent = (value) => (value > 0 && value < 0.0005 ? "<0.1 %" : `${(100 * value).toFixed(1)} %`);

// A score in few characters; tiny scores are not shown as zero.
export function short(value) {
  if (value === null) return "–";
  const size = Math.abs(value), sign = value < 0 ? "−" : "";
  if (size > 0 && size < 0.0005) return `${sign}<.001`;
  return sign + (size >= 100 ? size.toFixed(0) : size >= 10 ? size.toFixed(1) : size.toFixed(3));
}

export const signed = (value, digits) => (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(digits);
