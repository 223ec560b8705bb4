// Questions to the server: one at a time of a kind, and the latest answer wins.
const LOOK = 250; // milliseconds between two looks whether the models are loaded

export class Failed extends Error {
  constructor(sentence, again = 0) {
    super(sentence);
    this.again = again; // seconds after which asking again may help
  }
}

export async function ask(path, body, signal) {
  const how = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let reply, found;
  try {
    reply = await fetch(path, { ...how, signal });
    found = await reply.json();
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Failed("The server does not answer; is `regard serve` still running?");
  }
  if (!reply.ok) throw new Failed(found.error, Number(reply.headers.get("Retry-After")));
  return found;
}

// What is there once the models are loaded; `wait` is told that they are not yet.
export async function askReady(path, wait) {
  for (;;) {
    try {
      return await ask(path);
    } catch (problem) {
      if (!problem.again) throw problem;
      wait();
      await new Promise((done) => setTimeout(done, LOOK));
    }
  }
}

export class Latest {
  #abort = null;
  // null where a later question came in between
  async ask(path, body) {
    this.drop();
    const own = (this.#abort = new AbortController());
    try {
      const found = await ask(path, body, own.signal);
      return own === this.#abort ? found : null;
    } catch (problem) {
      if (own !== this.#abort || problem.name === "AbortError") return null;
      throw problem;
    }
  }
  drop() {
    if (this.#abort !== null) this.#abort.abort();
    this.#abort = null;
  }
}
