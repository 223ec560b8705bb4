// From a text to its words and units, as regard's tokenizer does it: words, beginnings of words, pairs of neighbours.
const UNKNOWN = 1, EDGE = 0, SHIFT = 4294967296;

// Character sets are listed once; <N> refers to the N-th.
const compile = ({ source, sets }) => new RegExp(source.replace(/<(\d+)>/g, (_, number) => sets[number]), "vg");

export class Tokenizer {
  constructor(data) {
    this.ascii = compile(data.patterns.ascii);
    this.unicode = compile(data.patterns.unicode);
    this.lineBreak = compile(data.patterns.line_break);
    this.lowercase = data.lowercase;
    this.most = data.max_words ?? Infinity;
    this.letters = data.letters;
    this.vocabulary = numbered(data.words, 2);
    this.firstBeginning = 2 + this.vocabulary.size;
    this.beginnings = numbered(data.beginnings, this.firstBeginning);
    this.firstPair = this.firstBeginning + this.beginnings.size;
    this.pairs = new Map();
    for (let index = data.left.length - 1; index >= 0; index--) this.pairs.set(data.left[index] * SHIFT + data.right[index], this.firstPair + index);
    this.hasUnits = this.letters > 0 || this.pairs.size > 0;
  }

  // Words with their offsets in UTF-16 units, their ids, and the ids of their beginnings (0: none).
  read(text) {
    const isAscii = /^[\x00-\x7F]*$/.test(text);
    const plain = text.includes("<") ? text.replace(this.lineBreak, (tag) => " ".repeat(tag.length)) : text;
    const words = [];
    for (const match of plain.matchAll(isAscii ? this.ascii : this.unicode)) {
      words.push(this.word(match[0], match.index));
    }
    return { words: words.slice(0, this.most), unread: Math.max(0, words.length - this.most) };
  }

  word(text, start) {
    const form = this.form(text), id = this.vocabulary.get(form) ?? UNKNOWN;
    const letters = this.letters ? Array.from(form) : [];
    const hasBeginning = this.letters > 0 && letters.length > this.letters;
    const beginning = hasBeginning ? (this.beginnings.get(letters.slice(0, this.letters).join("")) ?? 0) : 0;
    return { text, start, end: start + text.length, form, id, beginning };
  }

  form(word) {
    const lower = this.lowercase ? word.toLowerCase() : word;
    return lower.replace(/[’´]/g, "'").normalize("NFC");
  }

  pair(left, right) {
    return left === UNKNOWN || right === UNKNOWN ? 0 : (this.pairs.get(left * SHIFT + right) ?? 0);
  }

  // The units of these words, each with the first and the last word that it covers, and for pairs the gap that they span.
  units(words) {
    const count = words.length, unknown = words.map((_, index) => ({ id: UNKNOWN, first: index, last: index, gap: null }));
    if (!this.hasUnits) return words.map(({ id }, index) => ({ id, first: index, last: index, gap: null }));
    const units = [];
    words.forEach(({ id, beginning }, index) => {
      if (id !== UNKNOWN) units.push({ id, first: index, last: index, gap: null });
      if (beginning) units.push({ id: beginning, first: index, last: index, gap: null });
    });
    for (let gap = 0; count && gap <= count; gap++) {
      const id = this.pair(gap ? words[gap - 1].id : EDGE, gap < count ? words[gap].id : EDGE);
      if (id) units.push({ id, first: Math.max(gap - 1, 0), last: Math.min(gap, count - 1), gap });
    }
    return units.length ? units : unknown;
  }
}

function numbered(lines, first) {
  return new Map(lines === "" ? [] : lines.split("\n").map((form, index) => [form, first + index]));
}
