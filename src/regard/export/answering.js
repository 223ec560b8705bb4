// A text with its prediction and the weight and contribution of every word, in the form that the page draws.
const LEAST = 0.05, ABOUT_AS_MUCH = 0.9, LISTED = 8;
const MARKS = { word: "", beginning: "known by its beginning", unknown: "unknown", nothing: "only separates its neighbours" };

// `crossed` has the indices of words that are left out; `target` names a class, or is null for the predicted one.
export function answer(model, text, crossed = new Set(), target = null) {
  const began = performance.now();
  const { words, unread } = model.tokenizer.read(text);
  const indices = words.map((_, index) => index).filter((index) => !crossed.has(index));
  const attended = model.attend(indices.map((index) => words[index]));
  const row = predicted(model, attended.logits), number = targetOf(model, row, target);
  const value = model.explained(attended.logits, number), strong = model.task.kind === "regression" ? model.task.scale / 2 : 1;
  const effects = model.withoutEach(attended).map((logits) => value - model.explained(logits, number));
  const position = new Map(indices.map((index, kept) => [index, kept])); // among the words that are read
  const tokens = drawnTokens(model, text, words, position, attended, effects);
  const together = (group) => value - model.explained(model.withoutAll(attended, group.map((index) => position.get(index))), number);
  const repeated = repeats(words, indices).map((group) => ({ tokens: group, contribution: together(group) }));
  return {
    ...row,
    ...(crossed.size ? { before: predicted(model, model.attend(words).logits) } : {}),
    target: model.task.classes ? model.task.classes[number] : null,
    tokens, unread, strong, sentences: [], parts: [], facts: {},
    strongest: strongest(tokens, repeated, strong, model.functionWords),
    note: caution(tokens.filter((token) => token.score !== null)),
    cost: { forward: 1, backward: 0, seconds: (performance.now() - began) / 1000 },
  };
}

function predicted(model, logits) {
  const { classes } = model.task;
  if (!classes) return { prediction: model.number(logits) };
  const probabilities = model.probabilities(logits);
  const prediction = model.several ? classes.filter((_, index) => probabilities[index] >= model.task.thresholds[index]) : classes[model.chosen(probabilities)];
  return { prediction, probabilities: Object.fromEntries(classes.map((name, index) => [name, probabilities[index]])) };
}

const largest = (values) => values.indexOf(Math.max(...values));

// Without a target the predicted class, or the most probable of several labels.
function targetOf(model, row, target) {
  if (!model.task.classes) return 0;
  const none = model.several ? model.task.classes[largest(Object.values(row.probabilities))] : row.prediction;
  return model.task.classes.indexOf(target ?? none);
}

// All words of the text; those left out have no score. Offsets count code points, as everywhere in regard.
function drawnTokens(model, text, words, position, attended, effects) {
  const allUnknown = attended.units.every(({ id }) => id === 1);
  let at = 0, points = 0;
  const codePoints = (offset) => {
    for (; at < offset; at++) if (!isSecondHalf(text, at)) points++;
    return points;
  };
  return words.map((word, index) => {
    const kept = position.get(index), start = codePoints(word.start), end = codePoints(word.end);
    const read_as = allUnknown ? "unknown" : word.id !== 1 ? "word" : word.beginning ? "beginning" : model.tokenizer.hasUnits ? "nothing" : "unknown";
    const scores = kept === undefined ? { score: null, weight: null, contribution: null } : { score: effects[kept], weight: attended.weights[kept], contribution: effects[kept] };
    return { text: word.text, start, end, known: word.id !== 1, read_as, ...scores };
  });
}

function isSecondHalf(text, at) {
  const code = text.charCodeAt(at), before = at ? text.charCodeAt(at - 1) : 0;
  return code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}

// Words that occur more than once, upper and lower case alike, as lists of their indices.
function repeats(words, indices) {
  const groups = new Map();
  for (const index of indices) {
    const form = words[index].text.toLowerCase();
    if (groups.has(form)) groups.get(form).push(index);
    else groups.set(form, [index]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

// The strongest words for and against the target, as report/text/strongest_words.py lists them.
function strongest(tokens, repeated, strong, functionWords) {
  const together = new Set(repeated.flatMap((group) => group.tokens));
  const alone = tokens.map((token, index) => ({ tokens: [index], contribution: token.contribution })).filter(({ tokens: [index], contribution }) => contribution !== null && !together.has(index));
  const entries = [...alone, ...repeated].sort((one, other) => one.tokens[0] - other.tokens[0]).map((entry) => {
    const first = tokens[entry.tokens[0]], hasMeaning = !isPunctuation(first.text) && !functionWords.has(first.text.toLowerCase());
    return { ...entry, text: first.text, mark: MARKS[first.read_as], hasMeaning, rank: Math.abs(entry.contribution) * (hasMeaning ? 1 : ABOUT_AS_MUCH) };
  });
  const floor = LEAST * entries.reduce((largest, { contribution }) => Math.max(largest, Math.abs(contribution)), strong);
  const listed = entries.filter(({ contribution }) => Math.abs(contribution) >= floor).sort((one, other) => other.rank - one.rank || other.hasMeaning - one.hasMeaning);
  const side = (sign) => listed.filter(({ contribution }) => contribution * sign > 0).slice(0, LISTED);
  return { for: side(1), against: side(-1) };
}

const isPunctuation = (text) => new Set(text).size === 1 && /^\p{P}/u.test(text);

// A caution if the model knows few words of the text, or none; as `Explanation.note`.
function caution(tokens) {
  const hasVector = (token) => token.known || token.read_as === "beginning";
  if (tokens.length && !tokens.some(hasVector)) return "no word of this text is known to the model; this is its default answer";
  const words = tokens.filter((token) => !isPunctuation(token.text)), known = words.filter(hasVector).length;
  if (words.length && !known) return "no word of this text is known to the model, only its punctuation";
  return 2 * known < words.length ? `only ${known} of ${words.length} words are known to the model` : "";
}
