// Requests to the server. `Latest` drops an earlier request when a new one is sent.
import { currentToken, otherToken } from "./token.js";

const POLL = 250; // milliseconds between checks whether the models are loaded

export class RequestFailed extends Error {
  constructor(sentence, retryAfter = 0) {
    super(sentence);
    this.retryAfter = retryAfter; // seconds after which another try may succeed
  }
}

export async function request(path, body, signal) {
  const options = body === undefined ? { headers: {} } : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const token = currentToken();
  if (token !== null) options.headers.Authorization = `Bearer ${token}`;
  let response, result;
  try {
    response = await fetch(path, { ...options, signal });
    result = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestFailed("The server does not answer; is `regard serve` still running?");
  }
  if (response.status === 401) {
    await otherToken(token);
    return request(path, body, signal);
  }
  if (!response.ok) throw new RequestFailed(result.error, Number(response.headers.get("Retry-After")));
  return result;
}

// Repeats the request until the models are loaded; calls `onWait` while they are not.
export async function requestWhenReady(path, onWait) {
  for (;;) {
    try {
      return await request(path);
    } catch (error) {
      if (!error.retryAfter) throw error;
      onWait();
      await new Promise((done) => setTimeout(done, POLL));
    }
  }
}

export class Latest {
  #abort = null;
  // null if a later request was sent meanwhile
  async request(path, body) {
    this.drop();
    const abort = (this.#abort = new AbortController());
    try {
      const result = await request(path, body, abort.signal);
      return abort === this.#abort ? result : null;
    } catch (error) {
      if (abort !== this.#abort || error.name === "AbortError") return null;
      throw error;
    }
  }
  drop() {
    if (this.#abort !== null) this.#abort.abort();
    this.#abort = null;
  }
}
