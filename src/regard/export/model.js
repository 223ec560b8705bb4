// A flat attention model: for each unit and member one score, and one polarity per output. The arithmetic is that of
// regard/runtime/flat_model.py and leaving_out.py.
import { Tokenizer } from "./tokenizer.js";

const UNKNOWN = 1, EDGE = 0;

export class Model {
  constructor(data) {
    const { tables } = data;
    this.task = data.task;
    this.several = data.task.kind === "multilabel"; // labels per text
    this.outputs = tables.bias.length;
    this.bias = tables.bias;
    this.members = tables.scores.low.length; // of a committee; their scores and polarities stand side by side
    this.rowSize = this.members * (this.outputs + 1) + 1;
    this.scores = numbers(tables.scores);
    this.polarity = numbers(tables.polarity);
    const ids = (text) => (data.tokenizer.wide ? new Uint32Array(bytes(text)) : new Uint16Array(bytes(text)));
    this.tokenizer = new Tokenizer({ ...data.tokenizer, left: ids(data.tokenizer.left), right: ids(data.tokenizer.right) });
  }

  // Logits and weights, and the sums that leaving words out needs. A row of sums has, for each member, Σ e^a s for each output
  // and Σ e^a; at the end the number of units. Rows are stored one after another.
  attend(words) {
    const units = this.tokenizer.units(words), { rowSize, members } = this, count = words.length;
    const highest = new Float64Array(members).fill(-Infinity);
    for (const { id } of units) for (let m = 0; m < members; m++) highest[m] = Math.max(highest[m], this.scores[id * members + m]);
    const whole = new Float64Array(rowSize), single = new Float64Array(count * rowSize), double = new Float64Array((count + 1) * rowSize);
    for (const { id, first, gap } of units) {
      this.add(whole, 0, id, highest);
      if (gap === null) this.add(single, first, id, highest);
      else this.add(double, gap, id, highest);
    }
    const weights = new Float64Array(count);
    for (const { id, first, last } of units) {
      let share = 0; // the mean over the members
      for (let m = 0; m < members; m++) share += this.power(id, m, highest) / this.total(whole, m) / members;
      weights[first] += share / (last - first + 1);
      if (last > first) weights[last] += share / 2;
    }
    return { words, units, highest, single, double, weights, logits: this.logits(whole) };
  }

  power(id, member, highest) {
    return Math.exp(this.scores[id * this.members + member] - highest[member]);
  }

  // Σ e^a of a member.
  total(sums, member) {
    return sums[member * (this.outputs + 1) + this.outputs];
  }

  // Adds a unit to a row of sums.
  add(sums, row, id, highest) {
    const { outputs, members } = this;
    let at = row * this.rowSize;
    for (let m = 0; m < members; m++, at += outputs + 1) {
      const power = this.power(id, m, highest);
      for (let c = 0; c < outputs; c++) sums[at + c] += power * this.polarity[(id * members + m) * outputs + c];
      sums[at + outputs] += power;
    }
    sums[at] += 1;
  }

  logits(sums) {
    const logits = [...this.bias];
    for (let m = 0; m < this.members; m++) {
      const total = this.total(sums, m);
      if (total > 0) for (let c = 0; c < this.outputs; c++) logits[c] += sums[m * (this.outputs + 1) + c] / total;
    }
    return logits;
  }

  // The logits without each word. Sums before and after a word instead of differences, which would lose digits.
  withoutEach({ words, single, double, highest }) {
    const { rowSize } = this, count = words.length, results = [];
    const before = running(single, count, rowSize, 1), after = running(single, count, rowSize, -1);
    const gapsBefore = running(double, count + 1, rowSize, 1), gapsAfter = running(double, count + 1, rowSize, -1);
    for (let index = 0; index < count; index++) {
      const rest = new Float64Array(rowSize), at = index * rowSize;
      for (let c = 0; c < rowSize; c++) rest[c] = before[at + c] + after[at + c] + gapsBefore[at + c] + gapsAfter[at + rowSize + c];
      const left = index ? words[index - 1].id : EDGE, right = index + 1 < count ? words[index + 1].id : EDGE;
      results.push(this.rest(rest, [this.tokenizer.pair(left, right)], highest, count - 1));
    }
    return results;
  }

  // The logits without all words of a group of indices.
  withoutAll({ words, single, double, highest }, group) {
    const { rowSize } = this, count = words.length, rest = new Float64Array(rowSize), pairs = [];
    const out = new Uint8Array(count + 1);
    for (const index of group) out[index] = 1;
    let before = -1; // the last word that is kept
    for (let index = 0; index <= count; index++) {
      if (out[index]) continue;
      if (index < count) for (let c = 0; c < rowSize; c++) rest[c] += single[index * rowSize + c];
      if (index - before === 1) for (let c = 0; c < rowSize; c++) rest[c] += double[index * rowSize + c];
      else pairs.push(this.tokenizer.pair(before < 0 ? EDGE : words[before].id, index < count ? words[index].id : EDGE));
      before = index;
    }
    return this.rest(rest, pairs, highest, count - group.length);
  }

  // With the pairs of words that become neighbours; words without any unit are read as unknown ones.
  rest(sums, pairs, highest, words) {
    if (!words) return [...this.bias];
    for (const pair of pairs) if (pair) this.add(sums, 0, pair, highest);
    if (sums[this.rowSize - 1] < 0.5) {
      sums.fill(0);
      this.add(sums, 0, UNKNOWN, Float64Array.from({ length: this.members }, (_, m) => this.scores[UNKNOWN * this.members + m]));
    }
    return this.logits(sums);
  }

  probabilities(logits) {
    if (this.several) return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
    const values = this.task.kind === "binary" ? [0, logits[0]] : logits;
    const highest = Math.max(...values), powers = values.map((value) => Math.exp(value - highest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }

  // The number of the predicted class: the most probable one, unless the second of two has a threshold.
  chosen(probabilities) {
    const { kind, thresholds } = this.task;
    if (kind === "binary" && thresholds) return probabilities[1] >= thresholds[0] ? 1 : 0;
    return probabilities.indexOf(Math.max(...probabilities));
  }

  // The prediction of a regression, within the range of the training labels if the task has one.
  number(logits) {
    const { low = -Infinity, high = Infinity } = this.task;
    return Math.min(Math.max(this.unlimited(logits), low), high);
  }

  unlimited(logits) {
    return logits[0] * this.task.scale + this.task.mean;
  }

  // What contributions are about: the log-odds of a class or label, or the number of a regression.
  explained(logits, target) {
    if (this.task.kind === "regression") return this.unlimited(logits);
    if (this.several) return logits[target];
    if (this.task.kind === "binary") return target === 1 ? logits[0] : -logits[0];
    const others = logits.filter((_, c) => c !== target), highest = Math.max(...others);
    return logits[target] - highest - Math.log(others.reduce((sum, value) => sum + Math.exp(value - highest), 0));
  }
}

// The sum of all rows before each row, or, in direction −1, of all rows after it.
function running(rows, count, rowSize, direction) {
  const sums = new Float64Array(rows.length);
  const first = direction > 0 ? 0 : count - 1;
  for (let step = 1; step < count; step++) {
    const at = (first + direction * step) * rowSize, previous = at - direction * rowSize;
    for (let c = 0; c < rowSize; c++) sums[at + c] = sums[previous + c] + rows[previous + c];
  }
  return sums;
}

const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;

// A table: whole numbers of 16 bits, each column with its lowest value and its step; or float32, if that is too coarse.
function numbers({ low, step, values }) {
  if (step === null) return new Float32Array(bytes(values));
  const codes = new Uint16Array(bytes(values)), columns = low.length, decoded = new Float64Array(codes.length);
  for (let index = 0; index < codes.length; index++) decoded[index] = low[index % columns] + step[index % columns] * codes[index];
  return decoded;
}
